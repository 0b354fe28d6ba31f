import Predicates

// Functions that the accessors of relationships call.

extension ManagedObject {
  // MARK: To-one

  /// Returns the object that a to-one relationship leads to.
  @inlinable
  public func _$toOne<Target: ManagedObject>(_ slot: Int, _ cache: inout ToOneReference<Target>) -> Target? {
    guard _$hasNumber(slot, &cache) else { return _$lookUpToOne(slot, &cache) }
    return cache.number.isNone ? nil : _$target(cache.number, slot)
  }

  /// Returns true if the cache holds the number of the object at the other end. The function reads it from the record
  /// if the object has its record already. Returns false for an object that reports reads: ``_$lookUpToOne(_:_:)``
  /// reports them.
  @inlinable
  package func _$hasNumber<Target: ManagedObject>(_ slot: Int, _ cache: inout ToOneReference<Target>) -> Bool
  {
    if _$state.isFast(slot) { return cache.unattached == nil }
    guard !_$state.reportsReading, !_$state.isLoaded(slot), let bytes = _$state.currentRecord else {
      return false
    }
    cache.number = _$view(of: bytes).reference(slot)
    cache.unattached = nil
    _$state.didLoad(slot)
    return true
  }

  @usableFromInline
  package func _$lookUpToOne<Target: ManagedObject>(
    _ slot: Int,
    _ cache: inout ToOneReference<Target>
  ) -> Target? {
    noteReading(.slot(slot))
    if _$state.phase == .tracer { return tracer.optionalTarget(of: self, slot: slot) }
    if let target = cache.unattached?.target { return target }
    loadNumber(slot, &cache)
    return cache.number.isNone ? nil : _$target(cache.number, slot)
  }

  /// Returns the object of a number that a relationship leads to; nil for an object in no context, and where
  /// ``hasTarget(_:_:)`` is false.
  @usableFromInline
  package func _$target<Target: ManagedObject>(_ number: ObjectNumber, _ slot: Int) -> Target? {
    guard hasTarget(number, slot) else { return nil }
    return _$state.host?.object(Target.self, number, of: self, property: slot)
  }

  /// Returns false if a to-one relationship of a deleted object leads to an object that was never saved, and that was
  /// deleted as well.
  func hasTarget(_ number: ObjectNumber, _ slot: Int) -> Bool {
    guard _$state.phase == .deleted, let host = _$state.host else { return true }
    return host.hasTarget(number, of: self, property: slot)
  }

  /// Returns the object that a required to-one relationship leads to. If that object can't be read, returns one that
  /// stands for a missing object.
  public func _$requiredToOne<Target: ManagedObject>(
    _ slot: Int,
    _ cache: inout ToOneReference<Target>
  ) -> Target {
    if _$state.phase == .tracer { return tracer.target(of: self, slot: slot) }
    if let target = _$toOne(slot, &cache) { return target }
    return Target(_$state: ObjectState(missingIn: _$state.host?.storeTag ?? _$state.storeTag))
  }

  /// Brings the target into the context that this object is in: the first step of setting a to-one relationship.
  public func _$willSetToOne(_ target: (some ManagedObject)?) {
    if let target { _$state.host?.adopt(target) }
  }

  /// Fills the cache: the second step. It is separate, because in the other steps the context may read the cache, or
  /// even fill it.
  public func _$setToOne<Target: ManagedObject>(
    _ slot: Int,
    _ cache: inout ToOneReference<Target>,
    _ target: Target?
  ) -> ToOneChange? {
    guard let host = _$state.host else {
      cache = ToOneReference(target)
      _$state.didSet(slot)
      return target?._$state.host.map { .leading(into: $0) }
    }
    // A target that was deleted, or whose context was reset, didn't enter. The context remembers that, and nothing else
    // happens.
    if let target, target._$state.host !== host { return nil }
    if let target, !host.accepts(target, of: self, property: slot) { return nil }
    loadNumber(slot, &cache)
    let old = cache.number
    let new = target?._$state.number ?? .none
    guard new != old else { return nil }
    _$willSet(slot)
    cache.number = new
    return .numbers(old: old, new: new)
  }

  /// Updates the inverse: the last step.
  public func _$didSetToOne(_ slot: Int, _ change: ToOneChange?) {
    switch change {
    case .numbers(let old, let new): _$state.host?.didSetToOne(of: self, slot: slot, from: old, to: new)
    case .leading(let host): host.reach(self, by: slot)
    case nil: break
    }
    _$state.host?.awakeInserted()
  }

