/// The difference between two states of a list: which objects were added, removed, moved or changed.
///
/// Positions of deletions and updates, and those that moves begin at, are positions in the old list; those of
/// insertions, and those that moves lead to, in the new list. To turn the old list into the new one, take away the
/// deleted and the moved objects, from the last old position to the first. Then put in the inserted and the moved
/// objects, from the first new position to the last. Objects whose positions changed only because others came or went
/// are in no change.
///
/// Sections that come and go are a part of it: a section goes with its last object, and comes with its first. The other
/// styles of changes derive from this one: ``events`` in the order that table views ask for, and
/// ``collectionDifference`` for plain arrays.
public struct ListChanges: Sendable, Equatable {
  /// The change of one object.
  public struct Change: Sendable, Hashable {
    /// The object.
    public let objectID: ManagedObjectID
    /// The path in the old list; nil for an object that was added.
    public let oldPath: ListPath?
    /// The path in the new list; nil for an object that was removed.
    public let newPath: ListPath?
    /// The position in the old list, counted over all sections; nil for an object that was added.
    public let oldPosition: Int?
    /// The position in the new list, counted over all sections; nil for an object that was removed.
    public let newPosition: Int?
    /// True if an object that was and still is in the list has another position among the others, or another section.
    public let isMove: Bool
    /// The names of the properties that have changed, sorted; empty where only other objects, on which the list's order
    /// or condition depends, have changed. Empty also for objects whose values are read anew.
    public let changedProperties: [String]

    /// The kind of change.
    public var kind: Kind {
      if oldPath == nil { return .insert }
      if newPath == nil { return .delete }
      return isMove ? .move : .update
    }
  }

  /// Kinds of changes of an object in a list.
  public enum Kind: String, Sendable, Hashable {
    /// The object was added.
    case insert
    /// The object was removed.
    case delete
    /// The object has another position and, as a rule, other values.
    case move
    /// The object has other values, and keeps its position.
    case update
  }

  /// A section that was added or removed.
  public struct SectionChange: Sendable, Hashable {
    /// The section's position: in the old list for a removed section, in the new list for an added one.
    public let section: Int
    /// The section's name.
    public let name: String
  }

  /// One change of each object that has any, in no order.
  public internal(set) var changes: [Change]
  /// The sections that were added, ascending.
  public internal(set) var insertedSections: [SectionChange] = []
  /// The sections that were removed, ascending.
  public internal(set) var deletedSections: [SectionChange] = []
  /// True if a program has to show the whole list anew: it has another query, its context was reset, it was paused, it
  /// can be read again after a failure, a section was divided, or two sections were joined. Then ``changes`` is empty.
  public internal(set) var isReload = false
  /// The origin of the changes. If one difference reports several events, this is the origin of the last event.
  public internal(set) var origin: ObjectChanges.Origin
  /// The author of the commits that the changes come from: ``ObjectChanges/author``.
  public internal(set) var author: String?

  init(_ changes: [Change], origin: ObjectChanges.Origin) {
    self.changes = changes
    self.origin = origin
  }

  /// The difference that says that the list is to be shown anew.
  static var reload: ListChanges {
    var changes = ListChanges([], origin: .context)
    changes.isReload = true
    return changes
  }

  /// True if there is nothing to show.
  public var isEmpty: Bool { changes.isEmpty && !isReload }

  /// Returns the changes of a kind, in no order.
  public func changes(_ kind: Kind) -> [Change] { changes.filter { $0.kind == kind } }

  /// Returns the position in the new list of a section of the old one; nil for a section that was removed. O(log
  /// sections that come and go).
  func newNumber(ofSection old: Int) -> Int? {
    let goneBefore = deletedSections.insertionIndex(sorted: old, by: \.section)
    if goneBefore < deletedSections.count, deletedSections[goneBefore].section == old { return nil }
    return insertedSections.number(ofGap: old - goneBefore, by: \.section)
  }
}

// MARK: - Other styles

