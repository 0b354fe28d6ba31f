import Predicates

/// The models that a store is open with, each beside its entity in the store's schema, and what is computed from them.
///
/// They don't change. When the store is opened with other models, it gets another coordinator.
final class StoreModels: Sendable {
  /// The store's schema.
  let schema: ResolvedSchema
  /// The model classes, by the entity's ordinal: `ManagedRecord` for an entity without a class.
  let types: [any ManagedObject.Type]
  /// The model of each entity, by ordinal.
  let descriptions: [ModelDescription]
  /// The classes of the entities whose models inherit from each other, by the entity's ordinal.
  let classes: [ModelClasses]
  /// True if models of any entity inherit from each other. If none do, finding an object needs no look-up of its class.
  let hasHierarchies: Bool
  /// True if the schema has many-to-many relationships.
  let hasPairs: Bool
  /// The rules of the attributes that have any, by the entity's ordinal.
  let checks: [[AttributeChecks]]
  /// Rules for the counts of to-many relationships.
  let countRules: CountRules
  /// The policies of saves for existing unique values, by the entity's ordinal and the position among its declared
  /// indexes.
  let uniquePolicies: [[UniquePolicy]]
  /// True if one of ``uniquePolicies`` isn't ``UniquePolicy/error``.
  let unifiesObjects: Bool
  /// The slots whose values stay in the history when an object is deleted, by the entity's ordinal; empty for
  /// none.
  let preservedSlots: [SlotSet]
  /// True if a model's properties are in another order than the store's.
  let hasOtherLayouts: Bool
  private let ordinals: [ObjectIdentifier: Int]

