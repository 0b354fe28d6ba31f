import Predicates

/// The entities of a store: what they hold, how they are linked, what is indexed. Every schema is valid.
///
/// Made from model classes, or read from a store without them.
public struct Schema: Sendable, Hashable {
  /// The entities, sorted by name.
  public private(set) var entities: [EntityDescription]
  /// The data that is computed from the entities.
  private var shape: Shape

  /// The data that queries need of a schema. Each schema has a shape of its own, so that no query uses results that
  /// were found in another schema.
  private final class Shape: Sendable {
    let places: [String: Int]
    let entitySchemas: [EntitySchema]
    let entityNamesByNumber: [UInt32: String]?
    let templates = KeptTemplates()
    /// The schemas for queries for objects of one class alone, by the class's name.
    let classSchemas: [String: EntitySchema]

    init(
      _ entitySchemas: [EntitySchema],
      entityNamesByNumber: [UInt32: String]? = nil,
      classSchemas: [String: EntitySchema] = [:]
    ) {
      self.classSchemas = classSchemas
      places = Dictionary(uniqueKeysWithValues: entitySchemas.enumerated().map { ($1.name, $0) })
      self.entitySchemas = entitySchemas
      self.entityNamesByNumber = entityNamesByNumber
    }
  }

  /// The names of the entities by the numbers that a store gave them, where the schema is placed in a store's
  /// catalogue.
  public var entityNamesByNumber: [UInt32: String]? { shape.entityNamesByNumber }

  /// The query templates that are kept.
  var templates: KeptTemplates { shape.templates }

  /// - Throws: `SchemaError`, which names everything that is wrong.
  ///
  /// - Parameters:
  ///   - models: the classes.
  ///   - entities: those without classes.
  public init(
    _ models: [any ManagedObject.Type],
    entities: [EntityDescription] = []
  ) throws(SchemaError) {
    let problems = models.flatMap { model in
      model._$model.problems
        + model.attributeTypesWithoutTracerValue.map {
          "an attribute of \(model.entityName) has a type without a value: \($0)"
        } + model._$model.classes.flatMap(\.indexProblems) + model._$model.problems(ofListed: model)
    }
    guard problems.isEmpty else { throw SchemaError(problems: problems) }
    // A hierarchy counts once, whichever of its classes are listed.
    var hierarchies: Set<ObjectIdentifier> = []
    let descriptions = models.map { $0._$model }.filter { model in
      model.classes.isEmpty || hierarchies.insert(ObjectIdentifier(model)).inserted
    }
    let hierarchyProblems =
      descriptions.flatMap(\.superclassProblems) + Self.destinationProblems(in: descriptions.map(\.entity))
    guard hierarchyProblems.isEmpty else { throw SchemaError(problems: hierarchyProblems) }
    try self.init(entities: descriptions.map(\.entity) + entities)
  }

  /// Makes a schema. If only one relationship of a pair names its inverse, that of the other is filled in.
  ///
  /// - Throws: `SchemaError`, which names everything that is wrong.
  public init(entities: [EntityDescription]) throws(SchemaError) {
    let excesses = Self.excesses(in: entities)
    guard excesses.isEmpty else { throw SchemaError(problems: excesses) }
    let paired = Self.completingInverses(
      Self.leadingToRoots(entities).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    )
    let completed = Self.addingHiddenInverses(paired)
    let problems =
      Self.unpairedProblems(in: paired) + Self.problems(in: completed) + Self.excesses(in: completed)
    guard problems.isEmpty else { throw SchemaError(problems: problems) }
    self.entities = completed
    shape = Shape(Self.entitySchemas(completed))
  }

  /// Returns the entity of this name, or nil.
  public func entity(named name: String) -> EntityDescription? { shape.places[name].map { entities[$0] } }

  /// The names of the entities and, behind each entity, of its subclasses: queries can be for any of these.
  var namesOfClasses: [String] {
    entities.flatMap { [$0.name] + $0.classes.dropFirst().map(\.name) }
  }

  private static func entitySchemas(_ entities: [EntityDescription]) -> [EntitySchema] {
    entities.enumerated().map { EntitySchema($1, id: EntityID($0)) }
  }

  public static func == (left: Schema, right: Schema) -> Bool { left.entities == right.entities }
  public func hash(into hasher: inout Hasher) { hasher.combine(entities) }

  /// Makes each relationship to a subclass lead to the entity of its root.
  private static func leadingToRoots(_ entities: [EntityDescription]) -> [EntityDescription] {
    if entities.allSatisfy(\.classes.isEmpty) { return entities }
    let roots = entities.flatMap { entity in entity.classes.map { ($0.name, entity.name) } }
    let rootsByName = Dictionary(roots, uniquingKeysWith: { first, _ in first })
    return entities.map { entity in
      var entity = entity
      entity.properties = entity.properties.map { property in
        guard case .relationship(var relationship) = property,
          let root = rootsByName[relationship.destination]
        else { return property }
        relationship.destination = root
        return .relationship(relationship)
      }
      return entity
    }
  }

