import Logging
import PageStore
import Predicates

/// Logs the entities that an opening removes: the program may have forgotten to pass their models.
struct RemovedEntities {
  private let logger: Logger
  private let path: String
  private var known: [(number: EntityNumber, name: String, objectCount: UInt64)] = []

  /// Reads the entities before the opening. Nil without a logger.
  init?(_ store: Store, _ logger: Logger?) throws {
    guard let logger else { return nil }
    self.logger = logger
    path = store.path
    let snapshot = try store.snapshot()
    for entity in try SchemaTree.schema(in: snapshot)?.entities ?? [] {
      let count = try snapshot.treeIfPresent(entity.tree)?.count ?? 0
      known.append((entity.number, entity.name, UInt64(count)))
    }
  }

  /// Logs the removed entities, after the store has got this schema.
  func log(_ schema: CataloguedSchema) {
    // A stage may have made the objects of an entity anew, which then has another number.
    for entity in known
    where schema.entity(entity.number) == nil && schema.entity(named: entity.name) == nil {
      logger.notice(
        "removed an entity that is not among the models, and its objects",
        metadata: [
          "entity": "\(entity.name)", "objects": "\(entity.objectCount)", "store": "\(path)",
        ]
      )
    }
  }
}
