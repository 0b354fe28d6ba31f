import Foundation
import Predicates
import Synchronization

/// Finds the names along a key path by following it over a *tracer*: an object that exists only for that. The tracer's
/// getters note which property was read, and return a value that is recognised at the end of the key path.
///
/// A key path is made of functions; it has no names. And not every key path that reads a property *is* that property:
/// `\Song.title.count` reads the title too. So each property hands out a marked value, and only the same value arriving
/// at the end proves that the key path leads there and no further. A second round with other marks rules out functions
/// that happen to keep a mark as it is, such as a magnitude.
final class KeyPathTracer: ObjectHost {
  /// The number of the round, from 0.
  private var round = 0
  private var names: [String] = []
  private var mistake: String?
  /// All objects that were made. When this tracer is done, they must not refer to it any more.
  private var made: [any ManagedObject] = []
  /// The tracer object whose property may be read next.
  private var current: (any ManagedObject)?
  /// The value at the end of the key path if the key path ends at the last property that was read.
  private var leaf: AttributeValue?
  /// True if a property along the key path is optional.
  private var mayBeNil = false
  /// The number of rounds that tell the property itself from a function of it.
  private var roundCount = 2
  /// The type of the last property that was read, if that is a transformed attribute.
  private var transformed: (any TransformedAttribute.Type)?
  /// The value at the end of the key path if that is an object's ID.
  private var identity: ManagedObjectID?
  /// The only member of the relationship, if the last property that was read is a to-many relationship.
  private var member: (any ManagedObject)?
  /// The parts of the embedded value that was read last, each with the value that is recognised at the end; nil if the
  /// last property is none.
  private var parts: [TracedPart]?
  /// The slot of the first part of the embedded value that is being read.
  private var firstPartSlot: Int?

  override var storeID: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

  /// Returns the names along the key path.
  static func names<Root: ManagedObject>(
    along keyPath: AnyKeyPath,
    from root: Root.Type
  ) throws(QueryError) -> [String] {
    let first = try KeyPathTracer().follow(keyPath, from: root)
    var parts = first.parts
    for round in 1..<first.roundCount {
      let tracer = KeyPathTracer()
      tracer.round = round
      let trace = try tracer.follow(keyPath, from: root)
      guard trace.names == first.names else {
        throw mistake(keyPath, root, "depends on the values of its object")
      }
      parts = parts?.filter { part in trace.parts?.contains(part) ?? false }
    }
    guard let parts else { return first.names }
    guard let part = parts.first else { throw computed(keyPath, root, first.names) }
    guard parts.count == 1 else {
      let names = parts.map { "“\($0)”" }.joined(separator: " or ")
      throw mistake(
        keyPath,
        root,
        "can mean \(names) of “\(first.names.joined(separator: "."))”: name the property as a text"
      )
    }
    return first.names + part.split(separator: ".").map(String.init)
  }

  /// The result of following a key path.
  private struct Trace {
    var names: [String]
    /// The names of the parts that the key path may end at; nil if it doesn't lead through an embedded value.
    var parts: [String]?
    var roundCount: Int
  }

  private func follow<Root: ManagedObject>(
    _ keyPath: AnyKeyPath,
    from root: Root.Type
  ) throws(QueryError) -> Trace {
    let end = (type(of: keyPath).valueType as? any AttributeType.Type)?.withoutTracerValue.map { [$0] }
    if let type = (end ?? root.ownTypesWithoutTracerValue).first {
      throw Self.mistake(keyPath, root, "can't be followed: \(type)")
    }
    let object = makeObject(of: root)
    current = object
    defer { for object in made { object._$state.leaveTracer() } }
    guard let end = object[keyPath: keyPath] else {
      throw Self.mistake(keyPath, root, "doesn't begin at \(root.entityName)")
    }
    if let mistake { throw Self.mistake(keyPath, root, mistake) }
    guard !names.isEmpty else {
      throw Self.mistake(
        keyPath,
        root,
        "is not a persistent property: those are the stored ones that the model declares itself"
      )
    }
    guard !mayBeNil || Self.keepsNil(keyPath) else { throw Self.computed(keyPath, root, names) }
    if let parts {
      let ends = parts.filter { $0.isEnd(end) && (!$0.isOptional || Self.keepsNil(keyPath)) }
      return Trace(names: names, parts: ends.map(\.name), roundCount: TracedPart.roundCount)
    }
    guard isLeaf(end) else { throw Self.computed(keyPath, root, names) }
    return Trace(names: names, roundCount: roundCount)
  }

