import PageStore
import Predicates

extension CataloguedSchema {
  /// Returns the entities that have no objects in a snapshot.
  func emptyEntities(in snapshot: Snapshot) throws(StoreError) -> Set<EntityNumber> {
    var empty: Set<EntityNumber> = []
    for entity in entities where try snapshot.treeIfPresent(entity.tree)?.count ?? 0 == 0 {
      empty.insert(entity.number)
    }
    return empty
  }
}
