/// Turns names into slots: paths from a fetched entity through to-one relationships.
package struct PathResolver {
  package let entity: EntitySchema
  private let schema: any SchemaProviding

  package init(entity: EntitySchema, schema: any SchemaProviding) {
    self.entity = entity
    self.schema = schema
  }

  /// A path, and for one that ends at an object the entity of that object.
  package struct Destination: Sendable, Hashable {
    package var path: ResolvedPath
    package var entity: String?
  }

  /// The fetched object itself.
  package var object: Destination {
    Destination(
      path: ResolvedPath(hops: [], leaf: .objectID, isOptional: false, name: "SELF"),
      entity: entity.name
    )
  }

  /// Follows the names to an attribute, a to-one relationship or, as `objectID`, an object's own identity.
  ///
  /// - Throws: `unknownName`, or `typeMismatch` where the path goes through an attribute or to many objects.
  package func resolve(
    _ names: [String],
    at location: SourceLocation? = nil
  ) throws(QueryError) -> Destination {
    guard let last = names.indices.last else { return object }
    var hops: [ResolvedPath.Hop] = []
    var current = entity
    var isOptional = false
    for (index, name) in names.enumerated() {
      guard let property = current.storedProperty(named: name) else {
        guard name == Self.objectIDName, index == last, current.toMany.allSatisfy({ $0.name != name }) else {
          throw unknown(names, index, in: current, at: location)
        }
        let path = ResolvedPath(
          hops: hops,
          leaf: .objectID,
          isOptional: isOptional,
          name: names.joined(separator: ".")
        )
        return Destination(path: path, entity: current.name)
      }
      isOptional = isOptional || property.isOptional
      if index == last {
        let path = ResolvedPath(
          hops: hops,
          leaf: .slot(property.slot, property.kind),
          isOptional: isOptional,
          name: names.joined(separator: ".")
        )
        return Destination(path: path, entity: property.destination)
      }
      guard let next = property.destination.flatMap({ schema.entitySchema(named: $0) }) else {
        throw deadEnd(names, index, property, at: location)
      }
      hops.append(.init(slot: property.slot, destination: next.name, isOptional: property.isOptional))
      current = next
    }
    return object
  }

  /// The name by which a path asks for an object's own identity.
  static let objectIDName = "objectID"

  private func unknown(
    _ names: [String],
    _ index: Int,
    in entity: EntitySchema,
    at location: SourceLocation?
  ) -> QueryError {
    let name = names[index]
    if let many = entity.toMany.first(where: { $0.name == name }) {
      let message = "\(entity.name).\(name) leads to many objects (\(many.destination)), not to one value."
      return error(.typeMismatch, message, names, index, at: location)
    }
    var message = "\(entity.name) has no property named “\(name)”."
    if let near = NearestName.find(name, among: entity.stored.map(\.name) + entity.toMany.map(\.name)) {
      message += " Did you mean “\(near)”?"
    }
    return error(.unknownName, message, names, index, at: location)
  }

  private func deadEnd(
    _ names: [String],
    _ index: Int,
    _ property: StoredProperty,
    at location: SourceLocation?
  ) -> QueryError {
    if let destination = property.destination {
      let message = "The entity \(destination), where \(property.name) leads, is not in the schema."
      return error(.unknownName, message, names, index, at: location)
    }
    let message = "\(property.name) is \(property.kind.noun): it has no property “\(names[index + 1])”."
    return error(.typeMismatch, message, names, index + 1, at: location)
  }

  private func error(
    _ code: QueryError.Code,
    _ message: String,
    _ names: [String],
    _ index: Int,
    at location: SourceLocation?
  ) -> QueryError {
    QueryError(
      code,
      message,
      source: location?.text,
      column: location?.column(ofName: index),
      keyPath: names.joined(separator: ".")
    )
  }
}

extension AttributeKind {
  /// The kind in a sentence: “a string”.
  var noun: String {
    switch self {
    case .bool: "a Bool"
    case .int8: "an Int8"
    case .int16: "an Int16"
    case .int32: "an Int32"
    case .int64: "an Int"
    case .uint8: "a UInt8"
    case .uint16: "a UInt16"
    case .uint32: "a UInt32"
    case .uint64: "a UInt"
    case .float: "a Float"
    case .double: "a Double"
    case .date: "a date"
    case .uuid: "a UUID"
    case .string: "a string"
    case .data: "data"
    case .reference: "an object"
    }
  }
}

/// Finds the name that was probably meant.
enum NearestName {
  /// The name with the fewest edits, if they are at most some third of its letters and leave two at least
  /// alone.
  static func find(_ name: String, among candidates: [String]) -> String? {
    guard name.utf8.count <= 64 else { return nil }
    return
      candidates
      .map { (name: $0, edits: edits(from: name.lowercased(), to: $0.lowercased())) }
      .filter { $0.edits <= max(1, ($0.name.utf8.count + 1) / 3) && $0.name.utf8.count - $0.edits >= 2 }
      .min { $0.edits < $1.edits }?
      .name
  }

  /// Levenshtein's distance between the two texts' bytes. O(n·m).
  private static func edits(from source: String, to target: String) -> Int {
    let target = Array(target.utf8)
    var row = Array(0...target.count)
    for (i, byte) in source.utf8.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in target.indices {
        let substitution = diagonal + (target[j] == byte ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, min(row[j], row[j + 1]) + 1)
      }
    }
    return row[target.count]
  }
}
