/// A resolver that converts names into slots: paths from a fetched entity, or from the element of a collection,
/// through relationships.
package struct PathResolver {
  let entity: EntitySchema
  package let schema: any SchemaProviding
  /// The start of the paths; see ``ResolvedPath/scope``.
  private let scope: Int
  /// The kind of the list's element that paths start from; nil where they start from an object.
  private let elementKind: AttributeKind?

  package init(entity: EntitySchema, schema: any SchemaProviding, scope: Int = 0) {
    self.entity = entity
    self.schema = schema
    self.scope = scope
    elementKind = nil
  }

  /// Makes a resolver for paths from an element of a collection.
  init(elementOf step: ResolvedCollection.Step, in schema: any SchemaProviding) {
    entity = step.elementSchema(in: schema)
    self.schema = schema
    scope = step.scope
    if case .values(let kind) = step.elements { elementKind = kind } else { elementKind = nil }
  }

  /// A path, and the entity of the object if the path ends at an object.
  package struct Destination: Sendable, Hashable {
    package var path: ResolvedPath
    package var entity: String?
    /// The root of the entity's hierarchy: the objects of all of its classes are numbered together.
    var root: String?
    /// The kind of a list's elements; nil for a target that is no list.
    var elementKind: AttributeKind?
    /// The path's test of the class of the object that it leads to; nil if the path asks for a value.
    var classTest: ClassTest?
  }

  /// The target of names.
  enum Target {
    case value(Destination)
    /// Several values; the destination is that of one value, in the scope of its element.
    case collection(ResolvedCollection, Destination)
  }

  /// The object that paths start from.
  var object: Destination { object(named: "SELF") }

  func object(named name: String) -> Destination {
    if let kind = elementKind {
      let path = ResolvedPath(scope: scope, hops: [], leaf: .slot(0, kind), isOptional: true, name: name)
      return Destination(path: path, entity: nil)
    }
    let path = ResolvedPath(scope: scope, hops: [], leaf: .objectID, isOptional: false, name: name)
    return destination(path, in: entity.name)
  }

  private func destination(
    _ path: ResolvedPath,
    in entity: String?,
    elementKind: AttributeKind? = nil,
    classTest: ClassTest? = nil
  ) -> Destination {
    Destination(
      path: path,
      entity: entity,
      root: entity.map(schema.rootName),
      elementKind: elementKind,
      classTest: classTest
    )
  }

  /// Follows the names to an attribute, a to-one relationship or, as `objectID`, an object's own identity.
  ///
  /// - Parameter allowsClass: true if the path may ask for a class.
  /// - Throws: `unknownName`, or `typeMismatch` where the path goes through an attribute or to many objects, or
  ///   asks for a class.
  package func resolve(
    _ names: [String],
    at location: SourceLocation? = nil,
    allowsClass: Bool = false
  ) throws(QueryError) -> Destination {
    let names = expanding(PathNames(names, location))
    switch try walk(names, from: 0) {
    case .value(let destination):
      if !allowsClass { try destination.checkIsValue(at: location) }
      return destination
    case .toMany(let place, let ordinal, _, let owner):
      let property = owner.toMany[ordinal]
      let message =
        "\(owner.name).\(property.name) leads to many objects (\(property.destination)), not to one value."
      throw names.error(.typeMismatch, message, place)
    }
  }

  /// Follows the names to any target.
  ///
  /// - Parameter nextScope: the number of the next collection step; raised by the number of steps on the way.
  func target(of names: PathNames, nextScope: inout Int) throws(QueryError) -> Target {
    let names = expanding(names)
    var steps: [ResolvedCollection.Step] = []
    var resolver = self
    var start = 0
    while case .toMany(let place, let ordinal, let owner, let entity) = try resolver.walk(names, from: start)
    {
      let property = entity.toMany[ordinal]
      guard (steps.count + 1) * NestingWeight.elements <= PredicateTree.maximumDepth else {
        let message = "A path leads through at most \(steps.count) relationships to many objects."
        throw names.error(.tooComplex, message, place)
      }
      guard let destination = schema.entitySchema(named: property.destination) else {
        let message =
          "The entity \(property.destination), to which \(property.name) leads, is not in the schema."
        throw names.error(.unknownName, message, place)
      }
      let elements = ResolvedCollection.Step.Elements.objects(ToManyID(entity.id, ordinal), destination.id)
      steps.append(.init(owner: owner, elements: elements, name: property.name, scope: nextScope))
      resolver = PathResolver(elementOf: steps[steps.count - 1], in: schema)
      nextScope += 1
      start = place + 1
    }
    guard case .value(let value) = try resolver.walk(names, from: start) else {
      return .value(resolver.object)
    }
    if steps.isEmpty { return .value(value) }
    let collection = ResolvedCollection(
      steps: steps,
      value: start == names.count ? nil : value.path,
      name: names.text
    )
    return .collection(collection, value)
  }

  /// Returns the names, with paths instead of the shorthands that stand for them. O(names).
  func expanding(_ names: PathNames) -> PathNames {
    if elementKind != nil { return names }
    var (names, current) = (names, entity)
    for place in 0..<PredicateTree.maximumDepth where place < names.count {
      if let path = current.shorthands[names[place]] { names.replace(place, by: path) }
      guard let destination = current.destination(named: names[place]),
        let next = schema.entitySchema(named: destination)
      else { break }
      current = next
    }
    return names
  }

  /// The result of following names up to the first to-many relationship.
  private enum Walk {
    case value(Destination)
    /// The name at the first index is the to-many relationship with the second ordinal, of the owner that the path
    /// leads to.
    case toMany(Int, Int, owner: ResolvedPath, of: EntitySchema)
  }

  private func walk(_ names: PathNames, from start: Int) throws(QueryError) -> Walk {
    if start == names.count { return .value(object(named: names.text)) }
    if let elementKind {
      let message = "An element of the list is \(elementKind.noun): it has no property “\(names[start])”."
      throw names.error(.typeMismatch, message, start)
    }
    // Code that follows a path is recursive, so the length of paths is limited.
    guard names.count <= PredicateTree.maximumDepth else {
      let message = "A path has at most \(PredicateTree.maximumDepth) names."
      throw names.error(.tooComplex, message, PredicateTree.maximumDepth)
    }
    var path = ResolvedPath(scope: scope, hops: [], leaf: .objectID, isOptional: false, name: names.text)
    var current = entity
    var place = start
    while place < names.count {
      let name = names[place]
      guard let (property, last) = current.storedProperty(of: names, at: place) else {
        if let many = current.toManyOrdinal(named: name) {
          return .toMany(place, many, owner: path, of: current)
        }
        if place == names.count - 1, let test = ClassTest(name, in: current) {
          return .value(destination(path, in: current.name, classTest: test))
        }
        guard name == Self.objectIDName, place == names.count - 1 else {
          throw unknown(names, place, in: current)
        }
        return .value(destination(path, in: current.name))
      }
      path.isOptional = path.isOptional || property.isOptional
      if last == names.count - 1 {
        path.leaf = .slot(property.slot, property.kind)
        return .value(
          destination(path, in: current.objectEntity(of: property), elementKind: property.elementKind)
        )
      }
      guard let next = property.destination.flatMap({ schema.entitySchema(named: $0) }) else {
        throw deadEnd(names, last, property)
      }
      path.hops.append(.init(slot: property.slot, destination: next.id, isOptional: property.isOptional))
      current = next
      place = last + 1
    }
    return .value(destination(path, in: current.name))
  }

  /// The name by which a path asks for an object's own identity.
  package static let objectIDName = "objectID"

  private func unknown(_ names: PathNames, _ place: Int, in entity: EntitySchema) -> QueryError {
    if let part = entity.visible.first(where: { $0.name.hasPrefix(names[place] + ".") && $0.kind != .place })
    {
      let message =
        "\(entity.name).\(names[place]) consists of several attributes: name one of them, such as “\(part.name)”."
      return names.error(.typeMismatch, message, place)
    }
    var message = "\(entity.name) has no property named “\(names[place])”."
    let relationships = entity.toMany.map(\.name).filter { entity.toManyOrdinal(named: $0) != nil }
    if let near = NearestName.find(names[place], among: entity.visible.map(\.name) + relationships) {
      message += " Did you mean “\(near)”?"
    }
    return names.error(.unknownName, message, place)
  }

  private func deadEnd(_ names: PathNames, _ place: Int, _ property: StoredProperty) -> QueryError {
    if let destination = property.destination {
      let message = "The entity \(destination), to which \(property.name) leads, is not in the schema."
      return names.error(.unknownName, message, place)
    }
    let message = "\(property.name) is \(property.kind.noun): it has no property “\(names[place + 1])”."
    return names.error(.typeMismatch, message, place + 1)
  }
}

extension EntitySchema {
  /// Returns the destination of a relationship.
  fileprivate func destination(named name: String) -> String? {
    storedProperty(named: name)?.destination ?? toManyOrdinal(named: name).map { toMany[$0].destination }
  }

  /// Returns the attribute or to-one relationship that names lead to from an index on, and the index of its last name:
  /// a part of an embedded value has several names.
  fileprivate func storedProperty(of names: PathNames, at place: Int) -> (StoredProperty, last: Int)? {
    let first = storedProperty(named: names[place])
    if let first, first.destination != nil || place == names.count - 1 { return (first, place) }
    var name = names[place]
    for last in place + 1..<max(place + 1, names.count) {
      name += "." + names[last]
      if let part = storedProperty(named: name), part.kind != .place { return (part, last) }
    }
    return first.map { ($0, place) }
  }
}

extension AttributeKind {
  /// The kind in a sentence: “a string”.
  package var noun: String {
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
    case .decimal: "a Decimal"
    case .date: "a date"
    case .uuid: "a UUID"
    case .string: "a string"
    case .data: "data"
    case .place: "a place in a list"
    case .coded: "an encoded value"
    case .externalString: "an externally stored string"
    case .externalData: "externally stored data"
    case .reference: "an object"
    }
  }
}