  /// Returns true if a key path leads to nil where a property along it is nil, or ends the program there, as
  /// `\Song.rating!` does. Returns false for a key path that replaces nil, as `rating ?? 0` and
  /// `album?.year ?? 0` do.
  private static func keepsNil(_ keyPath: AnyKeyPath) -> Bool {
    type(of: keyPath).valueType is any ExpressibleByNilLiteral.Type || keyPath.debugDescription.contains("!")
  }

  private static func computed<Root: ManagedObject>(
    _ keyPath: AnyKeyPath,
    _ root: Root.Type,
    _ names: [String]
  ) -> QueryError {
    let path = names.joined(separator: ".")
    return mistake(
      keyPath,
      root,
      "is computed from \(path): use \(path) in the query, and filter its results in code"
    )
  }

  private func isLeaf(_ end: Any) -> Bool {
    if let identity { return end as? ManagedObjectID == identity }
    if let member {
      guard let members = end as? any RelationshipCollection else { return false }
      return Self.isOnly(member, in: members)
    }
    if let leaf {
      if let transformed { return transformed.attributeValue(of: end) == leaf }
      return (end as? any AttributeType)?._attributeValue == leaf
    }
    guard let current, let object = end as? any ManagedObject else { return false }
    return object === current
  }

  private static func isOnly(_ member: any ManagedObject, in members: some RelationshipCollection) -> Bool {
    let list = members._relatedObjects
    return list.count == 1 && list[0] === member
  }

  private static func mistake<Root: ManagedObject>(
    _ keyPath: AnyKeyPath,
    _ root: Root.Type,
    _ what: String
  ) -> QueryError {
    // Instead of a name, a computed property has an address there, which says nothing.
    let spelling = keyPath.debugDescription.replacing(#/0x[0-9a-f]+ /#, with: "")
    return QueryError(.keyPath, "the key path \(spelling) \(what)", keyPath: spelling)
  }

  private func makeObject<Root: ManagedObject>(of type: Root.Type) -> Root {
    var state = ObjectState(fault: .none, in: self)
    state.phase = .tracer
    state.isAwake = true
    state.announcesChange = false
    let object = Root(_$state: state)
    made.append(object)
    return object
  }

  // MARK: What the getters of tracer objects call

  /// Notes that an attribute was read. Returns a value that identifies it.
  func value<Value: AttributeType>(of object: any ManagedObject, slot: Int) -> Value {
    if let firstPartSlot { return part(slot - firstPartSlot, of: object, slot: slot) }
    note(object, slot)
    let value: Value = markedValue()
    current = nil
    leaf = value._attributeValue
    transformed = Value._Present.self as? any TransformedAttribute.Type
    if Value._isOptionalAttribute { mayBeNil = true }
    return value
  }

  /// Returns a value that identifies an attribute. For a type that takes no mark, the value is one of the type's cases,
  /// another one in each round, because functions leave some cases unchanged.
  private func markedValue<Value: AttributeType>() -> Value {
    if let value = Value(_attributeValue: mark(of: Value.self)) { return value }
    if let value: Value = TracedPart.address(0, round == 0) { return value }
    let cases = TracedPart.cases(of: Value.self)
    roundCount = max(roundCount, cases.count)
    return cases.isEmpty ? .anyValue : cases[round % cases.count]
  }

  /// Notes that an embedded value was read. Each part of the result is a value that identifies the part.
  func embedded<Parts: EmbeddedParts>(
    of object: any ManagedObject,
    _ ordinal: Int,
    at slot: Int,
    _ parts: inout Parts
  ) -> Parts.Value {
    note(object, named: object._$objectModel.embeddedName(ordinal))
    if Parts.Value.self is any ExpressibleByNilLiteral.Type { mayBeNil = true }
    current = nil
    self.parts = []
    firstPartSlot = slot
    defer { firstPartSlot = nil }
    func value(of object: some ManagedObject) -> Parts.Value { parts.value(of: object, at: slot) }
    let value = value(of: object)
    self.parts?.append(.whole(value))
    return value
  }

  /// Returns the value of a part of an embedded value.
  private func part<Value: AttributeType>(
    _ part: Int,
    of object: any ManagedObject,
    slot: Int
  ) -> Value {
    let value: Value = TracedPart.mark(part, round)
    let name = object._$objectModel.partName(at: slot)
    parts?.append(TracedPart(name, value))
    return value
  }

  /// Notes that the part that was read last is optional in its struct.
  func noteOptionalPart() {
    guard let last = parts?.indices.last else { return }
    parts?[last].isOptional = true
  }

  /// Notes that a to-one relationship was read that may be nil. Returns the object that ``target(of:slot:)`` returns.
  func optionalTarget<Target: ManagedObject>(of object: any ManagedObject, slot: Int) -> Target {
    mayBeNil = true
    return target(of: object, slot: slot)
  }

  /// Notes that a to-one relationship was read. Returns the object whose property may be read next.
  func target<Target: ManagedObject>(of object: any ManagedObject, slot: Int) -> Target {
    note(object, slot)
    let target = makeObject(of: Target.self)
    current = target
    return target
  }

  /// Notes that the object's own ID was read.
  func identity(of object: any ManagedObject) -> ManagedObjectID {
    note(object, named: "objectID")
    current = nil
    let id = ManagedObjectID(
      entity: object.entityLabel,
      number: ObjectNumber(rawValue: UInt64.max - UInt64(round)),
      storeID: storeID
    )
    identity = id
    return id
  }

  /// Notes that a to-many relationship was read, and returns a member of it. Nothing can be read beyond it.
  func touchToMany<Member: ManagedObject>(of object: any ManagedObject, ordinal: Int) -> Member {
    touchMany(of: object, named: object._$objectModel.visitedNames[object._$objectModel.slotCount + ordinal])
  }

  /// Notes that a to-many property was read that has only a name, because it stands for a path. Returns a member of it.
  func touchMany<Member: ManagedObject>(of object: any ManagedObject, named name: String) -> Member {
    note(object, named: name)
    current = nil
    let member = makeObject(of: Member.self)
    self.member = member
    return member
  }

  private func note(_ object: any ManagedObject, _ property: Int) {
    note(object, named: object._$objectModel.visitedNames[property])
  }

  private func note(_ object: any ManagedObject, named name: String) {
    if current !== object {
      mistake =
        "is computed from several properties: use these in the query, and filter its results in code"
    }
    names.append(name)
  }

  /// Returns a value that functions rarely leave unchanged; the first round has another one than the others.
  private func mark<Value: AttributeType>(of type: Value.Type) -> AttributeValue {
    let isFirst = round == 0
    guard let kind = Value._elementKind, !(Value._Present.self is any TransformedAttribute.Type) else {
      return TracedPart.mark(of: Value._attributeKind, isFirst)
    }
    // Two elements, each of them the first in one round: functions that sort elements or leave some out change one of
    // the lists.
    let elements = [TracedPart.mark(of: kind, isFirst), TracedPart.mark(of: kind, !isFirst)]
    return .string(ListText.json(of: elements, kind))
  }
}

extension ManagedObject {
  /// The tracer that a tracer object belongs to.
  var tracer: KeyPathTracer {
    guard let tracer = _$state.host as? KeyPathTracer else {
      fatalError("an object without a tracer has no key path to trace")
    }
    return tracer
  }

