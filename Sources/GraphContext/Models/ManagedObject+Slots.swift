import Predicates

// Functions with which a context reads and writes the slots of an object by number, without knowing its class.

extension ManagedObject {
  /// Visits every attribute and to-one relationship, then every to-many relationship.
  func visitAll(_ visitor: inout some PropertyVisitor) {
    for property in 0..<_$objectModel.visitedNames.count { _$visit(property, &visitor) }
  }

  /// Calls a function with an object that is made only for the types of its properties: a tracer, whose model is known
  /// without following key paths. Afterwards the object is in the phase `gone`, because the model's `deinit` may read
  /// properties.
  static func withSample(_ body: (Self) -> Void) {
    let sample = Self(_$state: .sample)
    body(sample)
    sample._$state.leaveTracer()
  }

  /// Returns the value of a slot, read from the record if it isn't loaded; `null` when it can't be read.
  func attributeValue(at slot: Int) -> AttributeValue {
    if !_$state.isLoaded(slot) {
      guard let bytes = findRecord() else { return .null }
      let record = _$view(of: bytes)
      guard record.externalReference(slot) != nil else { return record.value(slot) }
      return _$state.host?.externalValue(of: self, slot: slot) ?? .null
    }
    var reader = SlotReader()
    _$visit(slot, &reader)
    return reader.value
  }

  /// Reads every attribute that isn't loaded from the record, if there is one.
  func loadAttributes() {
    guard let bytes = findRecord() else { return }
    var loader = RecordLoader(bytes, _$layout)
    for slot in 0..<_$objectModel.slotCount where !_$state.isLoaded(slot) {
      loader.hasLoadedAttribute = false
      _$visit(slot, &loader)
      if loader.hasLoadedAttribute { _$state.didLoad(slot) }
    }
    loadExternalAttributes()
  }

  /// Reads every attribute that isn't loaded and whose value lies outside of the record.
  private func loadExternalAttributes() {
    for slot in 0..<_$objectModel.slotCount
    where !_$state.isLoaded(slot) && _$layout.fields[slot].kind.isExternal {
      guard let value = _$state.host?.externalValue(of: self, slot: slot) else { continue }
      var writer = SlotWriter(value: value)
      _$visit(slot, &writer)
      _$state.didLoad(slot)
    }
  }

  /// Returns the number at the other end of a to-one relationship; `none` for nil.
  func reference(at slot: Int) -> ObjectNumber {
    if case .reference(let number) = attributeValue(at: slot) { number } else { .none }
  }

  /// Sets a to-one relationship by number, and marks the object as changed. The caller has updated the inverse.
  func setReference(at slot: Int, to number: ObjectNumber) {
    _$willSet(slot)
    var writer = ReferenceWriter(number: number)
    _$visit(slot, &writer)
  }

  /// Brings the objects that this object's relationships lead to into the context, and from then on refers to them by
  /// number. Called after this object was given its number in a context.
  ///
  /// Calls the host's `adopt` for each. The host should queue the adopted objects rather than call this again, or a
  /// long chain of new objects overflows the stack.
  func attachRelationships() {
    guard let host = _$state.host else { return }
    for property in _$objectModel.relationshipProperties {
      var taker = UnattachedTaker()
      _$visit(property, &taker)
      let targets = taker.targets.filter {
        host.adopt($0) && host.accepts($0, of: self, property: property)
      }
      let slotCount = _$objectModel.slotCount
      if property < slotCount {
        guard let target = targets.first else { continue }
        let number = target._$state.number
        var writer = ReferenceWriter(number: number)
        _$visit(property, &writer)
        host.didSetToOne(of: self, slot: property, from: .none, to: number)
      } else {
        for member in targets { host.add(member, to: self, toMany: property - slotCount) }
        host.arrange(targets.map(\._$state.number), of: self, toMany: property - slotCount)
      }
    }
  }

  /// Takes the object out of its context after an insertion was rolled back: the object then leads to no others.
  func detach() {
    var dropper = RelationshipDropper(dropsReferences: true)
    for property in _$objectModel.relationshipProperties { _$visit(property, &dropper) }
    _$state.becomeNew()
  }
}

private struct SlotReader: PropertyVisitor {
  var value = AttributeValue.null

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    value = cache.stored?._attributeValue ?? .null
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    value = cache.number.isNone ? .null : .reference(cache.number)
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

/// Sets an attribute to a value of its kind.
struct SlotWriter: PropertyVisitor {
  let value: AttributeValue

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    if let value = Value(_attributeValue: value) { cache = Cached(value) }
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

private struct ReferenceWriter: PropertyVisitor {
  let number: ObjectNumber

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    cache.number = number
    cache.unattached = nil
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

/// Takes the objects out that were assigned while there was no context. The collected objects are used only after the
/// visit, because a context may read the cache then.
private struct UnattachedTaker: PropertyVisitor {
  var targets: [any ManagedObject] = []

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    if let target = cache.unattached?.target { targets = [target] }
    cache.unattached = nil
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {
    targets = cache.unattached?.list ?? []
    cache.unattached = nil
  }
}

/// Drops what an object keeps of its members.
struct RelationshipDropper: PropertyVisitor {
  /// True if the visitor also sets to-one relationships to nil.
  var dropsReferences = false

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    if dropsReferences { cache = ToOneReference() }
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {
    cache = ToManyMembers()
  }
}