extension ListChanges {
  /// A step of a batch, as delegates of lists receive it.
  public enum Event: Sendable, Hashable {
    /// A section was added, at its position in the new list.
    case insertSection(SectionChange)
    /// An object was removed, from its old path.
    case delete(Change)
    /// An object was added, at its new path.
    case insert(Change)
    /// An object has another position.
    case move(Change)
    /// An object has other values.
    case update(Change)
    /// A section was removed, from its position in the old list.
    case deleteSection(SectionChange)
  }

  /// The changes as steps: sections that come; then objects, deletions from the last to the first, insertions from the
  /// first to the last, moves, updates; then sections that go. A move is one step, which implies an update. O(k log k)
  /// for k changes.
  public var events: [Event] {
    insertedSections.map(Event.insertSection)
      + orderedChanges.map { change in
        switch change.kind {
        case .delete: .delete(change)
        case .insert: .insert(change)
        case .move: .move(change)
        case .update: .update(change)
        }
      }
      + deletedSections.reversed().map(Event.deleteSection)
  }

  /// The positions of changed objects in the new list, ascending, so that objects which are read together follow one
  /// another. O(k log k) for k changes.
  var newPositions: [(position: Int, objectID: ManagedObjectID)] {
    changes.compactMap { change in change.newPosition.map { ($0, change.objectID) } }.sorted { $0.0 < $1.0 }
  }

  /// The changes of objects in the order of ``events``.
  var orderedChanges: [Change] {
    changes(.delete).sorted { $0.oldPath! > $1.oldPath! }
      + changes(.insert).sorted { $0.newPath! < $1.newPath! }
      + changes(.move).sorted { $0.newPath! < $1.newPath! }
      + changes(.update).sorted { $0.newPath! < $1.newPath! }
  }

  /// The changes for a list of values that were made of the objects, as `applying` of an array takes them. An object
  /// with other values is removed and inserted, so that no outdated value stays. An object that moves is associated
  /// with its old offset. O(k log k) for k changes; nil for a reload.
  public var collectionDifference: CollectionDifference<ManagedObjectID>? {
    if isReload { return nil }
    var steps: [CollectionDifference<ManagedObjectID>.Change] = []
    for change in changes {
      let (old, new) = (change.oldPosition, change.newPosition)
      if let old { steps.append(.remove(offset: old, element: change.objectID, associatedWith: new)) }
      if let new { steps.append(.insert(offset: new, element: change.objectID, associatedWith: old)) }
    }
    return CollectionDifference(steps)
  }

  /// The changes as steps that follow one another in one array: old positions to take away, ascending; then elements
  /// that come to new positions, ascending; then elements with other values at new positions. An element that moves is
  /// taken away and comes again.
  var steps: (removed: [Int], added: [Change], updated: [Change]) {
    (
      changes.filter { $0.newPosition == nil || $0.isMove }.compactMap(\.oldPosition).sorted(),
      changes.filter { $0.oldPosition == nil || $0.isMove }.sorted { $0.newPosition! < $1.newPosition! },
      changes(.update).sorted { $0.newPosition! < $1.newPosition! }
    )
  }

  /// Makes the new list from the old one. O(n + k log k) for n elements and k changes. Nil for a reload, and for an old
  /// list that is too short for a removal or an insertion.
  public func applied<Element>(
    to old: [Element],
    _ element: (ManagedObjectID) throws -> Element
  ) rethrows -> [Element]? {
    if isReload { return nil }
    let (removed, added, changed) = steps
    let updated = Dictionary(uniqueKeysWithValues: changed.map { ($0.oldPosition!, $0.objectID) })
    guard removed.last ?? -1 < old.count else { return nil }
    var (new, place) = ([Element](), 0)
    new.reserveCapacity(old.count - removed.count + added.count)
    var left = added[...]
    func insert() throws {
      while let change = left.first, change.newPosition == new.count {
        new.append(try element(change.objectID))
        left.removeFirst()
      }
    }
    for (position, value) in old.enumerated() {
      if place < removed.count, removed[place] == position {
        place += 1
        continue
      }
      try insert()
      new.append(try updated[position].map(element) ?? value)
    }
    try insert()
    return left.isEmpty ? new : nil
  }
}
