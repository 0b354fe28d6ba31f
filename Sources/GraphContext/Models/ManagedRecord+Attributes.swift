import Predicates

// Attributes by name.

extension ManagedRecord {
  /// Returns the value of an attribute; `null` for nil. O(1); the first access reads the record.
  ///
  /// - Throws: `unknownProperty` when the entity has no attribute of this name; the store's error when it can't be
  ///   read.
  public subscript(name: String) -> AttributeValue {
    get throws(ContextError) {
      let slot = try attributeSlot(name)
      let isLoaded = _$state.isLoaded(slot)
      let value = value(at: slot)
      if value.isNull, isStored(slot), !isOptional(slot) {
        _$state.host?.unreadableValue(of: self, slot: slot)
      } else if isLoaded {
        return value
      }
      try context?.checkUsable()
      return value
    }
  }

  /// Returns the value of an attribute as a Swift type; nil for nil.
  ///
  /// - Throws: `wrongValue` when the value is not of this type; else as the subscript.
  public func value<Value: AttributeType>(
    _ name: String,
    as type: Value.Type = Value.self
  ) throws(ContextError) -> Value? {
    let stored = try self[name]
    if stored.isNull { return nil }
    guard let value = Value(_attributeValue: stored) else {
      throw error(.wrongValue, name, "is no \(type)")
    }
    return value
  }

  /// Sets an attribute; `null` for nil. A required attribute may be nil until it is saved.
  ///
  /// - Throws: `unknownProperty` when the entity has no attribute of this name; `wrongValue` when the value is of
  ///   another kind than the attribute, or out of its range; `derivedValue` when the attribute is derived.
  public func set(_ name: String, to value: AttributeValue) throws(ContextError) {
    let (slot, accepted) = try accepted(value, name)
    setValue(accepted, at: slot)
  }

  /// Sets several attributes, all or none.
  ///
  /// ```swift
  /// try song.set(["title": .string("Carey"), "seconds": .double(181.5), "rating": .null])
  /// ```
  ///
  /// - Parameter values: by attribute.
  /// - Throws: as ``set(_:to:)-(String,AttributeValue)``; nothing is set then.
  public func set(_ values: [String: AttributeValue]) throws(ContextError) {
    var checked: [(slot: Int, value: AttributeValue)] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) { checked.append(try accepted(value, name)) }
    for (slot, value) in checked { setValue(value, at: slot) }
  }

  /// Returns the values of attributes by their names; `null` for nil.
  ///
  /// - Parameter names: the attributes; all of the entity if none are given.
  /// - Throws: as the subscript.
  public func dictionary(of names: [String]? = nil) throws(ContextError) -> [String: AttributeValue] {
    var values: [String: AttributeValue] = [:]
    for name in names ?? entity.attributes.map(\.name) { values[name] = try self[name] }
    return values
  }

  /// Sets an attribute to a value of a Swift type, which must have the attribute's kind: `Int` is an `int64`, and no
  /// `double`.
  public func set<Value: AttributeType>(_ name: String, to value: Value) throws(ContextError) {
    try set(name, to: value._attributeValue)
  }

  /// Returns true if the value of a slot is that of the store's record.
  private func isStored(_ slot: Int) -> Bool {
    _$state.phase == .persistent && _$state.isLoaded(slot) && !_$state.changed.contains(slot)
  }

  private func isOptional(_ slot: Int) -> Bool { attribute(slot)?.isOptional ?? true }
}
