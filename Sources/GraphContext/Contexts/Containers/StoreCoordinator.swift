import Dispatch
import Foundation
import Predicates
import Synchronization

/// State that the contexts of a store share: its engine, the classes of its objects, and the listeners for commits.
///
/// There is one for each open store in a process, however many containers were opened on it.
package final class StoreCoordinator: Sendable {
  let engine: any StoreEngine
  /// The model classes, by the entity's ordinal: `ManagedRecord` for an entity without a class.
  package let types: [any ManagedObject.Type]
  /// The classes of the entities whose models inherit from each other, by the entity's ordinal.
  let classes: [ModelClasses]
  /// True if models of any entity inherit from each other. If none do, finding an object needs no look-up of its class.
  let hasHierarchies: Bool
  /// True if the schema has many-to-many relationships.
  let hasPairs: Bool
  /// Model of each entity, by ordinal.
  let models: [ModelDescription]
  /// The rules of the attributes that have any, by the entity's ordinal.
  let checks: [[AttributeChecks]]
  /// Rules for the counts of to-many relationships.
  let countRules: CountRules
  /// The policies of saves for existing unique values, by the entity's ordinal and the position among its declared
  /// indexes.
  let uniquePolicies: [[UniquePolicy]]
  /// True if one of ``uniquePolicies`` isn't ``UniquePolicy/error``.
  let settlesUniqueValues: Bool
  /// The slots whose values stay in the history when an object is deleted, by the entity's ordinal; empty for
  /// none.
  private let preservedSlots: [SlotSet]
  /// True if a model's properties are in another order than the store's.
  let hasOtherLayouts: Bool
  /// The executor that runs the blocks of ``PersistentContainer/write(mergePolicy:durability:author:_:)``, one after
  /// the other.
  let writer: QueueExecutor
  private let hidesValues = Atomic(false)
  private let ordinals: [ObjectIdentifier: Int]
  private let listeners = Mutex<[UInt64: @Sendable () -> Void]>([:])
  private let nextListener = Atomic<UInt64>(1)

  /// - Parameters:
  ///   - described: entities without classes as the program has described them: their relationships may lead to a
  ///     subclass, where the schema's lead to its root.
  ///   - queue: runs the blocks that write; nil for a queue of the system's.
  init(
    _ engine: any StoreEngine,
    types: [any ManagedObject.Type],
    described: [EntityDescription] = [],
    queue: DispatchQueue? = nil
  ) {
    writer = QueueExecutor(label: "cambium.writer", target: queue)
    self.engine = engine
    self.types = types
    let models = zip(engine.schema.schema.entities, types).map { entity, type in
      type == ManagedRecord.self ? ModelDescription(entity.leading(as: described)) : type._$model
    }
    self.models = models
    checks = zip(engine.schema.entities, models).map { entity, model in
      entity.schema.stored.enumerated().compactMap { slot, property in
        guard let attribute = model.attribute(named: property.name), !attribute.rules.isEmpty else {
          return nil
        }
        return AttributeChecks(slot: slot, attribute.rules)
      }
    }
    countRules = CountRules(engine.schema, models)
    let preserved = zip(engine.schema.entities, models).map { entity, model in
      entity.schema.stored.enumerated().reduce(into: SlotSet.empty) { slots, property in
        let isPreserved = model.attribute(named: property.element.name)?.preservesValueOnDeletion == true
        if isPreserved { slots.insert(property.offset) }
      }
    }
    preservedSlots = preserved.allSatisfy(\.isEmpty) ? [] : preserved
    let policies = zip(engine.schema.entities, models).map { entity, model in
      entity.declaredIndexes.map { index in
        model.entity.indexes.first { $0.name == index.name }?.ifExists ?? .error
      }
    }
    uniquePolicies = policies
    settlesUniqueValues = policies.joined().contains { $0 != .error }
    hasOtherLayouts = zip(engine.schema.entities, models).contains { !$0.layout.hasPlaces(of: $1.layout) }
    let classes = zip(engine.schema.entities, models).map(ModelClasses.init)
    self.classes = classes
    hasHierarchies = !classes.allSatisfy(\.isEmpty)
    hasPairs = engine.schema.entities.contains { entity in
      entity.toManys.contains { if case .pairs = $0.storage { true } else { false } }
    }
    ordinals = Dictionary(
      zip(types, models).enumerated().flatMap { ordinal, pair in
        let (type, model) = pair
        if type == ManagedRecord.self { return [(ObjectIdentifier(model), ordinal)] }
        return model.types(or: type).map { (ObjectIdentifier($0), ordinal) }
      },
      uniquingKeysWith: { first, _ in first }
    )
  }

  package var schema: ResolvedSchema { engine.schema }
  package var storeID: UUID { engine.storeID }

  /// True if errors show stored values.
  var showsValues: Bool { !hidesValues.load(ordering: .relaxed) }

  /// Makes errors show no values from now on, in all containers on the store.
  func hideValues() { hidesValues.store(true, ordering: .relaxed) }

  /// Returns the entity of a model class, or nil when it isn't among the models.
  func entity(of type: any ManagedObject.Type) -> StoredEntity? { entity(withKey: ObjectIdentifier(type)) }

  /// Returns the entity of objects with this key, or nil if there is none.
  func entity(withKey key: ObjectIdentifier) -> StoredEntity? { ordinals[key].map { schema.entities[$0] } }

  /// Returns the defaults that the model of an entity, or of one of its classes, declares, by slot.
  func defaults(of entity: StoredEntity, classTag: UInt16 = 0) -> [Int: AttributeValue] {
    let model = models[entity.ordinal]
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
    let model = models[entity.ordinal]
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
      return unsafeDowncast(ManagedRecord(state, of: models[ordinal], classPlace: place), to: type)
    }
    if hasHierarchies, !number.isNone, let concrete = classes[ordinal].type(of: number), concrete != type {
      return unsafeDowncast(concrete.init(_$state: state), to: type)
    }
    return Object(_$state: state)
  }

  /// Returns the origin of a save, for the history.
  func origin(_ author: String?, _ contextName: String? = nil) -> SaveOrigin {
    SaveOrigin(author: author, contextName: contextName, preservedSlots: preservedSlots)
  }

  // MARK: News

  /// Tells listeners that the newest commit is another one: a newer one, or an older one after a failed sync.
  func tellListeners() {
    for listener in listeners.withLock({ Array($0.values) }) { listener() }
  }

  /// Adds a listener, which is called after each save, on the thread of the save. It must be quick, and must not save.
  func addListener(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
    let token = nextListener.add(1, ordering: .relaxed).newValue
    listeners.withLock { $0[token] = listener }
    return token
  }

  func removeListener(_ token: UInt64) { listeners.withLock { $0[token] = nil } }
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

extension StoreCoordinator {
  /// Returns whether each relationship of an entity without a class leads to the class that `described` names.
  func leads(as described: [EntityDescription]) -> Bool {
    zip(models, types).allSatisfy { model, type in
      guard type == ManagedRecord.self else { return true }
      let asked = model.entity.leading(as: described).relationships
      return zip(model.entity.relationships, asked).allSatisfy { $0.destination == $1.destination }
    }
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
