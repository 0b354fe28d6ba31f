import Predicates

// Writing values back.

extension ManagedObjectContext {
  /// Inserts an object that has these values. The ID of the values is ignored: the object gets one of its own.
  ///
  /// The class's initialisers are not called; attributes that the values leave out begin as in their declaration, else
  /// as nil, or as an empty value if they can't be nil. Otherwise the insertion is like any other.
  ///
  /// - Throws: `unknownEntity` when the container was made without the model, `abstractClass` for a class that has no
  ///   objects. For the ID of a relationship: `objectNotFound`, `provisionalID`, `unknownEntity` or `wrongDestination`.
  ///   `wrongValue` for a value that can't be encoded, or that its type can't read back from the stored form. Nothing
  ///   has changed then.
  @discardableResult
  public func insert<Values: ModelValues>(_ values: Values) throws(ContextError) -> Values._$Model {
    typealias Model = Values._$Model
    let entity = try modelEntity(of: Model.self)
    _ = try coordinator.models.classTag(of: Model.self, entity)
    let model = Model._$model
    var assignments: [ValueAssignment] = []
    for (name, value) in zip(Values._$names, values.list) {
      assignments.append(try assignment(of: value.value, to: name, in: model, entity))
    }
    let given = Set(assignments.map(\.slot))
    let lacking = model.insertionDefaults.keys.filter { !given.contains($0) }
    let object = Model(_$state: ObjectState(lacking: SlotSet(lacking)))
    object.fill(model, assignments, lacking: Set(lacking))
    for assignment in assignments { try object.check(assignment) }
    adopt(object)
    for assignment in assignments { object.link(assignment, in: self) }
    awakeInserted()
    return object
  }

  /// Sets the properties of the object that the values are of; see ``ManagedObject/apply(_:since:)``.
  ///
  /// - Throws: `objectNotFound` also where the values have no ID, or that of an object which doesn't exist.
  /// - Returns: the object.
  @discardableResult
  public func apply<Values: ModelValues>(
    _ values: Values,
    since base: Values? = nil
  ) throws(ContextError) -> Values._$Model {
    guard let id = values.objectID else {
      throw ContextError(
        .objectNotFound,
        "the values belong to no stored \(Values._$Model.entityName): insert them",
        context: .init(entity: Values._$Model.entityName)
      )
    }
    let object = try existingObject(Values._$Model.self, with: id)
    try object.apply(values, since: base)
    return object
  }

  /// - Throws: where the property can't have the value.
  fileprivate func assignment(
    of value: ColumnValue,
    to name: String,
    in model: ModelDescription,
    _ entity: StoredEntity
  ) throws(ContextError) -> ValueAssignment {
    guard let slot = model.place(of: name) else { fatalError("\(entity.name) has no property \(name)") }
    switch value {
    case .attribute(let value):
      // A value that can't be encoded as JSON gives data without bytes.
      if model.layout.fields[slot].kind == .coded, case .data = value {
        throw ContextError(
          .wrongValue,
          "\(entity.name).\(name) can't have this value: it can't be encoded",
          context: .init(entity: entity.name, properties: [name])
        )
      }
      return .attribute(slot, value)
    case .object(nil): return .toOne(slot, .none)
    case .object(let id?): return .toOne(slot, try destination(id, of: name, slot, entity))
    }
  }

  /// Returns the number of the object that a relationship is to lead to.
  private func destination(
    _ id: ManagedObjectID,
    of name: String,
    _ slot: Int,
    _ entity: StoredEntity
  ) throws(ContextError) -> ObjectNumber {
    let id = storedID(id)
    guard let toOne = entity.toOne(slot: slot) else {
      fatalError("\(entity.name).\(name) is no relationship")
    }
    let destination = coordinator.schema.entities[toOne.destination]
    try check(id, destination)
    guard coordinator.schema.entity(id.entity) === destination,
      coordinator.models.canLead(entity, by: name, to: id.number, of: destination)
    else {
      throw ContextError(
        .wrongDestination,
        "\(entity.name).\(name) leads to \(destination.name), and not to \(id)",
        context: .init(entity: entity.name, objectID: id, properties: [name])
      )
    }
    func find<Target: ManagedObject>(_ type: Target.Type) throws(ContextError) {
      _ = try existingObject(type, number: id.number, destination)
    }
    try find(coordinator.models.types[destination.ordinal])
    return id.number
  }
}

