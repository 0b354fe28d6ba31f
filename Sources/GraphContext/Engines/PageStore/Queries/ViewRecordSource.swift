import Foundation
import Predicates

/// Follows relationships in a snapshot that is merged with unsaved changes.
final class ViewRecordSource: RecordSource {
  private let view: StoreView
  private let pending: PendingRecords?
  /// The entity of each place; nil for elements of lists, which have no records.
  private let entities: [StoredEntity?]
  private let relationships: [StoredElements]
  /// The finder of the records of each place; nil before the first lookup.
  private var finders: [RecordFinder?]
  /// Records found before, by place and the low bits of the number: rows often lead to the same few objects. A row
  /// leads to one object for each place, so the next record in the same home belongs to another row.
  private var known: [KnownRecord?]
  private static let knownCount = 512
  /// The memory of the known records, in bytes.
  private(set) var knownByteCount = 0
  /// The memory from which on the known records are forgotten at the next row.
  private static let knownByteLimit = 16 << 20
  /// The number of elements since the last check for cancellation.
  private var uncheckedCount = 0

  init(_ paths: RowPaths, in view: StoreView, pending: PendingRecords?) {
    self.view = view
    self.pending = pending
    entities = paths.places.map { $0.isValue ? nil : view.schema[$0.entity.id] }
    relationships = paths.relationships.map { relationship in
      StoredElements(view.schema[relationship].relationship.links, in: view, pending)
    }
    finders = Array(repeating: nil, count: entities.count)
    known = Array(repeating: nil, count: paths.followsRelationships ? entities.count * Self.knownCount : 0)
  }

  func externalValue(_ reference: ExternalReference, at slot: Int, of place: Int) throws -> Data {
    // Elements of lists are in the lists.
    guard let entity = entities[place] else { return Data() }
    return try view.externalData(reference, at: slot, of: entity)
  }

  func record(_ number: ObjectNumber, at place: Int) throws -> UnsafeRawBufferPointer? {
    guard let entity = entities[place] else { return nil }
    if let changes = pending?.changes(of: entity) {
      if let record = changes.record(number) { return record }
      if changes.hidden.contains(number) { return nil }
    }
    let home = place * Self.knownCount + Int(truncatingIfNeeded: number.rawValue) & (Self.knownCount - 1)
    let known = self.known[home] ?? KnownRecord()
    self.known[home] = known
    if known.number != number {
      view.counters.recordsLookedUp += 1
      known.number = .none
      knownByteCount -= known.capacity
      defer { knownByteCount += known.capacity }
      known.isThere = try finder(of: entity, at: place).find(number) { known.set($0) }
      known.number = number
    }
    return known.isThere ? known.bytes : nil
  }

  private func finder(of entity: StoredEntity, at place: Int) throws -> RecordFinder {
    if let finder = finders[place] { return finder }
    let finder = try RecordFinder(entity, in: view)
    finders[place] = finder
    return finder
  }

  /// - Throws: `cancelled` too: one row with collections in collections may lead to any number of elements.
  func elements(of owner: ObjectNumber, in relationship: Int) throws -> [ObjectNumber] {
    let elements = try relationships[relationship].numbers(of: owner)
    uncheckedCount += elements.count + 1
    if uncheckedCount >= StoreView.rowsBetweenChecks {
      uncheckedCount = 0
      try view.checkCancellation()
    }
    return elements
  }

  func elementCount(of owner: ObjectNumber, in relationship: Int) throws -> Int {
    try relationships[relationship].count(of: owner)
  }

  // Each stays until another takes its home, unless they are large.
  func releaseRecords() {
    guard knownByteCount > Self.knownByteLimit else { return }
    for home in known.indices { known[home] = nil }
    knownByteCount = 0
  }
}

/// Finds the records of one entity, by short steps in the tree if their numbers ascend.
private final class RecordFinder {
  private let entity: StoredEntity
  private var walker: RecordWalker

  init(_ entity: StoredEntity, in view: StoreView) throws {
    self.entity = entity
    walker = try RecordWalker(entity, in: view)
  }

  /// Calls `body` with the record, checked; false if there is none. The bytes are valid until `body` returns.
  func find(_ number: ObjectNumber, _ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    guard let bytes = try walker.record(number) else { return false }
    guard RecordView(bytes, layout: entity.layout) != nil else {
      throw ContextError.damagedRecord(number, of: entity.name)
    }
    body(bytes)
    return true
  }
}

/// A copy of the record that was found last for a home.
private final class KnownRecord {
  /// The object's number; `none` before the first.
  var number = ObjectNumber.none
  var isThere = false
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var count = 0

  deinit { buffer.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

  /// Bytes of memory.
  var capacity: Int { buffer.count }

  func set(_ bytes: UnsafeRawBufferPointer) {
    if buffer.count < bytes.count {
      buffer.deallocate()
      buffer = .allocate(byteCount: 2 * bytes.count, alignment: 8)
    }
    buffer.copyMemory(from: bytes)
    count = bytes.count
  }
}

extension StoreView {
  func reader(of paths: RowPaths) -> RowReader { reader(of: paths, pending: nil) }

  /// - Parameter pending: unsaved changes that take part.
  func reader(of paths: RowPaths, pending: PendingRecords?) -> RowReader {
    RowReader(paths, source: ViewRecordSource(paths, in: self, pending: pending))
  }
}
