import Predicates

/// The model classes of an entity's objects where they inherit from each other: the meaning of a number's class tag in
/// this program.
struct ModelClasses: Sendable {
  /// The classes by the class tag; nil for a class that the program has no model of.
  private let types: [(any ManagedObject.Type)?]
  private let tags: [ObjectIdentifier: UInt16]
  /// The positions of the classes in the entity's description, by the class tag.
  private let places: [Int]

  init(_ entity: StoredEntity, _ model: ModelDescription) {
    places = entity.classes.map { member in
      model.entity.classes.firstIndex { $0.name == member.name } ?? 0
    }
    let known = model.classes.dictionary(by: \.declared.name)
    types = entity.classes.map { $0.isAbstract ? nil : known[$0.name]?.type }
    tags = Dictionary(
      entity.classes.compactMap { member in
        known[member.name].map { (ObjectIdentifier($0.type), member.tag) }
      },
      uniquingKeysWith: { first, _ in first }
    )
  }

  var isEmpty: Bool { types.isEmpty }

  /// Returns the class of the object of a number; nil where there is no inheritance, or no object has the number. O(1).
  func type(of number: ObjectNumber) -> (any ManagedObject.Type)? {
    let tag = Int(number.classTag)
    return tag < types.count ? types[tag] : nil
  }

  /// Returns the position in the entity's description of the class of the object of a number; 0 where there is no
  /// inheritance. O(1).
  func place(of number: ObjectNumber) -> Int {
    let tag = Int(number.classTag)
    return tag < places.count ? places[tag] : 0
  }

  /// Returns the tag of a class. O(1).
  func tag(of type: any ManagedObject.Type) -> UInt16? { tags[ObjectIdentifier(type)] }
}

extension ManagedObjectContext {
  /// Returns whether the object of a number is of a class, or of one below it. O(depth of the hierarchy).
  func isClass(of number: ObjectNumber, _ type: any ManagedObject.Type, _ ordinal: Int) -> Bool {
    if !coordinator.models.hasHierarchies { return true }
    let classes = coordinator.models.classes[ordinal]
    if classes.isEmpty || type == ManagedRecord.self { return true }
    guard let wanted = classes.tag(of: type), classes.type(of: number) != nil else { return false }
    return entity(ordinal).classes[Int(wanted)].tags.contains(number.classTag)
  }

  /// Returns a stand-in for an object that can't exist: a reference leads to a number that no object of the class has.
  func missing<Object: ManagedObject>(_ type: Object.Type, _ number: ObjectNumber, _ ordinal: Int) -> Object {
    deferred.note(wrongClass(type, number, entity(ordinal)))
    return Object(_$state: ObjectState(missingIn: storeTag))
  }

  func wrongClass(
    _ type: any ManagedObject.Type,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) -> ContextError {
    ContextError(
      .corrupt,
      "\(number) is the number of no \(type.entityName)",
      context: .init(entity: entity.name, objectID: id(number, entity))
    )
  }
}

extension StoreModels {
  /// Returns whether the objects of an entity, or of a class of this name, are all of a class of the program.
  /// O(classes).
  func hasObjects(of name: String, _ entity: StoredEntity, as type: any ManagedObject.Type) -> Bool {
    if types[entity.ordinal] == type { return true }
    guard let member = entity.storedClass(named: name),
      let wanted = classes[entity.ordinal].tag(of: type)
    else { return false }
    return entity.classes[Int(wanted)].tags.contains(member.tag)
  }

  /// Returns whether a relationship of a model leads to the class of the object of a number: to the one that the model
  /// names, or to one below it. O(properties).
  func canLead(
    _ entity: StoredEntity,
    by name: String,
    to number: ObjectNumber,
    of destination: StoredEntity
  ) -> Bool {
    if destination.classes.isEmpty { return true }
    let declared = descriptions[entity.ordinal].entity.relationships.first { $0.name == name }?.destination
    guard let member = declared.flatMap({ destination.storedClass(named: $0) }) else { return true }
    return member.tags.contains(number.classTag)
  }

  /// Returns whether the class of a destination's object declares or inherits the inverse of a relationship; true for a
  /// relationship without an inverse. O(properties).
  func hasInverse(
    of property: PropertyDescription,
    _ number: ObjectNumber,
    _ destination: StoredEntity
  ) -> Bool {
    guard !destination.classes.isEmpty, case .relationship(let relationship) = property,
      let inverse = relationship.inverse
    else { return true }
    let entity = descriptions[destination.ordinal].entity
    // No class declares an inverse that is hidden.
    guard let declaring = entity.declaringClass(of: inverse) else { return true }
    return entity.isClass(entity.classes[classes[destination.ordinal].place(of: number)], oneOf: declaring)
  }

  /// Returns the class tag for the number of an object that is to be inserted.
  ///
  /// - Throws: `abstractClass` for an object of an abstract class.
  func classTag(of object: any ManagedObject, _ entity: StoredEntity) throws(ContextError) -> UInt16 {
    if entity.classes.isEmpty { return 0 }
    guard let record = object as? ManagedRecord else {
      return try classTag(of: Swift.type(of: object), entity)
    }
    return try classTag(named: record.className, entity)
  }

  /// Returns the class tag for the numbers of objects of a class that are to be inserted.
  ///
  /// - Throws: `abstractClass` for an abstract class.
  func classTag(of type: any ManagedObject.Type, _ entity: StoredEntity) throws(ContextError) -> UInt16 {
    if entity.classes.isEmpty { return 0 }
    guard let tag = classes[entity.ordinal].tag(of: type), !entity.classes[Int(tag)].isAbstract else {
      throw Self.isAbstract(type.entityName)
    }
    return tag
  }

  /// - Parameter name: the name of the entity, or of one of its classes.
  func classTag(named name: String, _ entity: StoredEntity) throws(ContextError) -> UInt16 {
    if entity.classes.isEmpty { return 0 }
    guard let member = entity.storedClass(named: name), !member.isAbstract else {
      throw Self.isAbstract(name)
    }
    return member.tag
  }

  private static func isAbstract(_ name: String) -> ContextError {
    ContextError(
      .abstractClass,
      "\(name) is abstract: only objects of its subclasses can be inserted",
      context: .init(entity: name)
    )
  }
}