  /// Fills in missing inverses: a relationship is the inverse of the one that names it as inverse.
  private static func completingInverses(_ entities: [EntityDescription]) -> [EntityDescription] {
    var inverses: [[String]: String] = [:]
    for entity in entities {
      for relationship in entity.relationships {
        if let inverse = relationship.inverse {
          inverses[[relationship.destination, inverse]] = relationship.name
        }
      }
    }
    return entities.map { entity in
      var entity = entity
      entity.properties = entity.properties.map { property in
        guard case .relationship(var relationship) = property, relationship.inverse == nil else {
          return property
        }
        relationship.inverse = inverses[[entity.name, relationship.name]]
        return .relationship(relationship)
      }
      return entity
    }
  }
}

extension Schema: SchemaProviding {
  /// Returns the entity of this name, or nil. O(1).
  public func entitySchema(named name: String) -> EntitySchema? {
    shape.places[name].map { shape.entitySchemas[$0] } ?? shape.classSchemas[name]
  }

  /// Returns the entity with this identifier. Traps for one of another schema that has more entities. O(1).
  public func entitySchema(_ id: EntityID) -> EntitySchema { shape.entitySchemas[id.ordinal] }

  private static func namesByNumber(_ entities: [EntitySchema]) -> [UInt32: String] {
    let named = entities.compactMap { entity in entity.identity.map { ($0.number, entity.name) } }
    return Dictionary(named, uniquingKeysWith: { first, _ in first })
  }
}

extension EntitySchema {
  /// Makes the data that predicates and plans need of an entity of a valid schema.
  fileprivate init(_ entity: EntityDescription, id: EntityID) {
    let stored = entity.storedProperties.enumerated().map { slot, property in
      switch property {
      case .attribute(let attribute):
        StoredProperty(
          name: attribute.name,
          slot: slot,
          kind: attribute.kind,
          elementKind: attribute.elementKind,
          isOptional: attribute.isOptional
        )
      case .relationship(let relationship):
        StoredProperty(
          name: relationship.name,
          slot: slot,
          kind: .reference,
          isOptional: relationship.cardinality == .optional,
          destination: relationship.destination
        )
      }
    }
    // No path goes through a hidden inverse. Hidden inverses come last, so leaving them out doesn't change the
    // positions of the others.
    let toMany = entity.toManyRelationships.filter { !$0.isHiddenInverse }.map {
      ToManyProperty(name: $0.name, destination: $0.destination, inverse: $0.inverse ?? "")
    }
    let slots = Dictionary(uniqueKeysWithValues: stored.map { ($0.name, $0.slot) })
    let indexes = entity.indexes.enumerated().map { ordinal, index in
      ResolvedIndex(
        IndexID(id, ordinal),
        named: index.name,
        over: index.properties.compactMap { slots[$0] },
        of: stored,
        isUnique: index.isUnique,
        folding: index.folding.stringOptions
      )
    }
    self.init(
      id: id,
      identity: nil,
      name: entity.name,
      stored: stored,
      toMany: toMany,
      indexes: indexes,
      layoutNumber: 0,
      shorthands: entity.shorthandPaths
    )
  }

  /// Returns the schema with its stored values at other positions of a record.
  fileprivate func placed(
    in layout: UInt32,
    _ identity: EntityIdentity?,
    at place: (StoredProperty) -> Int
  ) -> EntitySchema {
    let properties = stored.map { property in
      var property = property
      property.place = place(property)
      return property
    }
    return EntitySchema(
      id: id,
      identity: identity,
      name: name,
      stored: properties,
      toMany: toMany,
      indexes: declaredIndexes,
      layoutNumber: layout,
      shorthands: shorthands
    )
  }
}

// MARK: - The order of values

extension Schema {
  /// Returns this schema for a store whose catalogue has the same entities and properties. Slots are counted in the
  /// order of this schema; positions in records and layouts are those of the store's records.
  func placed(in catalogue: CataloguedSchema) -> Schema {
    var copy = self
    let known = catalogue.entitiesByName
    let placed = shape.entitySchemas.map { entity in
      guard let known = known[entity.name], let layout = known.layouts.last else { return entity }
      let numbers = known.propertiesByName.mapValues(\.number)
      return entity.placed(in: layout.number, known.identity) { property in
        let number = numbers[property.name]
        return layout.fields.firstIndex { $0.property == number } ?? property.slot
      }
    }
    let whole = placed.map { entity in known[entity.name]?.root(of: entity) ?? entity }
    let classes = whole.flatMap { entity in known[entity.name]?.subclasses(of: entity) ?? [] }
    copy.shape = Shape(
      whole,
      entityNamesByNumber: Self.namesByNumber(placed),
      classSchemas: classes.dictionary(by: \.name)
    )
    return copy
  }
}

