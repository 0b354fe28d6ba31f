import PageStore
import Predicates

/// Every record of an entity, in order of number or the other way round. A row's record stays until the next row.
struct RecordScan: ~Copyable {
  // Not optional: a cursor in an optional is moved for each access, and it is large.
  private var cursor: TreeCursor
  private let reader: RecordReader
  /// True if all records have the newest layout. Then none is translated.
  private let hasOneLayout: Bool
  /// The stored bytes of the last row; nil if no record is translated.
  private var stored: UnsafeRawBufferPointer?
  private let entity: StoredEntity
  private let isReversed: Bool
  /// True if the cursor is at the next row already.
  private var isAtNext: Bool

  /// The number of rows by which a record is prefetched: about the latency of memory.
  private static let lookahead = 4

  private init(
    _ entity: StoredEntity,
    _ cursor: consuming TreeCursor,
    isReversed: Bool,
    isAtNext: Bool,
    reading slots: SlotSet
  ) {
    self.entity = entity
    self.cursor = cursor
    self.isReversed = isReversed
    self.isAtNext = isAtNext
    reader = RecordReader(entity, slots)
    hasOneLayout = !entity.hasEarlierLayouts
  }

  /// Returns a scan of records; nil if there are none.
  ///
  /// - Parameters:
  ///   - range: the numbers of the records; nil for all.
  ///   - skipped: the number of records to leave out at the start; O(log n).
  ///   - slots: the slots that the rows' records must have; see ``complete(_:)``.
  static func records(
    of entity: StoredEntity,
    in view: StoreView,
    within range: ClosedRange<ObjectNumber>?,
    isReversed: Bool,
    skipping skipped: Int,
    reading slots: SlotSet
  ) throws -> RecordScan? {
    guard let tree = try view.records(of: entity) else { return nil }
    let keys = range.map(KeyRange.init) ?? .all
    let count = try range == nil ? tree.count : tree.count(in: keys)
    if skipped >= count { return nil }
    var cursor = tree.cursor(in: keys)
    var isAtNext = false
    if skipped > 0 {
      let first = try range.map { try tree.rank(of: KeyCoder.key(of: $0.lowerBound)) } ?? 0
      isAtNext = try cursor.seek(toPosition: first + (isReversed ? count - 1 - skipped : skipped))
    }
    return RecordScan(entity, cursor, isReversed: isReversed, isAtNext: isAtNext, reading: slots)
  }

  @inline(__always)
  mutating func next() throws -> QueryRow? {
    if isAtNext {
      isAtNext = false
    } else {
      let found = try isReversed ? cursor.previous() : cursor.next()
      guard found else { return nil }
    }
    cursor.prefetch(ahead: isReversed ? -Self.lookahead : Self.lookahead)
    let (number, bytes) = (try cursor.number(), try cursor.value())
    if hasOneLayout { return QueryRow(number: number, record: bytes) }
    stored = bytes
    guard let record = reader.newest(bytes) else { throw ContextError.damagedRecord(number, of: entity.name) }
    return QueryRow(number: number, record: record)
  }

  /// Replaces the record of the last row by one with all slots. The record is valid until the next call or row.
  func complete(_ row: inout QueryRow) throws {
    guard let stored else { return }
    row.record = reader.whole(stored)
    if row.record == nil { throw ContextError.damagedRecord(row.number, of: entity.name) }
  }
}

/// The fidelity of the values from a covering index.
enum Covering {
  /// The values as they were saved, including the sign of a zero and the bits of a NaN.
  case bits
  /// Values that compare equal to the saved values.
  case values
}

