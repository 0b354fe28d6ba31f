import Predicates

/// What a context has changed and not saved, as records: queries see these in place of the stored ones.
final class PendingRecords {
  /// By the entity's ordinal; nil where nothing is pending.
  private let changes: [EncodedChanges?]
  /// The names of the entities that have changes.
  let hiddenEntities: Set<String>

  /// The unsaved changes of the given entities.
  init(of entities: some Sequence<StoredEntity>, in context: ManagedObjectContext) {
    var hiddenEntities: Set<String> = []
    var changes: [EncodedChanges?] = Array(repeating: nil, count: context.coordinator.schema.entities.count)
    for entity in entities where changes[entity.ordinal] == nil {
      guard let encoded = context.encodedChanges(of: entity) else { continue }
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

  func changes(of entity: StoredEntity) -> EncodedChanges? { changes[entity.ordinal] }
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