// MARK: - Classes without a store

extension Schema {
  /// This schema with the class tags that conditions on objects in no store need: those that a new store gives.
  var withClasses: Schema {
    guard entities.contains(where: { !$0.classes.isEmpty }) else { return self }
    var copy = self
    let known = CataloguedSchema(self).entitiesByName
    let whole = shape.entitySchemas.map { entity in known[entity.name]?.root(of: entity) ?? entity }
    let classes = whole.flatMap { entity in known[entity.name]?.subclasses(of: entity) ?? [] }
    copy.shape = Shape(whole, classSchemas: classes.dictionary(by: \.name))
    return copy
  }
}

// MARK: - Folded indexes

extension Schema {
  var hasFoldedIndexes: Bool { entities.contains { $0.indexes.contains { !$0.folding.isEmpty } } }

  /// The schema without its folded indexes: for readers that can't read their keys.
  var withoutFoldedIndexes: Schema {
    var copy = self
    for place in entities.indices { copy.entities[place].indexes.removeAll { !$0.folding.isEmpty } }
    let placed = zip(Self.entitySchemas(copy.entities), shape.entitySchemas).map { entity, whole in
      entity.placed(in: whole.layout.number, whole.identity) { whole.stored[$0.slot].place }
    }
    copy.shape = Shape(
      placed,
      entityNamesByNumber: entityNamesByNumber,
      classSchemas: shape.classSchemas
    )
    return copy
  }
}

// MARK: - Storing

extension Schema: Codable {
  private enum CodingKeys: CodingKey { case entities }

  /// Decodes a schema, and checks it as strictly as a declared one.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(entities: try container.decode([EntityDescription].self, forKey: .entities))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entities, forKey: .entities)
  }
}

// MARK: - Identity

extension Schema: CustomStringConvertible {
  /// Everything that matters to a store, in lines: equal for equal schemas, whatever the order of declaration of the
  /// models.
  public var description: String { entities.map(\.description).joined(separator: "\n") }

  /// A number that depends on the schema alone, in every process and version, whatever the order of declaration:
  /// FNV-1a, 64 bits, of the UTF-8 bytes of ``description`` with the lines of each entity sorted.
  public var stableHash: UInt64 { fowlerNollVo64(entities.map(\.hashedText).joined(separator: "\n")) }
}

extension EntityDescription: CustomStringConvertible {
  /// The properties and the indexes, a line each below the entity's name.
  public var description: String { text(of: lines) }

  /// A number as ``Schema/stableHash``, of this entity alone.
  public var stableHash: UInt64 { fowlerNollVo64(hashedText) }

  fileprivate var hashedText: String {
    text(of: lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  private var lines: [String] {
    declaredProperties.map(\.description) + declaredIndexes.map(\.description) + classes.map(\.description)
  }

  private func text(of lines: [String]) -> String {
    (["entity \(name)"] + lines.map { "  " + $0 }).joined(separator: "\n")
  }
}

extension PropertyDescription: CustomStringConvertible {
  /// The property in a line: `title: string`, `album: Album? inverse songs nullify`. An exclamation mark stands behind
  /// a part that an embedded value, which may be nil, needs where it is there: `home.city: string?!`.
  public var description: String {
    switch self {
    case .attribute(let attribute):
      "\(attribute.name): \(attribute.typeText)\(attribute.isOptional ? "?" : "")"
        + (attribute.isRequiredOfValue ? "!" : "")
        + (attribute.derivation.map { " derived \($0)" } ?? "")
    case .relationship(let relationship): relationship.description
    }
  }
}

extension RelationshipDescription: CustomStringConvertible {
  /// The relationship in a line: `album: Album? inverse songs nullify`.
  public var description: String {
    let end =
      switch cardinality {
      case .optional: "\(destination)?"
      case .required: destination
      case .many: "[\(destination)]"
      }
    return
      "\(name): \(end)\(inverse.map { " inverse \($0)" } ?? "") \(deleteRule)\(isOrdered ? " ordered" : "")"
  }
}

extension IndexDescription: CustomStringConvertible {
  /// The index in a line: `unique isrc`, `index album,track`.
  public var description: String { "\(isUnique ? "unique" : "index") \(name)" }
}

/// Returns the hash of a text: FNV-1a, 64 bits. http://www.isthe.com/chongo/tech/comp/fnv/
private func fowlerNollVo64(_ text: String) -> UInt64 {
  text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
}