/// The rows of an access path, each with its record, in order of access. A record stays until the next row.
struct RowStream: ~Copyable {
  private let entity: StoredEntity
  private let view: StoreView
  private var scan: RecordScan?
  private var coveringScan: CoveringScan?
  private var walker: IndexWalker?
  /// The rows that are left if there is no walker, the next one last.
  private var numbers: [ObjectNumber] = []
  private var mayBeMissing = false
  /// The rows of the batch, and the number of them that were handed out.
  private var rows: [QueryRow] = []
  private var position = 0
  /// The number of rows of the next batch.
  private var batchCount: Int
  /// The records of the batch.
  private var records = RecordArena()

  static let firstBatchCount = 32
  private static let largestBatchCount = 16_384
  /// Large records come in smaller batches.
  private static let batchByteLimit = 16 << 20

  /// Bytes of records that the stream holds.
  var heldByteCount: Int { records.byteCount }

  /// - Parameters:
  ///   - skipped: the number of rows of a full scan or an index scan to leave out at the start; O(log n).
  ///   - slots: the slots that the rows' records must have; see ``complete(_:)``.
  ///   - covering: the values that are read from an index's entries in place of records; nil for none.
  ///   - firstBatchCount: the number of records in the first batch, if records are read in batches.
  init(
    _ access: AccessPath,
    of entity: StoredEntity,
    in view: StoreView,
    isReversed: Bool,
    skipping skipped: Int = 0,
    reading slots: SlotSet = .all,
    covering: Covering? = nil,
    firstBatchCount: Int = firstBatchCount
  ) throws {
    batchCount = firstBatchCount
    self.entity = entity
    self.view = view
    switch access {
    case .nothing: break
    case .fullScan(_, let range):
      scan = try RecordScan.records(
        of: entity,
        in: view,
        within: range,
        isReversed: isReversed,
        skipping: skipped,
        reading: slots
      )
    case .index(let index):
      if let covering {
        coveringScan = try CoveringScan(
          index,
          of: entity,
          in: view,
          isReversed: isReversed,
          skipping: skipped,
          keepsBits: covering == .bits
        )
      } else {
        walker = try IndexWalker(index, in: view, isReversed: isReversed, skipping: skipped)
      }
    case .objects(let numbers):
      self.numbers = isReversed ? numbers : numbers.reversed()
      mayBeMissing = true
    case .union, .intersection:
      let merged = try MergedRanges.numbers(access, in: view)
      numbers = isReversed ? merged : merged.reversed()
    }
  }

  mutating func next() throws -> QueryRow? {
    if scan != nil { return try scan?.next() }
    if coveringScan != nil { return try coveringScan?.next() }
    if position == rows.count {
      rows = try batch()
      position = 0
      if rows.isEmpty { return nil }
    }
    position += 1
    return rows[position - 1]
  }

  /// Replaces the record of the last row by one with all slots. The record is valid until the next row.
  func complete(_ row: inout QueryRow) throws { try scan?.complete(&row) }

  /// Returns the number of rows to read after these. It grows with each batch, because it gets less likely that few
  /// rows are enough; but not if the rows are large.
  private func batchCount(after found: [QueryRow]) -> Int {
    let grown = min(Self.largestBatchCount, batchCount * 4)
    if found.isEmpty { return grown }
    return max(1, min(grown, Self.batchByteLimit / max(1, records.byteCount / found.count)))
  }

  /// Returns the next rows.
  private mutating func batch() throws -> [QueryRow] {
    var found: [QueryRow] = []
    while found.isEmpty {
      let numbers = try nextNumbers()
      if numbers.isEmpty { return [] }
      records.removeAll()
      found = try RecordWalker.rows(numbers, of: entity, in: view, mayBeMissing: mayBeMissing) {
        records.copy($0)
      }
      batchCount = batchCount(after: found)
    }
    return found
  }

  private mutating func nextNumbers() throws -> [ObjectNumber] {
    var next: [ObjectNumber] = []
    if walker != nil {
      try walker?.next(batchCount, into: &next)
    } else {
      next = numbers.suffix(batchCount).reversed()
      numbers.removeLast(next.count)
    }
    return next
  }
}