  /// The name that `is` and `as?` of a `#Predicate` ask for: ``entityName``.
  public static var predicateClassName: String? { entityName }

  /// Returns the names along a key path. The key path is followed once, through objects that note which properties are
  /// read. Afterwards its names are looked up.
  public static func predicatePath(of keyPath: AnyKeyPath) throws(QueryError) -> [String] {
    if let names = TracedKeyPaths.shared[keyPath] { return names }
    let names = try KeyPathTracer.names(along: keyPath, from: Self.self)
    TracedKeyPaths.shared[keyPath] = names
    return names
  }
}

/// The names of the key paths that were traced already. There are as many as the program spells.
private struct TracedKeyPaths: ~Copyable {
  static let shared = TracedKeyPaths()

  // Safety: key paths don't change after they are made; only their classes aren't marked so.
  private struct Key: Hashable, @unchecked Sendable {
    let keyPath: AnyKeyPath
  }
  private struct Known {
    var names: [Key: [String]] = [:]
    /// The names by the address of the key path, which is quicker to look up: a key path that the source spells at one
    /// location is one object. The key paths are kept, so that no other key path gets the same address.
    var byIdentity: [ObjectIdentifier: (key: Key, names: [String])] = [:]

    /// The number of key paths that are kept at most: key paths that are put together while a program runs are new
    /// objects each time.
    private static var maximumIdentityCount: Int { 1_024 }

    mutating func note(_ names: [String], of key: Key) {
      guard byIdentity.count < Self.maximumIdentityCount else { return }
      byIdentity[ObjectIdentifier(key.keyPath)] = (key, names)
    }
  }
  private let known = Mutex(Known())

  subscript(keyPath: AnyKeyPath) -> [String]? {
    get {
      let key = Key(keyPath: keyPath)
      return known.withLock { known in
        if let found = known.byIdentity[ObjectIdentifier(key.keyPath)] { return found.names }
        guard let names = known.names[key] else { return nil }
        known.note(names, of: key)
        return names
      }
    }
    nonmutating set {
      let key = Key(keyPath: keyPath)
      known.withLock { $0.names[key] = newValue }
    }
  }
}
