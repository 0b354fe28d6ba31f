import Foundation
import Predicates

/// A column of a query's rows whose key path was found in the schema.
struct QueryColumn {
  let path: ResolvedPath
  /// Whose objects its references are.
  let origin: ColumnOrigin

  var name: String { path.name }

  /// - Parameter store: the store that is asked.
  init(_ names: [String], _ paths: PathResolver, store: UUID) throws(QueryError) {
    let destination = try paths.resolve(names)
    path = destination.path
    let identity = destination.entity.flatMap { paths.schema.entitySchema(named: $0)?.identity }
    origin = ColumnOrigin(entityName: destination.entity, identity: identity, storeID: store)
  }

  /// A column of values, which are none of objects.
  init(_ path: ResolvedPath, storeID: UUID) {
    self.path = path
    origin = ColumnOrigin(entityName: nil, identity: nil, storeID: storeID)
  }

  /// The error for a row that has no value of the type in this column.
  func holdsNone(_ type: Any.Type, of entity: String) -> ContextError {
    ContextError(
      .corrupt,
      "\(entity).\(name) holds no value of type \(type)",
      context: .init(entity: entity, properties: [name])
    )
  }
}
