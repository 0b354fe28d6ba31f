import Predicates

/// The objects that an object in no context leads to. The object holds them until it is in a context.
///
/// A class, because otherwise releasing the first of a long chain of objects would release the next one recursively,
/// until the stack overflows. Here a loop does it: if nothing else holds an object, the loop takes its targets out
/// before it releases the object.
public class UnattachedObjects {
  init() {}

  /// Releases the objects, and hands out those of their targets that nothing else holds.
  func dismantle(into queue: inout [UnattachedObjects]) {}

  /// Does the work of the deinitialiser of each subclass.
  final func release() {
    var queue: [UnattachedObjects] = []
    dismantle(into: &queue)
    while var next = queue.popLast() {
      if isKnownUniquelyReferenced(&next) { next.dismantle(into: &queue) }
    }
  }

  /// Takes the targets out of an object.
  fileprivate static func take(from object: some ManagedObject, into queue: inout [UnattachedObjects]) {
    var taker = UnattachedTaker()
    for property in object._$objectModel.relationshipProperties { object._$visit(property, &taker) }
    queue += taker.taken
  }
}

/// The object that a to-one relationship leads to.
@usableFromInline final class UnattachedTarget<Target: ManagedObject>: UnattachedObjects {
  private(set) var target: Target?

  @usableFromInline
  init(_ target: Target) {
    self.target = target
    super.init()
  }

  deinit { release() }

  override func dismantle(into queue: inout [UnattachedObjects]) {
    if isKnownUniquelyReferenced(&target), let target { Self.take(from: target, into: &queue) }
    target = nil
  }
}

/// The members of a to-many relationship, in the order in which they were added.
public final class UnattachedMembers<Target: ManagedObject>: UnattachedObjects {
  private(set) var list: [Target]
  /// The members of a long list; nil until one is looked for.
  private var known: Set<ObjectIdentifier>?

  private static var shortCount: Int { 16 }

  init(_ list: [Target]) {
    self.list = list
    super.init()
  }

  deinit { release() }

  override func dismantle(into queue: inout [UnattachedObjects]) {
    known = nil
    while var member = list.popLast() {
      if isKnownUniquelyReferenced(&member) { Self.take(from: member, into: &queue) }
    }
  }

  /// Returns whether an object is a member. O(1) on average.
  func contains(_ member: Target) -> Bool {
    if list.count <= Self.shortCount { return list.contains { $0 === member } }
    if known == nil { known = Set(list.map { ObjectIdentifier($0) }) }
    return known?.contains(ObjectIdentifier(member)) ?? false
  }

  /// Adds a member that isn't one yet. O(1) on average.
  func append(_ member: Target) {
    list.append(member)
    known?.insert(ObjectIdentifier(member))
  }

  /// Moves the list out, which is empty afterwards, so that the caller changes it without a copy.
  func takeList() -> [Target] {
    known = nil
    defer { list = [] }
    return list
  }
}

private struct UnattachedTaker: PropertyVisitor {
  var taken: [UnattachedObjects] = []

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    cache.unattached.take().map { taken.append($0) }
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {
    cache.unattached.take().map { taken.append($0) }
  }
}
