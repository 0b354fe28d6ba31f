import Foundation
import Predicates

/// A column of a query's rows whose key path was found in the schema.
struct QueryColumn {
  let path: ResolvedPath
  /// The entity and the store of the objects that the column's references lead to.
  let origin: ColumnOrigin

  var name: String { path.name }

  /// Makes the column of a key path.
  ///
  /// - Parameter store: the store that is asked.
  init(_ names: [String], _ paths: PathResolver, store: UUID) throws(QueryError) {
    let destination = try paths.resolve(names)
    path = destination.path
    let entity = destination.entity.flatMap { paths.schema.entitySchema(named: $0) }
    origin = ColumnOrigin(
      entityName: destination.entity,
      identity: entity?.identity,
      classIdentities: entity?.classIdentities ?? [:],
      storeID: store
    )
  }

  /// Makes a column of values that don't refer to objects.
  init(_ path: ResolvedPath, storeID: UUID) {
    self.path = path
    origin = ColumnOrigin(entityName: nil, identity: nil, storeID: storeID)
  }

  /// Returns the error for a row that has no value of the type in this column.
  func holdsNone(_ type: Any.Type, of entity: String) -> ContextError {
    ContextError(
      .corrupt,
      "\(entity).\(name) holds no value of type \(type)",
      context: .init(entity: entity, properties: [name])
    )
  }
}

extension EntitySchema {
  /// The identities of the classes, by class tag. The ID of an object is labelled with the identity of its class.
  fileprivate var classIdentities: [UInt16: EntityIdentity] {
    guard let identity else { return [:] }
    let identities = classes.map { member in
      (member.tag, EntityIdentity(number: identity.number, nameTag: NameTags.tag(of: member.name)))
    }
    return Dictionary(identities) { first, _ in first }
  }
}
