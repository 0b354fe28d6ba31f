import Predicates

/// What a context has changed and not saved, as records: queries see these in place of the stored ones.
final class PendingRecords {
  /// One entity's.
  final class Changes {
    /// The records of new and changed objects, by number, ascending.
    fileprivate(set) var records: [(number: UInt64, bytes: UnsafeRawBufferPointer)] = []
    /// Objects whose stored record doesn't count: changed or deleted.
    fileprivate(set) var hidden: Set<UInt64> = []
    fileprivate var places: [UInt64: Int] = [:]
    /// Owns the records' bytes.
    private var encoder: RecordEncoder

    fileprivate init(_ entity: StoredEntity) {
      encoder = RecordEncoder(layout: entity.layout)
    }

    /// The record of a new or changed object.
    func record(_ number: UInt64) -> UnsafeRawBufferPointer? { places[number].map { records[$0].bytes } }

    fileprivate func append(_ object: any ManagedObject) {
      encoder.begin()
      // A value that doesn't fit its kind is left nil here; the save will refuse it.
      for slot in encoder.layout.slotsByPlace { _ = encoder.set(object.attributeValue(at: slot), at: slot) }
      let number = object._$state.number
      places[number] = records.count
      records.append((number, UnsafeRawBufferPointer(encoder.finish())))
    }
  }

  /// By the entity's ordinal; nil where nothing is pending.
  private let changes: [Changes?]
  /// The names of the entities that have changes.
  let hiddenEntities: Set<String>

  /// The unsaved changes of the given entities.
  init(of entities: some Sequence<StoredEntity>, in context: ManagedObjectContext) {
    var hiddenEntities: Set<String> = []
    var changes: [Changes?] = Array(repeating: nil, count: context.coordinator.schema.entities.count)
    for entity in entities where changes[entity.ordinal] == nil {
      let pending = context.pendingChanges(of: entity)
      if pending.isEmpty { continue }
      let encoded = Changes(entity)
      let updated = pending.updated
      for object in (pending.inserted + updated).sorted(by: { $0._$state.number < $1._$state.number }) {
        encoded.append(object)
      }
      for object in updated + pending.deleted { encoded.hidden.insert(object._$state.number) }
      changes[entity.ordinal] = encoded
      hiddenEntities.insert(entity.name)
    }
    self.changes = changes
    self.hiddenEntities = hiddenEntities
  }

  /// What of a context's unsaved changes matters to a query; nil for nothing.
  convenience init?(for query: ResolvedQuery, of entity: StoredEntity, in context: ManagedObjectContext) {
    if context.changes.allSatisfy(\.isEmpty) { return nil }
    var names: Set<String> = []
    func note(_ path: ResolvedPath) { names.formUnion(path.hops.map(\.destination)) }
    query.predicate.forEachPath(note)
    for key in query.sort { note(key.path) }
    let schema = context.coordinator.schema
    self.init(of: [entity] + names.compactMap { schema.entity(named: $0) }, in: context)
    if hiddenEntities.isEmpty { return nil }
  }

  func changes(of entity: StoredEntity) -> Changes? { changes[entity.ordinal] }
}

/// Follows relationships in a snapshot, as the context that has unsaved changes sees it.
final class ViewRecordSource: RecordSource {
  private let view: StoreView
  private let pending: PendingRecords?
  /// The entity of each place.
  private let entities: [StoredEntity?]
  /// Records found before, by place and the low bits of the number: rows often lead to the same few objects.
  private var known: [(number: UInt64, bytes: UnsafeRawBufferPointer?)?]
  private static let knownCount = 512

  init(_ paths: RowPaths, in view: StoreView, pending: PendingRecords?) {
    self.view = view
    self.pending = pending
    entities = paths.places.map { view.schema.entity(named: $0.entity) }
    known = Array(repeating: nil, count: paths.followsRelationships ? entities.count * Self.knownCount : 0)
  }

  func record(_ number: UInt64, at place: Int) throws -> UnsafeRawBufferPointer? {
    let home = place * Self.knownCount + Int(truncatingIfNeeded: number) & (Self.knownCount - 1)
    if let found = known[home], found.number == number { return found.bytes }
    let bytes = try find(number, entities[place])
    known[home] = (number, bytes)
    return bytes
  }

  private func find(_ number: UInt64, _ entity: StoredEntity?) throws -> UnsafeRawBufferPointer? {
    guard let entity else { return nil }
    if let changes = pending?.changes(of: entity) {
      if let record = changes.record(number) { return record }
      if changes.hidden.contains(number) { return nil }
    }
    return try view.record(number, of: entity)
  }

  // Records in the snapshot, and pending ones, stay as long as the query runs.
  func releaseRecords() {}
}
