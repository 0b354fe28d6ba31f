import Predicates

// What the accessors of attributes call when the short way is closed.

extension ManagedObject {
  /// The value of an attribute whose `fast` bit is clear: decodes it from the object's record.
  @inlinable
  public func _$load<Value: AttributeType>(_ slot: Int, _ cache: inout Cached<Value>) -> Value {
    if let bytes = _$state.currentRecord, !_$state.isLoaded(slot),
      let value = Value(record: RecordView(validated: bytes, layout: Self._$model.layout), slot: slot)
    {
      cache = Cached(value)
      _$state.didLoad(slot)
      return value
    }
    return _$find(slot, &cache)
  }

  /// The value of an attribute whose record has yet to be found, or whose object is a tracer or gone.
  @usableFromInline
  package func _$find<Value: AttributeType>(_ slot: Int, _ cache: inout Cached<Value>) -> Value {
    if _$state.isLoaded(slot) { return cache.value }
    if _$state.phase == .tracer { return tracer.value(of: self, slot: slot) }
    guard let value = decode(slot, as: Value.self) else { return Value.unreadable }
    cache = Cached(value)
    _$state.didLoad(slot)
    return value
  }

  /// Reads a slot from the record, which is looked up if need be. Nil when it can't be read; the host knows why.
  private func decode<Value: AttributeType>(_ slot: Int, as type: Value.Type) -> Value? {
    guard let bytes = findRecord() else { return nil }
    let record = RecordView(validated: bytes, layout: Self._$model.layout)
    guard let value = Value(record: record, slot: slot) else {
      _$state.host?.unreadableValue(of: self, slot: slot)
      return nil
    }
    return value
  }

  /// The object's record, or nil when there is none or it can't be read.
  package func findRecord() -> UnsafeRawBufferPointer? {
    if let bytes = _$state.currentRecord { return bytes }
    guard let host = _$state.host, let bytes = host.record(of: self) else { return nil }
    _$state.setRecord(bytes, generation: host.generation)
    return bytes
  }

  /// To be called by a setter before it changes the slot's cache.
  @inlinable @inline(__always)
  public func _$willSet(_ slot: Int) {
    if _$state.announcesChange { _$announceChange() }
    _$state.didSet(slot)
  }

  /// Tells the context of the first change since the object had none.
  @usableFromInline
  package func _$announceChange() {
    _$state.announcesChange = false
    _$state.host?.willChange(self)
  }
}

extension AttributeType {
  /// What a getter returns when there is no value to return: nil, or for a type without nil any value.
  fileprivate static var unreadable: Self { Self(attributeValue: .null) ?? tracerValue }
}
