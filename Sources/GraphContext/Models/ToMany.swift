import Predicates

/// The objects at the other end of a to-many relationship, as a view that doesn't load them.
///
/// ```swift
/// @Relationship(deleteRule: .deny) var departures: ToMany<Flight> = []
/// airport.departures.append(flight)      // costs the same with ten departures and with a million
/// airport.departures.count               // O(log n): read off the counted index
/// for flight in airport.departures { … } // makes one object at a time
/// ```
///
/// Taken from an object in a context, the view follows the relationship and writes through to it; taken from an object
/// in no context, it is a plain collection. Every iteration goes over the members of the moment when it began.
public struct ToMany<Element: ManagedObject> {
  private enum Storage {
    /// The members, which copies share until one copy is changed.
    case members(UnattachedMembers<Element>?)
    case relationship(ToManyRelationship)
  }
  private var storage: Storage

  /// Makes a collection without members.
  public init() { storage = .members(nil) }

  /// Makes a collection of objects, each a member once however often the sequence has it. O(elements) on average.
  public init(_ elements: some Sequence<Element>) {
    self.init()
    append(contentsOf: elements)
  }

  /// The number of members. O(log n) in a context.
  public var count: Int {
    switch storage {
    case .members(let members): members?.list.count ?? 0
    case .relationship(let relationship): relationship.count
    }
  }

  /// True if there are no members. O(log n) in a context.
  public var isEmpty: Bool { count == 0 }

  /// Returns whether an object is a member. O(log n) in a context, O(1) on average in none.
  public func contains(_ element: Element) -> Bool {
    switch storage {
    case .members(let members): members?.contains(element) ?? false
    case .relationship(let relationship): relationship.contains(element)
    }
  }

  /// Adds an object, if it isn't a member yet. Doesn't list the relationship. O(log n) in a context, O(1) on average in
  /// none.
  public mutating func append(_ element: Element) {
    switch storage {
    case .relationship(let relationship): relationship.add(element)
    case .members:
      var members = takeMembers()
      if !isKnownUniquelyReferenced(&members) { members = UnattachedMembers(members.list) }
      if !members.contains(element) { members.append(element) }
      storage = .members(members)
    }
  }

  /// Moves the members out of the collection, which is empty afterwards.
  private mutating func takeMembers() -> UnattachedMembers<Element> {
    guard case .members(let members?) = storage else { return UnattachedMembers([]) }
    storage = .members(nil)
    return members
  }

  /// Adds objects, as ``append(_:)`` adds each.
  public mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  /// Removes an object, if it is a member. Doesn't list the relationship.
  public mutating func remove(_ element: Element) {
    switch storage {
    case .relationship(let relationship): relationship.remove(element)
    case .members(let members):
      storage = .members(members.map { UnattachedMembers($0.list.filter { $0 !== element }) })
    }
  }

  /// Removes all objects. O(members · log n) in a context.
  public mutating func removeAll() {
    switch storage {
    case .relationship(let relationship):
      for element in relationship.objects(as: Element.self) { relationship.remove(element) }
    case .members: storage = .members(nil)
    }
  }
}

extension ToMany: Sequence {
  /// An iterator that makes the objects one at a time.
  public struct Iterator: IteratorProtocol {
    fileprivate enum Source {
      case members([Element].Iterator)
      case numbers([ObjectNumber].Iterator, ToManyRelationship)
    }
    fileprivate var source: Source

    /// Returns the next member, as a fault; nil behind the last.
    public mutating func next() -> Element? {
      switch source {
      case .members(var members):
        defer { source = .members(members) }
        return members.next()
      case .numbers(var numbers, let relationship):
        defer { source = .numbers(numbers, relationship) }
        return numbers.next().map { relationship.object($0, as: Element.self) }
      }
    }
  }

  /// Returns an iterator over the present members, in the order of their insertion in their contexts. O(members).
  public func makeIterator() -> Iterator {
    switch storage {
    case .members(let members): Iterator(source: .members((members?.list ?? []).makeIterator()))
    case .relationship(let relationship):
      Iterator(source: .numbers(relationship.numbers.makeIterator(), relationship))
    }
  }
}

extension ToMany: ExpressibleByArrayLiteral {
  /// Makes a collection of objects, each a member once however often it is listed.
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension ToMany: PredicateElements {}

extension ToMany: RelationshipCollection {
  /// Makes a collection of objects, no two of which are the same.
  public init(_relatedObjects objects: [Element]) { storage = .members(UnattachedMembers(objects)) }

  /// The members, listed. O(members).
  public var _relatedObjects: [Element] {
    switch storage {
    case .members(let members): members?.list ?? []
    case .relationship(let relationship): relationship.objects()
    }
  }

  /// Makes a collection that stands for the relationship.
  public init?(_relationship relationship: ToManyRelationship) { storage = .relationship(relationship) }

  /// The relationship that the collection stands for; nil where it has members of its own.
  public var _relationship: ToManyRelationship? {
    if case .relationship(let relationship) = storage { relationship } else { nil }
  }

  /// Makes a collection of the members of an object in no context.
  public init(_taking members: UnattachedMembers<Element>) { storage = .members(members) }

  /// The members that the collection has, or that the relationship it stands for leads to.
  public var _unattached: UnattachedMembers<Element>? {
    guard case .members(let members) = storage else { return UnattachedMembers(_relatedObjects) }
    return members
  }
}
