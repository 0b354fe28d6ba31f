import Predicates

/// An object at hand, in a context or in none, as predicates see it.
struct ObjectSubject: PredicateSubject {
  private let object: any ManagedObject

  init(_ object: any ManagedObject) { self.object = object }

  func value(at path: ResolvedPath) -> AttributeValue {
    let path = path.shortened
    guard let object = follow(path.hops) else { return .null }
    switch path.leaf {
    case .objectID: return .reference(object.identity)
    case .slot(let slot, .reference) where object._$state.host == nil:
      return object.target(at: slot).map { .reference($0.identity) } ?? object.attributeValue(at: slot)
    case .slot(let slot, _): return object.attributeValue(at: slot)
    }
  }

  func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [ObjectSubject] {
    guard var object = follow(owner.hops) else { return [] }
    if case .slot(let slot, _) = owner.leaf {
      guard let target = object.target(at: slot), !target.isDeleted else { return [] }
      object = target
    }
    var members = object.members(of: relationship.ordinal).filter { !$0.isDeleted }
    // Members of an ordered relationship come in its order. Those of an object in no context have no IDs yet.
    if !object._$state.number.isNone { members.sort { $0._$state.number < $1._$state.number } }
    return members.map { ObjectSubject($0) }
  }

  /// Returns the object at the end; nil where one on the way is missing.
  private func follow(_ hops: [ResolvedPath.Hop]) -> (any ManagedObject)? {
    var object = object
    for hop in hops {
      guard let target = object.target(at: hop.slot), !target.isDeleted else { return nil }
      object = target
    }
    return object
  }
}

extension ManagedObject {
  /// The object's number. For an object without a number yet, it is one that no stored object has, and that no other
  /// object without a number has while both exist.
  fileprivate var identity: ObjectNumber {
    if !_$state.number.isNone { return _$state.number }
    let address = UInt64(UInt(bitPattern: ObjectIdentifier(self)))
    guard let place = _$objectModel.classes.firstIndex(where: { $0.type == type(of: self) }) else {
      return ObjectNumber(rawValue: address | 1 << 63)
    }
    // The number contains the class, as any number does. Objects lie 16 bytes apart, so the rest of an address has 44
    // bits. No store has given out half of all numbers.
    return ObjectNumber(rawValue: address >> 4 | 1 << 49).tagged(UInt16(place))
  }

  /// Returns the object that a to-one relationship leads to.
  fileprivate func target(at slot: Int) -> (any ManagedObject)? {
    var follower = Follower(owner: self)
    _$visit(slot, &follower)
    return follower.targets.first
  }

  /// Returns the objects that the to-many relationship with this ordinal leads to.
  fileprivate func members(of ordinal: Int) -> [any ManagedObject] {
    var follower = Follower(owner: self)
    _$visit(_$objectModel.slotCount + ordinal, &follower)
    return follower.targets
  }
}

private struct Follower: PropertyVisitor {
  let owner: any ManagedObject
  var targets: [any ManagedObject] = []

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    if let target = owner._$toOne(slot, &cache) { targets = [target] }
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {
    targets =
      ToManyRelationship(of: owner, ordinal: ordinal)?.objects(as: Target.self) ?? cache.unattached?.list
      ?? []
  }
}
