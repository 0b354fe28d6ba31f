import Predicates

/// The values that observed properties show. They are compared with the values after a change that doesn't say which
/// properties it changes, such as an undo or a merge.
struct ShownValues {
  private enum Value: Equatable {
    case attribute(AttributeValue)
    case members([ObjectNumber])
    case isDeleted(Bool)
  }

  private struct Shown {
    let context: ManagedObjectContext
    let key: ObjectKey
    let object: any ManagedObject
    let property: ObservedProperty
    let value: Value
  }
  private var values: [Shown] = []

  /// Returns the value that a property of a context's object shows.
  private static func value(
    _ property: ObservedProperty,
    of object: any ManagedObject,
    in context: ManagedObjectContext
  ) -> Value {
    let state = object._$state
    switch property {
    case .slot(let slot):
      let model = object._$objectModel
      // An object that has left its context leads nowhere.
      if state.host == nil, model.visitedProperties[slot].isRelationship { return .attribute(.null) }
      let value = object.attributeValue(at: slot)
      if !value.isNull { return .attribute(value) }
      // Where there is no value, a getter may show another one than nil.
      var reader = UnreadableReader()
      object._$visit(slot, &reader)
      return .attribute(reader.value)
    case .toMany(let ordinal):
      return .members(state.host === context ? context.elements(of: object, toMany: ordinal) : [])
    case .isDeleted: return .isDeleted(state.phase == .deleted || state.phase == .gone)
    }
  }

  /// Notes the values that properties of an object show.
  mutating func note(
    _ properties: [ObservedProperty],
    of key: ObjectKey,
    _ object: any ManagedObject,
    in context: ManagedObjectContext
  ) {
    if properties.isEmpty { return }
    context.withoutFailures {
      for property in properties {
        let value = Self.value(property, of: object, in: context)
        values.append(
          Shown(context: context, key: key, object: object, property: property, value: value)
        )
      }
    }
  }

  /// Tells the observers of properties that show another value now.
  func tellOfDifferences() {
    for shown in values {
      let isSame = shown.context.withoutFailures {
        Self.value(shown.property, of: shown.object, in: shown.context) == shown.value
      }
      if !isSame { shown.context.observation?.tell(shown.key) { $0 == shown.property } }
    }
  }
}

/// A visitor that finds the value that an attribute shows if it can't be read.
private struct UnreadableReader: PropertyVisitor {
  var value = AttributeValue.null

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    value = Value.unreadable._attributeValue
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

extension ManagedObjectContext {
  /// Runs `body`, which reads for observers alone. If it can't read a value, no call of the program fails because of
  /// that.
  fileprivate func withoutFailures<Result>(_ body: () -> Result) -> Result {
    let known = deferred
    defer { deferred = known }
    return body()
  }

  /// Returns the values that observed properties of the context and of its children show.
  ///
  /// - Parameter isWanted: whether a property may change.
  func shownValues(
    where isWanted: (ObjectKey, ObservedProperty) -> Bool = { _, _ in true }
  ) -> ShownValues {
    var shown = ShownValues()
    noteShown(in: &shown, where: isWanted)
    return shown
  }

  private func noteShown(
    in shown: inout ShownValues,
    where isWanted: (ObjectKey, ObservedProperty) -> Bool
  ) {
    guard let observation else { return }
    observation.forEach { key, object, properties in
      shown.note(properties.filter { isWanted(key, $0) }, of: key, object, in: self)
    }
    children.forEach { $0.noteShown(in: &shown, where: isWanted) }
  }

  /// Returns the values that the observed properties of an object show in this context.
  func shownValues(of object: any ManagedObject) -> ShownValues {
    var shown = ShownValues()
    if let observation, !observation.isEmpty {
      let key = key(of: object)
      shown.note(observation.properties(of: key), of: key, object, in: self)
    }
    return shown
  }

  /// Runs `body`, and then tells the observers of properties that show another value than before, here and in children.
  func tellingObservers<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if observation == nil { return try body() }
    let shown = shownValues()
    holdObservers(true)
    defer {
      holdObservers(false)
      shown.tellOfDifferences()
    }
    return try body()
  }

  /// Begins or ends holding back the observers of the context and of its children during an operation that may set
  /// values and then set them back.
  func holdObservers(_ isHeld: Bool) {
    observation?.hold(isHeld)
    children.forEach { $0.holdObservers(isHeld) }
  }

