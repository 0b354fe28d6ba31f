import PageStore
import Predicates

/// Reads the records of objects, by short steps in the tree if their numbers ascend.
struct RecordWalker: ~Copyable {
  private var cursor: TreeCursor?
  private let reader: RecordReader
  private let entity: StoredEntity

  init(_ entity: StoredEntity, in view: StoreView) throws(StoreError) {
    self.entity = entity
    reader = RecordReader(entity)
    cursor = try view.records(of: entity)?.cursor()
  }

  /// Returns the record of an object; nil when there is none. The bytes stay until the next call. A record whose
  /// number is a little greater than the previous one costs a step, any other record a descent.
  mutating func record(_ number: ObjectNumber) throws -> UnsafeRawBufferPointer? {
    let found = try withKey(number) { key throws(StoreError) in try cursor?.find(near: key) }
    guard let found else { return nil }
    guard let record = reader.newest(found) else { throw ContextError.damagedRecord(number, of: entity.name) }
    return record
  }

  /// Makes bytes that are valid for one step into bytes that are valid as long as the result.
  typealias Keep = (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer

  /// The number of objects below which they are looked up one by one.
  private static let fewest = 4

  /// Returns the objects' records, in the given order, as `keep` returns them. Objects that don't exist are left
  /// out if that is allowed, as for IDs that a program has kept. An index entry whose object doesn't exist is
  /// damage.
  static func rows(
    _ numbers: [ObjectNumber],
    of entity: StoredEntity,
    in view: StoreView,
    mayBeMissing: Bool = false,
    _ keep: Keep
  ) throws -> [QueryRow] {
    var rows = numbers.map { QueryRow(number: $0, record: nil) }
    view.counters.recordsLookedUp += numbers.count
    if numbers.count < fewest {
      for place in rows.indices {
        rows[place].record = try view.withRecord(numbers[place], of: entity) { keep($0.bytes) }
      }
    } else {
      try walk(&rows, of: entity, in: view, keep)
    }
    guard let missing = rows.first(where: { $0.record == nil }) else { return rows }
    guard mayBeMissing else { throw missingRecord(missing.number, of: entity) }
    rows.removeAll { $0.record == nil }
    return rows
  }

  /// Returns the row of an object from an index entry, with the object's record, which the view keeps.
  static func row(
    _ number: ObjectNumber,
    of entity: StoredEntity,
    in view: StoreView
  ) throws(ContextError) -> QueryRow {
    view.counters.recordsLookedUp += 1
    guard let record = try view.record(number, of: entity) else { throw missingRecord(number, of: entity) }
    return QueryRow(number: number, record: record)
  }

  private static func missingRecord(_ number: ObjectNumber, of entity: StoredEntity) -> ContextError {
    ContextError(
      .corrupt,
      "an index of \(entity.name) leads to object \(number), which has no record",
      context: .init(entity: entity.name)
    )
  }

  private static func walk(
    _ rows: inout [QueryRow],
    of entity: StoredEntity,
    in view: StoreView,
    _ keep: Keep
  ) throws {
    if zip(rows, rows.dropFirst()).allSatisfy({ $0.number < $1.number }) {
      try lookUp(rows.map { $0.number }, of: entity, in: view) { rows[$0].record = keep($1) }
    } else {
      // The places in order of the numbers: the walk goes through the tree once.
      let places = rows.indices.sorted { rows[$0].number < rows[$1].number }
      try lookUp(places.map { rows[$0].number }, of: entity, in: view) { rows[places[$0]].record = keep($1) }
    }
  }

  /// Calls `body` for each object that exists, with its place among the numbers and its record. The bytes are valid
  /// during the call.
  private static func lookUp(
    _ numbers: [ObjectNumber],
    of entity: StoredEntity,
    in view: StoreView,
    _ body: (Int, UnsafeRawBufferPointer) -> Void
  ) throws {
    let reader = view.reader(of: entity)
    var damaged: ObjectNumber?
    try view.records(of: entity)?.forEachValue(ofKeys: recordKeys(numbers)) { place, bytes in
      guard let bytes else { return true }
      if let record = reader.newest(bytes) { body(place, record) } else { damaged = numbers[place] }
      return damaged == nil
    }
    if let damaged { throw ContextError.damagedRecord(damaged, of: entity.name) }
  }
}
