import Predicates

// Functions that the accessors of embedded values call.

extension ManagedObject {
  /// Returns the value of a property with an embedded value.
  ///
  /// - Parameter ordinal: counts the model's properties with embedded values from 0.
  public func _$embedded<Value: EmbeddedProperty>(
    _ ordinal: Int,
    _ cache: inout EmbeddedCache<Value>
  ) -> Value {
    let first = _$objectModel.firstSlot(ofEmbedded: ordinal)
    if _$state.phase == .tracer { return tracer.embedded(of: self, ordinal, at: first, &cache.parts) }
    return cache.parts.value(of: self, at: first)
  }

  /// Finds the parts that change, and tells the context: the first step of setting an embedded value. The second step
  /// is separate, because in this one the context may look at the cache.
  public func _$willSetEmbedded<Value: EmbeddedProperty>(
    _ ordinal: Int,
    _ cache: inout EmbeddedCache<Value>,
    _ value: Value
  ) -> EmbeddedChange {
    var old = oldParts(ordinal, &cache)
    var new = Value._Parts(value)
    let first = _$objectModel.firstSlot(ofEmbedded: ordinal)
    let parts = 0..<Value._Parts.count
    let changed = parts.filter { part in
      guard _$state.phase != .new else { return true }
      var (before, after) = (PartReader(), PartReader())
      old.visit(part, at: part, &before)
      new.visit(part, at: part, &after)
      return before.value != after.value
    }
    // If a value becomes nil, or is no longer nil, all its parts change.
    let isWhole = changed.first == 0 && Value._Parts.attributes[0].name.isEmpty
    return EmbeddedChange(slots: (isWhole ? Array(parts) : changed).map { first + $0 })
  }

  /// Returns the parts as they are, all of them there.
  private func oldParts<Value: EmbeddedProperty>(
    _ ordinal: Int,
    _ cache: inout EmbeddedCache<Value>
  ) -> Value._Parts {
    let first = _$objectModel.firstSlot(ofEmbedded: ordinal)
    for slot in first..<first + Value._Parts.count where !_$state.isLoaded(slot) {
      var loader = PartLoader(value: attributeValue(at: slot))
      cache.parts.visit(slot - first, at: slot, &loader)
      if loader.isLoaded { _$state.didLoad(slot) }
    }
    return cache.parts
  }

  /// Reports that the parts are about to change: the second step.
  public func _$didSetEmbedded(_ change: EmbeddedChange) {
    for slot in change.slots { _$willSet(slot) }
  }
}

/// The parts of an embedded value that a new value changes.
public struct EmbeddedChange {
  let slots: [Int]
}

private struct PartReader: PropertyVisitor {
  var value = AttributeValue.null

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    value = cache.stored?._attributeValue ?? .null
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

/// Fills the cache of a part with a value of the record.
private struct PartLoader: PropertyVisitor {
  let value: AttributeValue
  var isLoaded = false

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    guard let value = Value(_attributeValue: value) else { return }
    cache = Cached(value)
    isLoaded = true
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}
