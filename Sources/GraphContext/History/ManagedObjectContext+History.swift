import Predicates

extension ManagedObjectContext {
  /// Makes the context show the changes of these transactions, and returns the changes of all of them together.
  ///
  /// A context that shows an earlier state moves to the newest commit, as with ``refresh()``, also past the last of the
  /// transactions: a store has no snapshot of an earlier commit, unless a reader has held it since. A context that
  /// already shows them stays where it is. Either way, the result tells what a program must update if it has shown the
  /// state before the transactions, perhaps in an earlier run, with the token that it kept.
  ///
  /// Changes of an object in several transactions are one: an object that was inserted and deleted isn't among them.
  ///
  /// - Parameter transactions: consecutive ones of this store, in any order.
  /// - Throws: what ``refresh()`` throws.
  @discardableResult
  public func merge(_ transactions: [HistoryTransaction]) throws(ContextError) -> ObjectChanges {
    let own = transactions.filter { $0.token.storeID == storeID }
    if let last = own.map(\.token.commit).max(), last > source.commit { try refresh() }
    return changes(own.sorted { $0.token < $1.token })
  }

  private func changes(_ transactions: [HistoryTransaction]) -> ObjectChanges {
    var combined = CombinedChanges(in: coordinator.schema)
    for change in transactions.lazy.flatMap(\.changes) {
      guard let entity = coordinator.schema.entity(change.objectID.entity) else { continue }
      let key = ObjectKey(entity: entity.ordinal, number: change.objectID.number)
      switch change.kind {
      case .inserted: combined.note(key, .inserted)
      case .updated: combined.note(key, .updated(ChangedProperties(named: change.properties, of: entity)))
      case .deleted: combined.note(key, .deleted)
      }
    }
    var changes = self.changes(combined.changes, .store)
    changes.author = transactions.first?.author
    if transactions.contains(where: { $0.author != changes.author }) { changes.author = nil }
    return changes
  }
}
