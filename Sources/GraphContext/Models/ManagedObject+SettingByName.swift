import Predicates

// Setting attributes by name.

extension ManagedObject {
  /// Sets an attribute by its name; `null` for nil. An attribute of an embedded value has the names along the way:
  /// `home.city`.
  ///
  /// ```swift
  /// for (name, value) in row { try song.setValue(value, forKey: name) }
  /// ```
  ///
  /// Rules of the attribute are checked by the save. ``value(forKeyPath:)`` reads by name.
  ///
  /// - Throws: `unknownProperty` when the entity has no attribute of this name; `wrongValue` when the value is of
  ///   another kind than the attribute, out of its range, or nil for one that takes none; `derivedValue` when the
  ///   attribute is derived. Nothing is set then.
  public func setValue(_ value: AttributeValue, forKey name: String) throws(ContextError) {
    let (slot, accepted) = try accepted(value, name)
    var trial = AttributeSetter(accepted, isTrial: true)
    _$visit(slot, &trial)
    // The attribute is of another class of the hierarchy.
    guard trial.isVisited else { throw unknown(name, "attribute") }
    let lacksNil = accepted.isNull && attribute(slot)?.isOptional == false
    guard trial.isAccepted, !lacksNil else {
      throw error(.wrongValue, name, "can't \(accepted.isNull ? "be nil" : "have this value")")
    }
    _$willSet(slot)
    var setter = AttributeSetter(accepted, isTrial: false)
    _$visit(slot, &setter)
  }

  /// Returns the value as the attribute has it, and the attribute's slot.
  func accepted(
    _ value: AttributeValue,
    _ name: String
  ) throws(ContextError) -> (slot: Int, value: AttributeValue) {
    let slot = try attributeSlot(name)
    if attribute(slot)?.derivation != nil {
      throw error(.derivedValue, name, "is derived: the store makes it")
    }
    let kind = _$objectModel.layout.fields[slot].kind
    if value.isNull { return (slot, .null) }
    guard let converted = kind.value(from: value), hasElements(converted, slot),
      converted != .bool(false) || !isFlagOfParts(name)
    else {
      let type = attribute(slot)?.typeText ?? "\(kind)"
      throw error(.wrongValue, name, "takes a value of the kind \(type), and not this one")
    }
    return (slot, converted)
  }

  /// Returns true for the attribute that stands for a whole embedded value. The attribute is true where the value is
  /// there, else nil.
  private func isFlagOfParts(_ name: String) -> Bool {
    _$objectModel.visitedNames.contains { $0.hasPrefix("\(name).") }
  }

  /// Returns whether the JSON for a list has elements of the list's kind; true for an attribute that is no list.
  private func hasElements(_ value: AttributeValue, _ slot: Int) -> Bool {
    guard let kind = attribute(slot)?.elementKind, case .string(let json) = value else { return true }
    guard let elements = try? ListElements.values(of: json, kind) else { return false }
    return elements.allSatisfy { $0.isNull || kind.value(from: $0) != nil }
  }

  /// Returns whether an attribute of this name can be read back from a value.
  func canRead(_ value: AttributeValue, forKey name: String) -> Bool {
    guard let (slot, converted) = try? accepted(value, name) else { return false }
    var trial = AttributeSetter(converted, isTrial: true)
    _$visit(slot, &trial)
    return trial.isAccepted
  }

  func attributeSlot(_ name: String) throws(ContextError) -> Int {
    guard let place = _$objectModel.place(of: name),
      !_$objectModel.visitedProperties[place].isRelationship, !_$objectModel.visitedProperties[place].isPlace
    else { throw unknown(name, "attribute") }
    return place
  }

  func attribute(_ slot: Int) -> AttributeDescription? {
    guard case .attribute(let attribute) = _$objectModel.visitedProperties[slot] else { return nil }
    return attribute
  }
}

/// Puts a value into the cache of an attribute whose type takes it, or only finds out whether it does.
struct AttributeSetter: PropertyVisitor {
  private let value: AttributeValue
  private let isTrial: Bool
  private(set) var isVisited = false
  private(set) var isAccepted = false

  init(_ value: AttributeValue, isTrial: Bool) { (self.value, self.isTrial) = (value, isTrial) }

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    isVisited = true
    guard let typed = Value(_attributeValue: value) else { return }
    isAccepted = true
    if !isTrial { cache = Cached(typed) }
  }

  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}

  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

// MARK: - Errors

extension ManagedObject {
  /// - Parameter sort: what the entity lacks: an attribute, a to-one relationship.
  func unknown(_ name: String, _ sort: String) -> ContextError {
    let message = "\(entityLabel.name) has no \(sort) named “\(name)”"
    return ContextError(.unknownProperty, message, context: errorContext(name))
  }

  /// - Parameter message: the end of a sentence whose subject is the property.
  func error(_ code: ContextError.Code, _ name: String, _ message: String) -> ContextError {
    ContextError(code, "\(entityLabel.name).\(name) \(message)", context: errorContext(name))
  }

  private func errorContext(_ name: String) -> ContextError.Context {
    .init(
      entity: entityLabel.name,
      objectID: _$state.number.isNone ? nil : objectID,
      properties: [name]
    )
  }
}
