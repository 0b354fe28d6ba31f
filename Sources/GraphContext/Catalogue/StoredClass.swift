import Predicates

/// A class of the objects of an entity that has several.
struct StoredClass: Sendable {
  /// The class tag in the numbers of its objects.
  let tag: UInt16
  let name: String
  let isAbstract: Bool
  /// The label of the entity in the IDs of its objects.
  let label: EntityLabel
  /// Its own tag and those of the classes below it, ascending.
  let tags: [UInt16]
  /// The slots for which its objects need values, and which other objects may lack.
  let requiredSlots: SlotSet
  /// The slots of other classes' properties, in which its objects have nil.
  let foreignSlots: SlotSet
  /// The to-many relationships of other classes, of which its objects have none.
  let foreignToManys: Set<String>
}

extension StoredClass {
  /// Returns the classes of an entity, by tag.
  ///
  /// - Parameter slots: the properties of the slots.
  static func classes(of entity: CataloguedEntity, _ slots: [CataloguedProperty]) -> [StoredClass] {
    func slotSet(_ numbers: [PropertyNumber]) -> SlotSet {
      SlotSet(slots.indices.filter { numbers.contains(slots[$0].number) })
    }
    let toManys = entity.properties.filter(\.isToMany)
    var own: [SlotSet] = []
    var ownToManys: [Set<String>] = []
    var required: [SlotSet] = []
    var tags = entity.classes.map { [$0.tag] }
    for member in entity.classes {
      let inherited = member.parent.map(Int.init)
      let declared = slotSet(withPlaces(member.properties, of: entity))
      own.append(declared.union(inherited.map { own[$0] } ?? .empty))
      let names = toManys.filter { member.properties.contains($0.number) }.map(\.name)
      ownToManys.append(Set(names).union(inherited.map { ownToManys[$0] } ?? []))
      required.append(slotSet(member.required).union(inherited.map { required[$0] } ?? .empty))
    }
    for member in entity.classes.reversed() {
      if let parent = member.parent { tags[Int(parent)] += tags[Int(member.tag)] }
    }
    let all = SlotSet(first: slots.count)
    return entity.classes.enumerated().map { place, member in
      let nameTag = NameTags.tag(of: member.name)
      return StoredClass(
        tag: member.tag,
        name: member.name,
        isAbstract: member.isAbstract,
        label: .known(EntityIdentity(number: entity.number.rawValue, nameTag: nameTag)),
        tags: tags[place].sorted(),
        requiredSlots: required[place],
        foreignSlots: all.subtracting(own[place]),
        foreignToManys: Set(toManys.map(\.name)).subtracting(ownToManys[place])
      )
    }
  }

  private static func withPlaces(_ numbers: [PropertyNumber], of entity: CataloguedEntity) -> [PropertyNumber]
  {
    numbers + numbers.compactMap { entity.property($0) }.compactMap { entity.place(of: $0)?.number }
  }
}

extension StoredEntity {
  /// Returns the class of the object with this number; nil if no class inherits from another, or no class has the
  /// tag. O(1).
  func storedClass(of number: ObjectNumber) -> StoredClass? {
    let tag = Int(number.classTag)
    return tag < classes.count ? classes[tag] : nil
  }

  /// Returns the class of this name. O(classes).
  func storedClass(named name: String) -> StoredClass? { classes.first { $0.name == name } }

  /// Returns whether the number can be that of an object of the entity. O(1).
  func isSound(_ number: ObjectNumber) -> Bool {
    guard number.isSound else { return false }
    return classes.isEmpty
      ? number.classTag == 0 : storedClass(of: number).map { !$0.isAbstract } ?? false
  }

  /// Returns the slots that objects of this number's class have; all slots if no class inherits from
  /// another. O(1).
  func ownSlots(of number: ObjectNumber) -> SlotSet {
    if classes.isEmpty { return .all }
    return storedClass(of: number).map { SlotSet.all.subtracting($0.foreignSlots) } ?? .empty
  }

  /// Returns whether objects of the class of this number have a to-many relationship. O(1).
  func has(_ toMany: StoredToMany, _ number: ObjectNumber) -> Bool {
    classes.isEmpty || storedClass(of: number)?.foreignToManys.contains(toMany.name) == false
  }

  /// Returns whether an object can have the values of another: its class is the other's class, or one below that.
  /// O(classes).
  func isKind(_ number: ObjectNumber, of other: ObjectNumber) -> Bool {
    classes.isEmpty || storedClass(of: other)?.tags.contains(number.classTag) == true
  }

  /// Returns the label of the entity in the ID of an object of this number. O(1).
  func label(of number: ObjectNumber) -> EntityLabel { storedClass(of: number)?.label ?? label }

  /// Returns the slots that must not be nil in an object of this number. O(1).
  func requiredSlots(of number: ObjectNumber) -> SlotSet {
    classes.isEmpty ? requiredSlots : requiredSlots.union(storedClass(of: number)?.requiredSlots ?? .empty)
  }
}

extension CataloguedEntity {
  /// Returns the schema of all classes of an entity that has several.
  func root(of entity: EntitySchema) -> EntitySchema {
    classes.isEmpty ? entity : entity.restricted(to: entity.name, schemaClasses(of: entity), hiding: 0)
  }

  /// Returns the schema of each class below the root.
  func subclasses(of entity: EntitySchema) -> [EntitySchema] {
    let known = schemaClasses(of: entity)
    return storedClasses(of: entity).dropFirst().map { member in
      entity.restricted(to: member.name, known, hiding: member.foreignSlots.rawValue, member.foreignToManys)
    }
  }

  private func schemaClasses(of entity: EntitySchema) -> [SchemaClass] {
    storedClasses(of: entity).map { SchemaClass(name: $0.name, tag: $0.tag, tags: $0.tags) }
  }

  private func storedClasses(of entity: EntitySchema) -> [StoredClass] {
    let properties = propertiesByName
    return StoredClass.classes(of: self, entity.stored.compactMap { properties[$0.name] })
  }
}
