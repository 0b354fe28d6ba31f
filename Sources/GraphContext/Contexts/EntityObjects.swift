import Predicates

/// The objects of one entity that a context has in memory, and their unsaved changes.
struct EntityObjects {
  let entity: StoredEntity
  /// Every object of the entity that is in the context.
  var known = IdentityMap()
  /// The objects with unsaved changes.
  var changes: ChangedObjects
  /// The records that queries have encoded of `changes`; nil until a query asks.
  var encoded: EncodedChanges?
  /// Changes of other contexts that the source has and that are in conflict with unsaved changes. For each object: the
  /// slots that were changed in both; for an object that is deleted here, all slots that others have changed.
  private(set) var conflicts: [ObjectNumber: ForeignChange] = [:]
  /// Objects with unsaved changes that the parent has deleted. Unlike a conflict, this ends when the parent rolls its
  /// deletion back.
  var deletedInParent: Set<ObjectNumber> = []
  /// Children only. For each object that the child has deleted, the targets of its references with a delete rule other
  /// than `nullify`, by slot, at the time of the deletion. The parent may have changed a reference since.
  var ruledReferences: [ObjectNumber: [Int: ObjectNumber]] = [:]
  /// References of deleted objects whose delete rules have been applied.
  var decidedReferences: [ObjectNumber: DecidedReferences] = [:]
  /// Unsaved changes of the to-one relationships, by their positions: links from the destination to the object. Made
  /// when a to-many relationship is first asked for; nil before.
  private(set) var references: [PendingLinks?]
  /// Unsaved changes of the order of members, by the positions of their to-one relationships. Nil before they are made,
  /// together with the links, and where members have no order.
  private(set) var lists: [PendingLists?]
  /// Unsaved changes of the to-many relationships that are stored as pairs, by their positions.
  var pairs: [PendingLinks]
  /// Unsaved places of these links, by the same positions; empty for relationships without an order.
  var pairPlaces: [PendingPlaces]
  /// Unsaved changes of their order, by the same positions. Nil before they are made.
  private(set) var pairLists: [PendingLists?]
  /// Unsaved changes of pairs that the parent of a child has made as well. They are no differences between the child
  /// and its parent, until the parent takes its own change back. Empty in a context without a parent.
  var settledPairs: [PendingLinks]

  init(_ entity: StoredEntity, in host: ObjectHost) {
    self.entity = entity
    changes = ChangedObjects(in: host)
    references = entity.toOnes.map { _ in nil }
    lists = entity.toOnes.map { _ in nil }
    pairs = entity.toManys.map { _ in PendingLinks() }
    settledPairs = pairs
    pairPlaces = entity.toManys.map { _ in PendingPlaces() }
    pairLists = entity.toManys.map { _ in nil }
  }

  // These are inlined so that no caller copies the whole value to ask.
  /// False only if there are no changes. O(relationships).
  @inline(__always) var mayHaveChanges: Bool { !changes.isEmpty || hasRelinks }
  /// True if a many-to-many link or its place has unsaved changes. O(relationships).
  @inline(__always) var hasRelinks: Bool {
    pairs.contains { !$0.isEmpty } || pairPlaces.contains { !$0.isEmpty }
  }

  /// Returns true for an object with unsaved changes that another context or the parent may have deleted.
  func mayBeMissing(_ number: ObjectNumber) -> Bool {
    conflicts[number]?.isDeleted == true || deletedInParent.contains(number)
  }

  /// Notes another context's change of an object with unsaved changes.
  mutating func noteConflict(_ number: ObjectNumber, _ change: ForeignChange) {
    if !change.isNone { conflicts[number, default: ForeignChange()].merge(change) }
  }

  /// Notes that an object exists again that another context had deleted.
  ///
  /// - Parameter slots: bits of the slots that have other values than before.
  mutating func revive(_ number: ObjectNumber, differingIn slots: UInt64) {
    guard var change = conflicts[number] else { return }
    change.isDeleted = false
    change.slots |= slots
    change.bases = change.bases.filter { slot, _ in change.slots & 1 << UInt64(slot) != 0 }
    conflicts[number] = change.isNone ? nil : change
  }

  /// Forgets other contexts' changes of an object's slots that no longer have unsaved changes.
  mutating func forgetConflict(_ number: ObjectNumber, in slots: UInt64 = ~0) {
    guard var change = conflicts[number] else { return }
    change.forget(slots)
    if slots == ~0 { change = ForeignChange() }
    conflicts[number] = change.isNone ? nil : change
  }

  /// Among the targets of references that an undo or a redo has left alone, replaces settled objects by the existing
  /// ones. Deletions by the program follow the references that the parent has now.
  ///
  /// - Parameter owners: the existing objects that settled ones stand for, by the entity's ordinal.
  mutating func redirectRuledReferences(_ owners: [[ObjectNumber: ObjectNumber]]) {
    for (number, references) in ruledReferences {
      let replayed = decidedReferences[number]?.byReplay ?? 0
      ruledReferences[number] = references.redirected(owners, from: entity, in: replayed)
    }
  }

  /// Forgets all unsaved changes.
  mutating func forgetChanges() {
    changes.removeAll()
    conflicts = [:]
    deletedInParent = []
    ruledReferences = [:]
    decidedReferences = [:]
    for position in pairs.indices {
      // Most are empty: setting them would cost each save as much as there are relationships in the schema.
      if !pairs[position].isEmpty { pairs[position] = PendingLinks() }
      if !settledPairs[position].isEmpty { settledPairs[position] = PendingLinks() }
      if !pairPlaces[position].isEmpty { pairPlaces[position] = PendingPlaces() }
    }
    forgetDerived()
  }

