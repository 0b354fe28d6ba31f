import Predicates

/// The unsaved records that take part in one query: the query sees these in place of the stored ones.
final class PendingRecords {
  /// The changes by the entity's ordinal; nil if nothing is pending.
  private let changes: [UnsavedRecords?]
  private let layers: UnsavedLayers
  /// The entities that have changes.
  let hiddenEntities: Set<EntityID>
  /// The relationships of the query that have unsaved links.
  let hiddenRelationships: Set<ToManyID>

  /// Makes the part of the unsaved changes that matters to a query, which also reads these paths; nil if no change
  /// matters.
  init?(
    for query: ResolvedQuery,
    reading paths: [ResolvedPath],
    of entity: StoredEntity,
    in layers: UnsavedLayers,
    _ schema: ResolvedSchema
  ) {
    var (read, relationships) = Self.collections(of: query)
    // Links between objects that are unchanged themselves may be unsaved too.
    if relationships.isEmpty, !layers.hasChangedObjects { return nil }
    func note(_ path: ResolvedPath) { read.formUnion(path.hops.map(\.destination)) }
    query.predicate.forEachPath(note)
    for key in query.sort { note(key.path) }
    for path in paths { note(path) }
    var (changes, hidden) = ([UnsavedRecords?](repeating: nil, count: schema.entities.count), Set<EntityID>())
    for entity in [entity] + read.map({ schema[$0] }) where changes[entity.ordinal] == nil {
      guard let records = layers.records(of: entity) else { continue }
      changes[entity.ordinal] = records
      hidden.insert(entity.id)
    }
    if hidden.isEmpty, relationships.isEmpty { return nil }
    self.changes = changes
    self.layers = layers
    hiddenEntities = hidden
    hiddenRelationships = relationships.filter { layers.links(in: schema[$0].relationship.links) != nil }
  }

  /// Returns the entities that the query's collections lead to, and the relationships on the way to them.
  private static func collections(of query: ResolvedQuery) -> (Set<EntityID>, Set<ToManyID>) {
    var (entities, relationships): (Set<EntityID>, Set<ToManyID>) = ([], [])
    query.predicate.forEachCollection { collection in
      for case let (relationship, destination)? in collection.steps.map(\.objects) {
        entities.insert(destination)
        relationships.insert(relationship)
      }
    }
    return (entities, relationships)
  }

  func changes(of entity: StoredEntity) -> UnsavedRecords? { changes[entity.ordinal] }

  /// Returns the unsaved links of a relationship; nil for none.
  func links(in table: LinkTable) -> PendingLinks? { layers.links(in: table) }
}
