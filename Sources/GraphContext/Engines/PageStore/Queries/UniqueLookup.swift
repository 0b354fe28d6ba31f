import PageStore
import Predicates

/// The usual case of a key: a query whose whole condition is that a unique attribute equals a value.
///
/// There is at most one such object in the store, so there is nothing to plan, to count or to sort: one descent in
/// the index, one in the records. ``QueryExecutor`` would return the same result.
struct UniqueLookup {
  private let query: ResolvedQuery
  private let entity: StoredEntity
  private let index: ResolvedIndex
  private let slot: Int
  /// The value's component in the index. Only the value's own entries begin with it.
  private let key: [UInt8]

  /// Nil for any other query.
  init?(_ query: ResolvedQuery, of entity: StoredEntity) {
    guard
      let (index, slot, value) = query.key.map({ ($0.index, $0.index.slots[0], $0.value) })
        ?? Self.key(of: query.predicate, entity)
    else { return nil }
    self.query = query
    self.entity = entity
    self.index = index
    self.slot = slot
    var key: [UInt8] = []
    key.reserveCapacity(64)
    KeyCoder.append(value, to: &key)
    self.key = key
  }

  /// Returns the unique index and the value, if the predicate says that one unique attribute equals one value. Nil for
  /// any other predicate.
  private static func key(
    of predicate: NormalPredicate,
    _ entity: StoredEntity
  ) -> (ResolvedIndex, slot: Int, AttributeValue)? {
    guard case .values(let path, let set) = predicate, set.folding.isEmpty, let slot = path.ownSlot,
      let value = set.point, !value.isNull, !value.isNaN,
      let index = entity.declaredIndexes.first(where: {
        $0.isUnique && $0.columns.count == 1 && $0.columns[0] == ResolvedIndex.Column(slot: slot)
      })
    else { return nil }
    return (index, slot, value)
  }

  /// Returns the result, at most one row; nil if there may be more rows, because unsaved objects have the value,
  /// too.
  ///
  /// - Parameter needsRecord: whether a row from the store must come with its record. The row of an unsaved object
  ///   has no record.
  func rows(in view: StoreView, over layers: UnsavedLayers?, needsRecord: Bool) throws -> [QueryRow]? {
    let pending = layers?.records(of: entity)
    let unsaved = pending?.numbers(withKey: key, at: slot) ?? []
    if unsaved.count > 1 { return nil }
    var stored = try storedNumbers(in: view)
    if let pending { stored.removeAll { pending.hidden.contains($0) } }
    if unsaved.count + stored.count > 1 { return nil }
    if RowWindow(query).count(of: 1) == 0 { return [] }
    if needsRecord, let number = stored.first { return [try RecordWalker.row(number, of: entity, in: view)] }
    return (unsaved + stored).map { QueryRow(number: $0, record: nil) }
  }

  /// Returns the objects of the first two entries. If there is a second one that counts, ``QueryExecutor`` has to
  /// answer the query.
  private func storedNumbers(in view: StoreView) throws -> [ObjectNumber] {
    try view.tree(of: index)?.numbers(beginning: key, limit: 2) ?? []
  }
}

extension StoreView: StoredSource {
  func owner(of components: [UInt8], in index: ResolvedIndex) throws(ContextError) -> ObjectNumber? {
    try ContextError.mapping { try tree(of: index)?.numbers(beginning: components, limit: 1).first }
  }
}