  /// Inserts an object that is in no context into the context of its members, if a member is in a context and leads
  /// back. If a list was changed in place, only the last members are looked at. So a long sequence of appends takes
  /// time in proportion to its length.
  private func enterContext<Members: RelationshipCollection>(
    ofMembers members: Members,
    _ ordinal: Int,
    _ isWhole: Bool
  ) {
    let list = members._relatedObjects
    guard let host = list.suffix(isWhole ? list.count : 16).lazy.compactMap({ $0._$state.host }).first else {
      return
    }
    // The new list replaces the objects kept so far. They are dropped, so that they don't enter the context with this
    // object.
    var dropper = RelationshipDropper()
    _$visit(_$objectModel.slotCount + ordinal, &dropper)
    host.reach(self, by: _$objectModel.slotCount + ordinal)
  }

  /// Fills the cache from the record, if it isn't filled. Without a record the relationship leads nowhere.
  func loadNumber<Target: ManagedObject>(_ slot: Int, _ cache: inout ToOneReference<Target>) {
    if _$state.isLoaded(slot) { return }
    guard let bytes = findRecord() else {
      cache.number = .none
      return
    }
    cache.number = _$view(of: bytes).reference(slot)
    cache.unattached = nil
    _$state.didLoad(slot)
  }

  // MARK: To-many

  /// Returns the objects that a to-many relationship leads to.
  public func _$toMany<Members: RelationshipCollection>(
    _ ordinal: Int,
    _ cache: inout ToManyMembers<Members.Element>
  ) -> Members {
    if _$state.phase == .tracer {
      // One member, because a key path may continue at the first.
      return Members(_relatedObjects: [tracer.touchToMany(of: self, ordinal: ordinal)])
    }
    guard let relationship = ToManyRelationship(of: self, ordinal: ordinal), _$state.phase != .tracer else {
      return Members(_relatedObjects: cache.unattached?.list ?? [])
    }
    noteReading(.toMany(ordinal))
    return Members(_relationship: relationship) ?? Members(_relatedObjects: relationship.objects())
  }

  /// Returns the objects that a to-many relationship leads to, to be changed in place and given to
  /// ``_$putToMany(_:_:)`` afterwards. Members that the object keeps are moved out of it, so that an array grows
  /// without being copied.
  public func _$takeToMany<Members: RelationshipCollection>(
    _ ordinal: Int,
    _ cache: inout ToManyMembers<Members.Element>
  ) -> Members {
    guard let relationship = ToManyRelationship(of: self, ordinal: ordinal), _$state.phase != .tracer else {
      return cache.unattached.take().map { Members(_taking: $0) } ?? Members(_relatedObjects: [])
    }
    if let view = Members(_relationship: relationship) { return view }
    if relationship.host.hasListing(of: self, toMany: ordinal), let listed = cache.unattached.take() {
      return Members(_taking: listed)
    }
    let objects: [Members.Element] = relationship.objects()
    relationship.host.noteListing(objects, of: self, toMany: ordinal)
    return Members(_relatedObjects: objects)
  }

  /// Makes these the members, and returns the members that the object keeps itself. If the object is in a context, the
  /// members enter it too, and the inverses follow.
  ///
  /// - Parameter isWhole: whether the list was assigned, and not changed in place.
  public func _$putToMany<Members: RelationshipCollection>(
    _ ordinal: Int,
    _ members: Members,
    isWhole: Bool = false
  ) -> ToManyMembers<Members.Element> {
    if _$state.host == nil { enterContext(ofMembers: members, ordinal, isWhole) }
    guard let relationship = ToManyRelationship(of: self, ordinal: ordinal) else {
      return ToManyMembers(members)
    }
    // A view of this relationship has written the changes through already.
    if let same = members._relationship, same.isSame(as: relationship) { return ToManyMembers() }
    let list = members._relatedObjects
    switch relationship.host.extendListing(to: list, of: self, toMany: ordinal) {
    case .listed: return ToManyMembers(list)
    case .added: break
    case .otherList: relationship.replaceMembers(by: list, isOrdered: Members._isOrdered)
    }
    return ToManyMembers()
  }
}

/// The change that a setter made to a to-one relationship.
public enum ToOneChange {
  /// A change from one object to another, by number.
  case numbers(old: ObjectNumber, new: ObjectNumber)
  /// A change of an object in no context, to a target in this context.
  case leading(into: ObjectHost)
}