  /// - Parameters:
  ///   - types: the model classes, by the entity's ordinal.
  ///   - described: entities without classes as the program has described them: their relationships may lead to a
  ///     subclass, where the schema's lead to its root.
  init(_ schema: ResolvedSchema, types: [any ManagedObject.Type], described: [EntityDescription]) {
    self.schema = schema
    self.types = types
    let descriptions = zip(schema.schema.entities, types).map { entity, type in
      type == ManagedRecord.self ? ModelDescription(entity.leading(as: described)) : type._$model
    }
    self.descriptions = descriptions
    let pairs = zip(schema.entities, descriptions)
    checks = pairs.map { entity, model in
      entity.schema.stored.enumerated().compactMap { slot, property in
        guard let attribute = model.attribute(named: property.name), !attribute.rules.isEmpty else {
          return nil
        }
        return AttributeChecks(slot: slot, attribute.rules)
      }
    }
    countRules = CountRules(schema, descriptions)
    let preserved = pairs.map { entity, model in
      entity.schema.stored.enumerated().reduce(into: SlotSet.empty) { slots, property in
        let isPreserved = model.attribute(named: property.element.name)?.preservesValueOnDeletion == true
        if isPreserved { slots.insert(property.offset) }
      }
    }
    preservedSlots = preserved.allSatisfy(\.isEmpty) ? [] : preserved
    let policies = pairs.map { entity, model in
      entity.declaredIndexes.map { index in
        model.entity.indexes.first { $0.name == index.name }?.ifExists ?? .error
      }
    }
    uniquePolicies = policies
    unifiesObjects = policies.joined().contains { $0 != .error }
    hasOtherLayouts = pairs.contains { !$0.layout.hasPlaces(of: $1.layout) }
    let classes = pairs.map(ModelClasses.init)
    self.classes = classes
    hasHierarchies = !classes.allSatisfy(\.isEmpty)
    hasPairs = schema.entities.contains { entity in
      entity.toManys.contains { if case .pairs = $0.storage { true } else { false } }
    }
    ordinals = Dictionary(
      zip(types, descriptions).enumerated().flatMap { ordinal, pair in
        let (type, model) = pair
        if type == ManagedRecord.self { return [(ObjectIdentifier(model), ordinal)] }
        return model.types(or: type).map { (ObjectIdentifier($0), ordinal) }
      },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Returns the entity of a model class, or nil when it isn't among the models.
  func entity(of type: any ManagedObject.Type) -> StoredEntity? { entity(withKey: ObjectIdentifier(type)) }

  /// Returns the entity of objects with this key, or nil if there is none.
  func entity(withKey key: ObjectIdentifier) -> StoredEntity? { ordinals[key].map { schema.entities[$0] } }

  /// Returns the defaults that the model of an entity, or of one of its classes, declares, by slot.
  func defaults(of entity: StoredEntity, classTag: UInt16 = 0) -> [Int: AttributeValue] {
    let model = descriptions[entity.ordinal]
    let foreign = entity.classes.isEmpty ? .empty : entity.classes[Int(classTag)].foreignSlots
    var defaults: [Int: AttributeValue] = [:]
    for (slot, property) in entity.schema.stored.enumerated() where !foreign.contains(slot) {
      if let attribute = model.attribute(named: property.name) { defaults[slot] = attribute.defaultValue }
    }
    return defaults
  }

  /// Returns the closures that make values for each new object of an entity, or of one of its classes, by slot.
  func initialValues(
    of entity: StoredEntity,
    classTag: UInt16
  ) -> [Int: @Sendable () -> any AttributeType] {
    let model = descriptions[entity.ordinal]
    let foreign = entity.classes.isEmpty ? .empty : entity.classes[Int(classTag)].foreignSlots
    var values: [Int: @Sendable () -> any AttributeType] = [:]
    for (slot, property) in entity.schema.stored.enumerated() where !foreign.contains(slot) {
      let attribute = model.attribute(named: property.name)
      values[slot] = attribute?.insertionDefault ?? attribute?.initialValue
    }
    return values
  }

  /// Returns the class of the object of a number. The object is one of the entity of this ordinal.
  func type(of number: ObjectNumber, _ ordinal: Int) -> any ManagedObject.Type {
    classes[ordinal].type(of: number) ?? types[ordinal]
  }

  /// Makes an object of the entity of this ordinal, whose class is given.
  ///
  /// - Parameter number: the number that it has, or gets.
  func makeObject<Object: ManagedObject>(
    _ type: Object.Type,
    _ state: consuming ObjectState,
    number: ObjectNumber,
    _ ordinal: Int
  ) -> Object {
    if type == ManagedRecord.self {
      let place = hasHierarchies ? classes[ordinal].place(of: number) : 0
      return unsafeDowncast(ManagedRecord(state, of: descriptions[ordinal], classPlace: place), to: type)
    }
    if hasHierarchies, !number.isNone, let concrete = classes[ordinal].type(of: number), concrete != type {
      return unsafeDowncast(concrete.init(_$state: state), to: type)
    }
    return Object(_$state: state)
  }

  /// Returns whether each relationship of an entity without a class leads to the class that `described` names.
  func leads(as described: [EntityDescription]) -> Bool {
    zip(descriptions, types).allSatisfy { model, type in
      guard type == ManagedRecord.self else { return true }
      let asked = model.entity.leading(as: described).relationships
      return zip(model.entity.relationships, asked).allSatisfy { $0.destination == $1.destination }
    }
  }
}

extension ModelDescription {
  /// Returns the attribute of this name; nil for a relationship and for an unknown name.
  func attribute(named name: String) -> AttributeDescription? {
    guard let place = place(of: name), case .attribute(let attribute) = visitedProperties[place] else {
      return nil
    }
    return attribute
  }
}

extension EntityDescription {
  /// Returns the entity with relationships that lead to the classes which a program's description of it names.
  fileprivate func leading(as described: [EntityDescription]) -> EntityDescription {
    guard let given = described.first(where: { $0.name == name }) else { return self }
    var entity = self
    entity.properties = properties.map { property in
      guard case .relationship(var relationship) = property,
        let destination = given.property(named: relationship.name)?.relationship?.destination
      else { return property }
      relationship.destination = destination
      return .relationship(relationship)
    }
    return entity
  }
}