extension ManagedObject {
  /// Sets the properties whose values differ.
  ///
  /// Without a base, these are the properties whose values in the object differ now. With the values that `values` were
  /// made of as the base, these are the properties that differ between the two: a property that was not edited keeps
  /// the value that the object has now. A property that already has its new value is not set, so it is no change.
  /// O(size of the values).
  ///
  /// An embedded value that changes to or from nil is set as a whole. Edited parts of a value that is nil in the object
  /// by now are not set.
  ///
  /// The ID of the values is ignored.
  ///
  /// - Throws: For the ID of a relationship that is set: `objectNotFound`, `provisionalID`, `unknownEntity` or
  ///   `wrongDestination`; `otherContext` where this object is in no context. `wrongValue` for a value that can't be
  ///   encoded, or that its type can't read back from the stored form. No property is set then.
  public func apply<Values: ModelValues>(_ values: Values, since base: Values? = nil) throws(ContextError)
  where Values._$Model == Self {
    let (new, old, now) = (values.list, base?.list, Values(self).list)
    let names = ValuesNames(Values._$names)
    var changed = Set(
      new.indices.filter { place in
        new[place] != now[place] && old.map { $0[place] != new[place] } ?? true
      }
    )
    for flag in new.indices where names.isFlag(at: flag) {
      if changed.contains(flag) || old.map({ $0[flag] != new[flag] }) == true {
        // A value that changes to or from nil differs in all its parts.
        let isSet = changed.contains(flag)
        changed.formUnion(names.parts(ofFlagAt: flag).filter { isSet || new[$0] != now[$0] })
      } else if now[flag].value == .attribute(.null) {
        // The edited part belongs to a value that is nil by now.
        changed.subtract(names.parts(ofFlagAt: flag))
      }
    }
    var assignments: [ValueAssignment] = []
    for place in changed.sorted() {
      assignments.append(try assignment(of: new[place].value, to: Values._$names[place]))
    }
    for assignment in assignments { try check(assignment) }
    for assignment in assignments {
      if case .attribute(let slot, let value) = assignment {
        _$willSet(slot)
        var writer = SlotWriter(value: value)
        _$visit(slot, &writer)
      } else if let context {
        link(assignment, in: context)
      }
    }
  }

  private func assignment(of value: ColumnValue, to name: String) throws(ContextError) -> ValueAssignment {
    if let context {
      return try context.assignment(of: value, to: name, in: _$objectModel, context.entity(of: self))
    }
    if case .attribute(let value) = value, let slot = _$objectModel.place(of: name) {
      return .attribute(slot, value)
    }
    throw ContextError(
      .otherContext,
      "a \(Self.entityName) that is in no context can't be linked by an ID; insert it first",
      context: .init(entity: Self.entityName, properties: [name])
    )
  }
}

/// The new value of a property.
private enum ValueAssignment {
  case attribute(Int, AttributeValue)
  case toOne(Int, ObjectNumber)

  var slot: Int {
    switch self {
    case .attribute(let slot, _), .toOne(let slot, _): slot
    }
  }
}

extension ManagedObject {
  /// - Throws: `wrongValue` for a value that its type can't read back from the stored form: a raw value, say, that the
  ///   failable initialiser refuses and that was set afterwards.
  fileprivate func check(_ assignment: ValueAssignment) throws(ContextError) {
    guard case .attribute(let slot, let value) = assignment, !value.isNull else { return }
    var trial = AttributeSetter(value, isTrial: true)
    _$visit(slot, &trial)
    if !trial.isAccepted {
      throw error(
        .wrongValue,
        _$objectModel.visitedNames[slot],
        "can't have this value: its type can't read it back from what would be stored"
      )
    }
  }

  /// Makes a relationship lead to an object in the context, and the inverse follow.
  fileprivate func link(_ assignment: ValueAssignment, in context: ManagedObjectContext) {
    guard case .toOne(let slot, let new) = assignment else { return }
    let old = reference(at: slot)
    guard old != new else { return }
    setReference(at: slot, to: new)
    context.didSetToOne(of: self, slot: slot, from: old, to: new)
  }

  /// Gives a new object its attributes: the values that are assigned, and for others those of the model.
  ///
  /// - Parameter lacking: slots that get their values with the insertion.
  fileprivate func fill(_ model: ModelDescription, _ assignments: [ValueAssignment], lacking: Set<Int>) {
    var values: [Int: AttributeValue] = [:]
    for case .attribute(let slot, let value) in assignments { values[slot] = value }
    for slot in 0..<model.slotCount where !lacking.contains(slot) {
      guard case .attribute(let attribute) = model.visitedProperties[slot] else { continue }
      if values[slot] == nil, Self.hasInitialValue(of: attribute) { continue }
      var writer = SlotFiller(value: values[slot] ?? attribute.makeInitialValue())
      _$visit(slot, &writer)
    }
  }
}

extension ManagedObject {
  /// Returns true if the property wrappers of a new object have set the attribute already. They do so without an
  /// initialiser of the class.
  fileprivate static func hasInitialValue(of attribute: AttributeDescription) -> Bool {
    attribute.initialValue != nil && self is StoredObject.Type
  }

  /// Makes an object in no context without an initialiser of its class: attributes begin as in their declaration, as
  /// far as the model's description says.
  static func _$makeNew() -> Self {
    let model = _$model
    var lacking = SlotSet(rawValue: model._$insertionSlots)
    var values: [Int: AttributeValue] = [:]
    for slot in 0..<model.slotCount where model.insertionDefaults[slot] == nil {
      guard let attribute = model.visitedProperties[slot].attribute else { continue }
      if attribute.derivation != nil {
        lacking.insert(slot)
      } else if !hasInitialValue(of: attribute) {
        values[slot] = attribute.makeInitialValue()
      }
    }
    let object = Self(_$state: ObjectState(lacking: lacking))
    for (slot, value) in values {
      var filler = SlotFiller(value: value)
      object._$visit(slot, &filler)
    }
    return object
  }
}

/// Gives an attribute a value of its kind, or one that stands for none.
struct SlotFiller: PropertyVisitor {
  let value: AttributeValue

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    cache = Cached(Value(_attributeValue: value) ?? .unreadable)
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}
