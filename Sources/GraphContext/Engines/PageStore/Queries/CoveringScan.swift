import Foundation
import PageStore
import Predicates

/// The rows of an index scan without their records: each row comes with a record that is made from its entry's key.
/// In this record the index's columns have their values, and all other slots are nil. So filters, sorts and values
/// read it like any other record.
struct CoveringScan: ~Copyable {
  private let view: StoreView
  private let entity: StoredEntity
  private let keepsBits: Bool
  private var walker: IndexWalker
  private var encoder: RecordEncoder
  /// The index's columns in the order of their keys, and the position of each in the order in which a record is
  /// written.
  private let columns: [(slot: Int, kind: AttributeKind)]
  private let written: [Int]
  private let isRelationship: Bool
  private var values: [AttributeValue]
  /// Real records, of which one is needed at a time.
  private var records = RecordArena()
  private var madeCount = 0

  /// Records made before their memory is used again.
  private static let batchCount = 1_024

  /// - Parameter keepsBits: whether zeros and NaNs must have the bits that were saved. Keys don't distinguish them,
  ///   so the records of such rows are read.
  init(
    _ scan: IndexScan,
    of entity: StoredEntity,
    in view: StoreView,
    isReversed: Bool,
    skipping skipped: Int,
    keepsBits: Bool
  ) throws {
    self.view = view
    self.entity = entity
    self.keepsBits = keepsBits
    walker = try IndexWalker(scan, in: view, isReversed: isReversed, skipping: skipped)
    encoder = RecordEncoder(layout: entity.layout, blockByteCount: 1 << 16)
    columns = scan.index.columns.map { ($0.slot, entity.layout.fields[$0.slot].kind) }
    let places = scan.index.columns.map { entity.layout.fields[$0.slot].place }
    written = places.indices.sorted { places[$0] < places[$1] }
    isRelationship = scan.index.origin == .relationship
    values = scan.index.columns.map { _ in .null }
  }

  /// Returns the next row. Its record stays until the row after it is read.
  mutating func next() throws -> QueryRow? {
    guard try walker.next() else { return nil }
    let number = try walker.number()
    guard try readKey() else { throw damage(number) }
    if keepsBits, values.contains(where: \.hasSeveralSpellings) { return try storedRow(number) }
    madeCount += 1
    if madeCount % Self.batchCount == 0 { encoder.removeAll() }
    encoder.begin()
    for column in written {
      guard encoder.set(values[column], at: columns[column].slot) else { throw damage(number) }
    }
    return QueryRow(number: number, record: UnsafeRawBufferPointer(encoder.finish()))
  }

  /// Decodes the entry's key. Returns false if it isn't a key of this index.
  private mutating func readKey() throws -> Bool {
    let key = try walker.key()
    if isRelationship {
      guard key.count == 2 * KeyCoder.numberByteCount else { return false }
      values[0] = .reference(KeyCoder.number(beginning: key))
      return true
    }
    var reader = KeyReader(key)
    for column in columns.indices {
      guard let value = reader.next(columns[column].kind) else { return false }
      values[column] = value
    }
    return reader.remaining == KeyCoder.numberByteCount
  }

  private mutating func storedRow(_ number: ObjectNumber) throws -> QueryRow {
    records.removeAll()
    view.counters.recordsLookedUp += 1
    var record: UnsafeRawBufferPointer?
    try view.withRecord(number, of: entity) { record = records.copy($0.bytes) }
    guard let record else { throw damage(number) }
    return QueryRow(number: number, record: record)
  }

  private func damage(_ number: ObjectNumber) -> ContextError {
    ContextError(
      .corrupt,
      "an index of \(entity.name) has a wrong entry for object \(number)",
      context: .init(entity: entity.name)
    )
  }
}

extension AttributeValue {
  /// True if values with other bits have the same key as this value.
  fileprivate var hasSeveralSpellings: Bool {
    switch self {
    case .double(let value): value == 0 || value.isNaN
    case .decimal: true
    case .date(let value):
      value.timeIntervalSinceReferenceDate == 0 || value.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }
}
