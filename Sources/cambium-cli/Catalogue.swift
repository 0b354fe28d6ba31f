import GraphContext
import PageStore

/// The schema with its numbers in a store's file, which is only read.
struct Catalogue {
  let store: StoreUUID
  let snapshot: Snapshot
  let catalogued: CataloguedSchema
  /// The description of ``catalogued``.
  let schema: Schema

  init(path: String) throws {
    let opened = try Store.open(at: path, options: .readOnly)
    store = opened.uuid
    snapshot = try opened.snapshot()
    guard let found = try SchemaTree.schema(in: snapshot) else {
      throw Failure(.store, "error: \(path) holds no models")
    }
    catalogued = found
    schema = try ResolvedSchema(found).schema
  }

  /// Returns whether the numbers of both have the same meaning: both are copies of one store, and only one copy may
  /// have been changed since, or both in the same way.
  func sharesNumbers(with other: CataloguedSchema, of otherStore: StoreUUID) -> Bool {
    store == otherStore && (catalogued.canBecome(other) || other.canBecome(catalogued))
  }
}