  /// Forgets the records and links that were derived from the unsaved changes and from the source.
  mutating func forgetDerived() {
    encoded = nil
    forgetReferences()
    forgetListsOfPairs()
  }

  /// Forgets the links and lists of to-one relationships that were worked out.
  mutating func forgetReferences() {
    for position in references.indices where references[position] != nil {
      references[position] = nil
      lists[position] = nil
    }
  }
}

// MARK: - Links of many-to-many relationships

extension EntityObjects {
  /// The links of the relationships that programs see, with the position of each relationship. A relationship that
  /// leads one way has a hidden inverse, which is left out.
  private var shownPairs: [(position: Int, links: PendingLinks, places: PendingPlaces)] {
    entity.toManys.indices.filter {
      !entity.toManys[$0].isHidden && (!pairs[$0].isEmpty || !pairPlaces[$0].isEmpty)
    }.map { ($0, pairs[$0], pairPlaces[$0]) }
  }

  /// The objects whose links have unsaved changes. O(changed links).
  var relinkedOwners: Set<ObjectNumber> {
    if !hasRelinks { return [] }
    return shownPairs.reduce(into: []) { owners, pairs in
      owners.formUnion(pairs.links.added.keys)
      owners.formUnion(pairs.links.removed.keys)
      owners.formUnion(pairs.places.byOwner.keys)
    }
  }

  /// Returns a hash of the unsaved changes of an object's links. O(changed links of the object).
  func hashOfRelinks(of owner: ObjectNumber) -> Int {
    if !hasRelinks { return 0 }
    var hasher = Hasher()
    for pairs in shownPairs {
      hasher.combine(pairs.links.added[owner])
      hasher.combine(pairs.links.removed[owner])
      hasher.combine(pairs.places.byOwner[owner])
    }
    return hasher.finalize()
  }

  /// Returns the positions of the relationships of which an object's links have unsaved changes: none, unless it is one
  /// of ``relinkedOwners``. O(relationships).
  func relinkedPositions(of owner: ObjectNumber) -> Set<Int> {
    let changed = shownPairs.filter {
      $0.links.added[owner] != nil || $0.links.removed[owner] != nil || $0.places.byOwner[owner] != nil
    }
    return Set(changed.map(\.position))
  }
}

// MARK: - Lists of many-to-many relationships

extension EntityObjects {
  /// Keeps the unsaved lists of a many-to-many relationship, which are up to date from then on.
  mutating func keep(_ lists: PendingLists, ofPairs position: Int) { pairLists[position] = lists }

  /// Changes the unsaved lists of a many-to-many relationship, if they were made.
  mutating func changeLists(ofPairs position: Int, _ body: (inout PendingLists) -> Void) {
    guard pairLists[position] != nil else { return }
    body(&pairLists[position]!)
  }

  /// Forgets the unsaved lists of a many-to-many relationship.
  mutating func forgetLists(ofPairs position: Int) {
    if pairLists[position] != nil { pairLists[position] = nil }
  }

  /// Forgets the unsaved lists of all many-to-many relationships.
  mutating func forgetListsOfPairs() {
    for position in pairLists.indices { forgetLists(ofPairs: position) }
  }
}

// MARK: - Links of to-one relationships

extension EntityObjects {
  /// Keeps the unsaved changes of a to-one relationship, which are up to date from then on.
  ///
  /// - Parameter lists: nil for a relationship whose members have no order.
  mutating func keep(_ links: PendingLinks, _ lists: PendingLists?, ofReference position: Int) {
    references[position] = links
    self.lists[position] = lists
  }

  /// Changes the unsaved lists of a to-one relationship, if they were made.
  mutating func changeLists(_ position: Int, _ body: (inout PendingLists) -> Void) {
    guard lists[position] != nil else { return }
    body(&lists[position]!)
  }

  /// Notes that an object's reference leads elsewhere, if the links of the relationship were asked for.
  mutating func moveReference(
    _ position: Int,
    of number: ObjectNumber,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    references[position]?.move(number, from: old, to: new)
  }
}

extension ChangedObjects {
  /// Returns the unsaved changes of a to-one relationship, seen from its destinations. O(changed objects).
  ///
  /// - Parameter stored: returns the snapshot's value of the relationship's slot.
  func links(ofReference slot: Int, _ stored: (any ManagedObject) -> ObjectNumber) -> PendingLinks {
    var links = PendingLinks()
    for object in inserted {
      links.move(object._$state.number, from: .none, to: object.reference(at: slot))
    }
    for object in updated where object._$state.changed & 1 << UInt64(slot) != 0 {
      links.move(object._$state.number, from: stored(object), to: object.reference(at: slot))
    }
    for object in deleted { links.move(object._$state.number, from: stored(object), to: .none) }
    return links
  }
}

/// References of a deleted object whose delete rules are not to be applied again, as bits of slots.
struct DecidedReferences {
  /// References that a child had set before it deleted the object.
  var byChildren: UInt64 = 0
  /// References that still led to the targets set by the group when its undo or redo deleted the object.
  var byReplay: UInt64 = 0

  var all: UInt64 { byChildren | byReplay }
}
