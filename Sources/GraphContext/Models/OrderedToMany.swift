import Foundation
import Predicates

/// The objects at the other end of an ordered to-many relationship, as a view that doesn't load them.
///
/// ```swift
/// @Relationship(.ordered) var tracks: OrderedToMany<Track> = []
/// list.tracks.insert(track, at: 0)      // changes no other track
/// list.tracks[1_000..<1_050]            // reads a page of fifty
/// list.tracks.move(from: 3, to: 0)
/// ```
///
/// Taken from an object in a context, the view follows the relationship and writes through to it; taken from an object
/// in no context, it is a plain collection. A position is found in O(log n), with as many members as there may be. As
/// in an array, a position that doesn't exist is a mistake of the program, and stops it. Every iteration goes over the
/// members of the moment when it began.
public struct OrderedToMany<Element: ManagedObject> {
  private var members: ToMany<Element>

  /// Makes a collection without members.
  public init() { members = ToMany() }

  /// Makes a collection of objects in the order of the sequence. An object that the sequence has more than once is a
  /// member once, at its first position. O(elements) on average.
  public init(_ elements: some Sequence<Element>) { members = ToMany(elements) }

  /// The number of members. O(log n) in a context.
  public var count: Int { members.count }

  /// True if there are no members. O(log n) in a context.
  public var isEmpty: Bool { members.isEmpty }

  /// Returns whether an object is a member. O(log n) in a context, O(1) on average in none.
  public func contains(_ element: Element) -> Bool { members.contains(element) }

  // MARK: Positions

  /// Reads and sets the object at a position; reading returns a fault. Setting a position takes out the object that is
  /// there. A new object that is a member already moves to the position. O(log n) in a context.
  public subscript(position: Int) -> Element {
    get {
      if let element = self[position..<position + 1].first { return element }
      return Element(_$state: ObjectState(missingIn: members._relationship?.host.storeTag ?? 0))
    }
    set {
      let old = self[position]
      if old === newValue { return }
      let comesBefore = firstIndex(of: newValue).map { $0 < position } ?? false
      members.remove(old)
      insert(newValue, at: comesBefore ? position - 1 : position)
    }
  }

  /// Returns the objects at these positions, as faults. O(log n + positions) in a context.
  public subscript(positions: Range<Int>) -> [Element] {
    guard let relationship = members._relationship else { return Array(members._relatedObjects[positions]) }
    let elements: [Element] = positions.lowerBound < 0 ? [] : relationship.objects(at: positions)
    guard elements.count == positions.count || relationship.host.hasFailed else {
      fatalError("the positions \(positions) are not all among 0 to \(count - 1)")
    }
    return elements
  }

  /// Returns the position of an object; nil if it is no member. O(log n) in a context, O(n) in none.
  public func firstIndex(of element: Element) -> Int? {
    guard let relationship = members._relationship else {
      return members._relatedObjects.firstIndex { $0 === element }
    }
    return relationship.position(of: element)
  }

  // MARK: Changing

  /// Adds an object as the last. An object that is a member already stays where it is. O(log n) in a context.
  public mutating func append(_ element: Element) { members.append(element) }

  /// Adds objects, as ``append(_:)`` adds each.
  public mutating func append(contentsOf elements: some Sequence<Element>) {
    members.append(contentsOf: elements)
  }

  /// Adds an object at a position. An object that is a member already moves; then the position is counted among the
  /// others. O(log n) in a context.
  public mutating func insert(_ element: Element, at position: Int) {
    insert(contentsOf: [element], at: position)
  }

  /// Adds objects one after the other, the first at a position. Objects that are members already move; the position is
  /// counted among the others. O(elements · log n) in a context.
  public mutating func insert(contentsOf elements: some Sequence<Element>, at position: Int) {
    var seen: Set<ObjectIdentifier> = []
    let elements = elements.filter { seen.insert(ObjectIdentifier($0)).inserted }
    guard let relationship = members._relationship else {
      var list = members._relatedObjects.filter { !seen.contains(ObjectIdentifier($0)) }
      list.insert(contentsOf: elements, at: position)
      members = ToMany(_relatedObjects: list)
      return
    }
    let others = count - elements.count { relationship.contains($0) }
    let mayBeAnywhere = relationship.host.hasFailed || !relationship.isThere
    guard position >= 0, position <= others || mayBeAnywhere else {
      fatalError("the position \(position) is not among 0 to \(others)")
    }
    relationship.insert(elements, at: position)
  }

  /// Removes an object, if it is a member. Doesn't list the relationship.
  public mutating func remove(_ element: Element) { members.remove(element) }

  /// Removes the object at a position, and returns it. O(log n) in a context.
  @discardableResult
  public mutating func remove(at position: Int) -> Element {
    let element = self[position]
    members.remove(element)
    return element
  }

  /// Moves the object at a position, so that it is at another one afterwards. O(log n) in a context.
  public mutating func move(from old: Int, to new: Int) { insert(self[old], at: new) }

  /// Moves the objects at these positions in front of the object at another position, or behind all others if that is
  /// the end. Lists on a screen ask for moves in this form. O(offsets · log n) in a context.
  ///
  /// - Parameters:
  ///   - offsets: the positions of the objects, as they are before the move.
  ///   - destination: the position in front of which they are put, counted before the move.
  public mutating func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    let moved = offsets.map { self[$0] }
    insert(contentsOf: moved, at: destination - offsets.count(in: 0..<destination))
  }
}

extension OrderedToMany: Sequence {
  /// Returns an iterator over the present members, in their order. O(members).
  public func makeIterator() -> ToMany<Element>.Iterator { members.makeIterator() }
}

extension OrderedToMany: ExpressibleByArrayLiteral {
  /// Makes a collection of objects, each a member once however often it is listed.
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension OrderedToMany: PredicateElements {}

extension OrderedToMany: RelationshipCollection {
  /// Makes a collection of objects, no two of which are the same.
  public init(_relatedObjects objects: [Element]) { members = ToMany(_relatedObjects: objects) }

  /// The members, listed. O(members).
  public var _relatedObjects: [Element] { members._relatedObjects }

  /// Makes a collection that stands for the relationship.
  public init?(_relationship relationship: ToManyRelationship) {
    guard let members = ToMany<Element>(_relationship: relationship) else { return nil }
    self.members = members
  }

  /// The relationship that the collection stands for; nil where it has members of its own.
  public var _relationship: ToManyRelationship? { members._relationship }

  /// Makes a collection of the members of an object in no context.
  public init(_taking members: UnattachedMembers<Element>) { self.members = ToMany(_taking: members) }

  /// The members that the collection has, or that the relationship it stands for leads to.
  public var _unattached: UnattachedMembers<Element>? { members._unattached }
}
