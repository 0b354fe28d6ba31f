import Predicates

/// A type that a to-many relationship can be declared with: an array, a set, or ``ToMany``.
///
/// ```swift
/// @Relationship(deleteRule: .cascade) var songs: [Song] = []
/// ```
///
/// An array or a set is a copy, made at every read: the objects are faults, and none of their records is read. Changing
/// it in place lists the relationship first. A ``ToMany`` is a view: its count, additions and removals cost the same
/// whatever the relationship's size. An ``OrderedToMany`` is a view that knows positions too. Whatever the type, each
/// object is a member at most once. An ordered relationship has the order of the program. Others have the order of the
/// objects' insertion in their contexts, class by class.
public protocol RelationshipCollection<Element>: Sequence where Element: ManagedObject {
  /// Makes a collection of objects, no two of which are the same.
  init(_relatedObjects objects: [Element])
  /// The members, listed.
  var _relatedObjects: [Element] { get }
  /// Makes the collection that stands for an object's relationship, if the type can stand for one without listing it.
  init?(_relationship relationship: ToManyRelationship)
  /// The relationship that the collection stands for, if it stands for one.
  var _relationship: ToManyRelationship? { get }
  /// True if the collection keeps the order that it was given. A collection without order that is assigned to an
  /// ordered relationship leaves the relationship's order as it is.
  static var _isOrdered: Bool { get }
  /// Takes the members of an object in no context, which doesn't keep them.
  init(_taking members: UnattachedMembers<Element>)
  /// The form in which an object in no context keeps these members; nil if there are none.
  var _unattached: UnattachedMembers<Element>? { get }
}

extension RelationshipCollection {
  /// Returns nil: the members are listed.
  public init?(_relationship relationship: ToManyRelationship) { nil }
  /// True.
  public static var _isOrdered: Bool { true }
  /// Nil: the collection stands for no relationship.
  public var _relationship: ToManyRelationship? { nil }
  /// Lists the members.
  public init(_taking members: UnattachedMembers<Element>) {
    self.init(_relatedObjects: members.takeList())
  }
  /// The members, listed.
  public var _unattached: UnattachedMembers<Element>? {
    let list = _relatedObjects
    return list.isEmpty ? nil : UnattachedMembers(list)
  }
}

extension Array: RelationshipCollection where Element: ManagedObject {
  /// Makes an array of the members.
  @inlinable public init(_relatedObjects objects: [Element]) { self = objects }
  /// The members: the array itself.
  @inlinable public var _relatedObjects: [Element] { self }
}

extension Set: RelationshipCollection where Element: ManagedObject {
  /// Makes a set of the members.
  public init(_relatedObjects objects: [Element]) { self.init(objects) }
  /// False.
  public static var _isOrdered: Bool { false }
  /// The members, in no order. O(members).
  public var _relatedObjects: [Element] { Array(self) }
}

/// One to-many relationship of one object that is in a context.
public struct ToManyRelationship {
  let owner: any ManagedObject
  /// The number of the relationship among the model's to-many relationships, from 0.
  let ordinal: Int
  let host: ObjectHost

  /// Makes the relationship of an object; nil for an object in no context.
  init?(of owner: any ManagedObject, ordinal: Int) {
    guard let host = owner._$state.host else { return nil }
    self.owner = owner
    self.ordinal = ordinal
    self.host = host
  }

  /// The relationship's position among the visited properties of the owner.
  private var property: Int { owner._$objectModel.slotCount + ordinal }

  /// Brings an object into the context, if it can be a member.
  private func adopt(_ element: any ManagedObject) -> Bool {
    host.adopt(element) && host.accepts(element, of: owner, property: property)
  }

  /// True if the owner is still in the context that it was in when the view was made. The owner may leave that context
  /// while the view exists.
  var isThere: Bool { owner._$state.host === host }

  /// Tells the context that the members are read: the code that reads a view may not be the code that got it.
  private func noteReading() { owner.noteReading(.toMany(ordinal)) }

  var numbers: [ObjectNumber] {
    noteReading()
    return isThere ? host.elements(of: owner, toMany: ordinal) : []
  }

  var count: Int {
    noteReading()
    return isThere ? host.elementCount(of: owner, toMany: ordinal) : 0
  }

  func contains(_ element: any ManagedObject) -> Bool {
    noteReading()
    let state = element._$state
    return isThere && state.host === host && host.isElement(state.number, of: owner, toMany: ordinal)
  }

  func add(_ element: any ManagedObject) {
    guard isThere else { return host.noteLeft(owner) }
    guard adopt(element) else { return }
    host.add(element, to: owner, toMany: ordinal)
    host.awakeInserted()
  }

  func remove(_ element: any ManagedObject) {
    guard isThere, element._$state.host === host else { return }
    host.remove(element, from: owner, toMany: ordinal)
  }

  func objects<Element: ManagedObject>(as type: Element.Type = Element.self) -> [Element] {
    numbers.map { object($0, as: type) }
  }

  func object<Element: ManagedObject>(_ number: ObjectNumber, as type: Element.Type) -> Element {
    host.object(type, number, of: owner, property: property)
  }

  func objects<Element: ManagedObject>(
    at range: Range<Int>,
    as type: Element.Type = Element.self
  ) -> [Element] {
    noteReading()
    guard isThere else { return [] }
    return host.elements(of: owner, toMany: ordinal, at: range).map { object($0, as: type) }
  }

  func position(of element: any ManagedObject) -> Int? {
    noteReading()
    let state = element._$state
    guard isThere, state.host === host else { return nil }
    return host.position(of: state.number, in: owner, toMany: ordinal)
  }

  /// Adds objects and makes them come one after the other, the first at a position among the others. Members of the
  /// relationship move there.
  func insert(_ elements: [any ManagedObject], at position: Int) {
    guard isThere else { return host.noteLeft(owner) }
    let adopted = elements.filter { adopt($0) }
    for element in adopted { host.add(element, to: owner, toMany: ordinal) }
    host.move(adopted, to: position, of: owner, toMany: ordinal)
    host.awakeInserted()
  }

  /// Makes these the members: adds those that are missing, removes those that are not among them. In an ordered
  /// relationship they get this order.
  func replaceMembers(by members: [some ManagedObject], isOrdered: Bool) {
    change(to: members)
    if isOrdered {
      var seen: Set<ObjectNumber> = []
      let numbers = members.filter { $0._$state.host === host }.map(\._$state.number)
      host.arrange(numbers.filter { seen.insert($0).inserted }, of: owner, toMany: ordinal)
    }
  }

  private func change(to members: [some ManagedObject]) {
    let old = host.elements(of: owner, toMany: ordinal)
    var kept = Set<ObjectNumber>(minimumCapacity: members.count)
    let known = Set(old)
    // All objects are inserted before the first is linked: an object that is inserted with one of them may link
    // another.
    for member in members.filter({ adopt($0) }) {
      let number = member._$state.number
      guard kept.insert(number).inserted, !known.contains(number) else { continue }
      host.add(member, to: owner, toMany: ordinal)
    }
    guard kept.count < known.count + members.count, !known.isSubset(of: kept) else { return }
    let target = type(of: members).Element.self
    for number in old where !kept.contains(number) {
      host.remove(object(number, as: target), from: owner, toMany: ordinal)
    }
  }

  func isSame(as other: ToManyRelationship) -> Bool { owner === other.owner && ordinal == other.ordinal }
}