  // MARK: Commits

  /// Returns the values of the observed properties that commits may change.
  ///
  /// - Parameter isWanted: whether another property is wanted too.
  func shownValues(
    before changeSets: [ChangeSet],
    _ ruleChanges: RuleChanges,
    or isWanted: (ObjectKey, ObservedProperty) -> Bool = { _, _ in false }
  ) -> ShownValues {
    if !hasObservers { return ShownValues() }
    let changes = CommittedChanges(changeSets, ruleChanges, coordinator.schema) { observes($0) }
    return shownValues { changes.mayChange($1, of: $0, coordinator.schema) || isWanted($0, $1) }
  }

  /// Returns whether the context or a child has observers of an object.
  private func observes(_ key: ObjectKey) -> Bool {
    guard let observation else { return false }
    if observation.observes(key) { return true }
    var isObserved = false
    children.forEach { isObserved = isObserved || $0.observes(key) }
    return isObserved
  }
}

/// The changes of commits that observers may see.
private struct CommittedChanges {
  /// The slots of observed objects; all of an object that was deleted and perhaps made again.
  private var slots: [ObjectKey: SlotSet] = [:]
  private var deleted: Set<ObjectKey> = []
  /// The slots of any object, by the ordinal of the entity; all where objects came or went.
  private var slotsOfEntities: [Int: SlotSet] = [:]
  /// To-many relationships of which pairs were linked or unlinked, by the ordinal of the entity and their own.
  private var linked: Set<[Int]> = []

  init(
    _ changeSets: [ChangeSet],
    _ ruleChanges: RuleChanges,
    _ schema: ResolvedSchema,
    isObserved: (ObjectKey) -> Bool
  ) {
    for (number, objects) in ruleChanges.objects {
      guard let entity = schema.entity(number)?.ordinal else { continue }
      for (number, slots) in objects.updated {
        note(slots, of: ObjectKey(entity: entity, number: number), isObserved)
      }
      for number in objects.deleted {
        noteDeleted(ObjectKey(entity: entity, number: number), isObserved)
      }
    }
    for changes in changeSets {
      for relationship in changes.links.keys { noteLinks(of: relationship, schema) }
      for (number, objects) in changes.objects {
        guard let entity = schema.entity(number)?.ordinal else { continue }
        for update in objects.updated {
          note(update.slots, of: ObjectKey(entity: entity, number: update.number), isObserved)
        }
        for number in objects.deleted {
          noteDeleted(ObjectKey(entity: entity, number: number), isObserved)
        }
        if !objects.inserted.isEmpty { slotsOfEntities[entity] = .all }
      }
    }
  }

  private mutating func noteLinks(of relationship: ChangeSet.Relationship, _ schema: ResolvedSchema) {
    guard let source = schema.entity(relationship.entity) else { return }
    for toMany in source.toManys {
      guard case .pairs(let trees) = toMany.storage, trees.relationship == relationship else { continue }
      linked.insert([source.ordinal, toMany.ordinal])
      if let inverse = trees.inverse { linked.insert([toMany.destination, inverse]) }
    }
  }

  private mutating func note(_ slots: SlotSet, of key: ObjectKey, _ isObserved: (ObjectKey) -> Bool) {
    slotsOfEntities[key.entity, default: .empty].formUnion(slots)
    if isObserved(key) { self.slots[key, default: .empty].formUnion(slots) }
  }

  private mutating func noteDeleted(_ key: ObjectKey, _ isObserved: (ObjectKey) -> Bool) {
    note(.all, of: key, isObserved)
    if isObserved(key) { deleted.insert(key) }
  }

  func mayChange(_ property: ObservedProperty, of key: ObjectKey, _ schema: ResolvedSchema) -> Bool {
    if deleted.contains(key) { return true }
    guard case .toMany(let ordinal) = property else { return property.isAmong(slots[key] ?? .empty) }
    let toMany = schema.entities[key.entity].toManys[ordinal]
    let slots = slotsOfEntities[toMany.destination] ?? .empty
    switch toMany.storage {
    case .references(let slot, _):
      let places = schema.entities[toMany.destination].places(of: SlotSet(slot))
      return slots.contains(slot) || !slots.isDisjoint(with: places)
    case .pairs: return slots == .all || linked.contains([key.entity, ordinal])
    }
  }
}
