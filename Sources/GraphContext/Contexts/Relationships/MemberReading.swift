import Predicates

/// The records of the members of the to-many relationship that a program listed last, read some at a time.
///
/// Otherwise a program that reads one member after the other would have each record looked up by itself, and each
/// lookup waits for memory. So once two members have been read in the order of the list, the records of the next few
/// are read together, and more of them each time.
struct MemberReading {
  /// The ordinal of the members' entity; nil where no relationship is followed.
  private var entity: Int?
  private var members: [ObjectNumber] = []
  /// The position in `members` of the first record that has been read.
  private var start = 0
  private var records: [UnsafeRawBufferPointer?] = []
  /// The position in `members` that the program probably reads next.
  private var expected = 0
  /// The number of records to read next.
  private var batchCount = Self.firstBatchCount

  private static let firstBatchCount = 4
  private static let largestBatchCount = 256
  /// The greatest number of bytes in a batch: large records come in smaller batches.
  static let batchByteLimit = 256 << 10

  /// The position in `members` after the last record that has been read.
  private var end: Int { start + records.count }

  /// Begins to follow a relationship.
  ///
  /// - Parameter members: their numbers, ascending.
  mutating func follow(_ members: [ObjectNumber], of entity: Int) {
    self = MemberReading()
    guard members.count > Self.firstBatchCount else { return }
    self.entity = entity
    self.members = members
  }

  /// Forgets the records that were read: their bytes are no longer valid.
  mutating func forgetRecords() {
    start = end
    records = []
  }

  /// Returns the record of an object, if it has been read.
  mutating func record(_ number: ObjectNumber, of entity: Int) -> UnsafeRawBufferPointer? {
    guard !records.isEmpty, let place = place(of: number, of: entity), start..<end ~= place else {
      return nil
    }
    expected = place + 1
    return records[place - start]
  }

  /// Returns the members whose records are to be read together with that of an object; nil if it is read by itself.
  mutating func batch(from number: ObjectNumber, of entity: Int) -> ArraySlice<ObjectNumber>? {
    guard let place = place(of: number, of: entity) else { return nil }
    // Members that the context has in memory are passed over.
    let isNext = end > 0 && end..<end + batchCount ~= place
    records = []
    expected = place + 1
    guard isNext else {
      start = place + 1
      batchCount = Self.firstBatchCount
      return nil
    }
    start = place
    return members[place...].prefix(batchCount)
  }

  /// Keeps the records of a batch, from its first member on.
  mutating func keep(_ records: [UnsafeRawBufferPointer?]) {
    self.records = records
    batchCount = min(Self.largestBatchCount, batchCount * 4)
  }

  private func place(of number: ObjectNumber, of entity: Int) -> Int? {
    guard entity == self.entity else { return nil }
    if expected < members.count, members[expected] == number { return expected }
    return members.firstIndex(sorted: number) { $0 }
  }
}

extension ManagedObjectContext {
  /// Returns the record of an object from ``MemberReading``, which first reads the next records if they are due; nil if
  /// the record is to be read by itself.
  func recordOfMember(_ number: ObjectNumber, _ entity: StoredEntity) -> UnsafeRawBufferPointer? {
    if let record = memberReading.record(number, of: entity.ordinal) { return record }
    guard let batch = memberReading.batch(from: number, of: entity.ordinal) else { return nil }
    // Errors are dropped here: the lookup of the damaged object itself reports them.
    let records = try? source.records(batch, of: entity, byteLimit: MemberReading.batchByteLimit)
    memberReading.keep(records ?? [])
    return memberReading.record(number, of: entity.ordinal)
  }
}
