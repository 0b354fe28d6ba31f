import Predicates

// Functions that the accessors of attributes call if they can't return or set the cache at once.

extension ManagedObject {
  /// Returns the value of an attribute whose slot isn't in `fast`, decoded from the object's record.
  @inlinable
  public func _$load<Value: AttributeType>(_ slot: Int, _ cache: inout Cached<Value>) -> Value {
    if _$state.reportsReading { _$noteReading(slot) }
    if _$state.isLoaded(slot) {
      _$state.didLoad(slot)
      return cache.value
    }
    guard let bytes = _$state.currentRecord ?? _$findRecord() else { return _$unavailable(slot, &cache) }
    guard let value = Value(_record: _$view(of: bytes), slot: slot) else { return _$unreadable(slot, &cache) }
    cache = Cached(value)
    _$state.didLoad(slot)
    return value
  }

  /// Returns a view of the object's record, which has these bytes.
  // The model's layout is read in place: a copy of it, as `_$layout` returns, counts references.
  @inlinable
  package func _$view(of bytes: UnsafeRawBufferPointer) -> RecordView {
    if _$state.hostHasOtherLayouts { return RecordView(validated: bytes, layout: _$layout) }
    return RecordView(validated: bytes, layout: _$objectModel.layout)
  }

  /// The layout of the object's record: the model's, unless the store has the values in another order.
  @inlinable
  package var _$layout: RecordLayout {
    guard _$state.hostHasOtherLayouts, let host = _$state.host else { return _$objectModel.layout }
    return host._$layout(of: self)
  }

  /// Looks up the object's record. Nil when there is none or it can't be read; the host knows why.
  @inlinable
  package func _$findRecord() -> UnsafeRawBufferPointer? {
    guard let host = _$state.host, let bytes = host._$record(of: self) else { return nil }
    _$state.setRecord(bytes, generation: host.generation)
    return bytes
  }

  /// Returns the object's record, or nil when there is none or it can't be read.
  func findRecord() -> UnsafeRawBufferPointer? { _$state.currentRecord ?? _$findRecord() }

  /// Returns the value of an attribute of an object that has no record.
  @usableFromInline
  package func _$unavailable<Value: AttributeType>(_ slot: Int, _ cache: inout Cached<Value>) -> Value {
    switch _$state.phase {
    case .tracer: return tracer.value(of: self, slot: slot)
    case .new:
      guard let make = _$objectModel.insertionDefaults[slot], let value = Value(made: make()) else {
        return .unreadable
      }
      cache = Cached(value)
      _$state.didLoad(slot)
      return value
    default: return .unreadable
    }
  }

  /// Returns the value of an attribute for which the record holds something other than a value: a reference to a value
  /// that lies elsewhere, or invalid bytes.
  @usableFromInline
  package func _$unreadable<Value: AttributeType>(_ slot: Int, _ cache: inout Cached<Value>) -> Value {
    if _$layout.fields[slot].kind.isExternal {
      guard let stored = _$state.host?.externalValue(of: self, slot: slot),
        let value = Value(_attributeValue: stored)
      else { return .unreadable }
      cache = Cached(value)
      _$state.didLoad(slot)
      return value
    }
    _$state.host?.unreadableValue(of: self, slot: slot)
    return .unreadable
  }

  /// Gives a new object that is about to be inserted the values that it lacks.
  func makeInsertionDefaults() {
    let model = _$objectModel
    let lacking = SlotSet(rawValue: model._$insertionSlots).subtracting(_$state.loaded)
    if lacking.isEmpty { return }
    let own = (self as? ManagedRecord)?.insertionSlots ?? model.insertionSlots(of: type(of: self))
    for slot in lacking {
      if own.contains(slot), let make = model.insertionDefaults[slot] {
        var writer = AttributeWriter(value: make())
        _$visit(slot, &writer)
      }
      _$state.didLoad(slot)
    }
  }

  /// Reports that a slot is about to be set, and marks the slot as set. A setter calls this before it changes the
  /// slot's cache.
  @inlinable @inline(__always)
  public func _$willSet(_ slot: Int) {
    if !_$state.hearers.isEmpty { _$announceChange(slot) }
    _$state.didSet(slot)
  }

  /// Reports that a slot is about to be set: to observers, and to the context. The context is told of the first change
  /// since the object had no changes, or of every change if it asks for that.
  @inlinable
  package func _$announceChange(_ slot: Int) {
    if _$state.reportsReading, let host = _$state.host, _$state.isObserved || host.hasObservableChildren {
      host._$willSet(self, slot)
    }
    guard _$state.announcesChange else { return }
    _$state.announcesChange = false
    _$state.host?._$willChange(self, slot)
  }

  /// Tells the context that an attribute is read.
  @inlinable
  package func _$noteReading(_ slot: Int) { _$state.host?._$noteReading(self, slot, _$state.isObserved) }

  /// Tells the context that a property is read, if the context asks for that.
  func noteReading(_ property: ObservedProperty) {
    if _$state.reportsReading { _$state.host?.noteReading(of: self, property, _$state.isObserved) }
  }
}

/// Sets an attribute to a value of its type.
private struct AttributeWriter: PropertyVisitor {
  let value: any AttributeType

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    cache = Cached(Value(made: value) ?? .unreadable)
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

extension AttributeType {
  /// Makes a value of this type from the value that an insertion makes. The attributes of records have another type
  /// than that value.
  fileprivate init?(made value: any AttributeType) {
    if let value = value as? Self { self = value } else { self.init(_attributeValue: value._attributeValue) }
  }

  /// The result of a getter without a value: nil, or any value for a type without nil.
  @usableFromInline package static var unreadable: Self { Self(_attributeValue: .null) ?? anyValue }
}
