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
  private(set) var references: [PendingReferences?]
  /// Unsaved changes of the to-many relationships, by their positions; empty for those that are not stored as pairs.
  var pairs: [PendingPairs]

  init(_ entity: StoredEntity, in host: ObjectHost) {
    self.entity = entity
    changes = ChangedObjects(in: host)
    references = entity.toOnes.map { _ in nil }
    pairs = entity.toManys.map { _ in PendingPairs() }
  }

  // These are inlined so that no caller copies the whole value to ask.
  /// True if there may be changes; false only if there are none. O(relationships).
  @inline(__always) var mayHaveChanges: Bool { !changes.isEmpty || hasRelinks }
  /// True if a many-to-many link or its place has unsaved changes. O(relationships).
  @inline(__always) var hasRelinks: Bool {
    // By position: an element that is handed out would count the references of all its parts.
    for position in pairs.indices where pairs[position].hasChanges { return true }
    return false
  }

  /// True if a many-to-many link has unsaved changes. O(relationships).
  @inline(__always) var hasChangedLinks: Bool {
    for position in pairs.indices where !pairs[position].links.isEmpty { return true }
    return false
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
  /// - Parameter slots: the slots that have other values than before.
  mutating func revive(_ number: ObjectNumber, differingIn slots: SlotSet) {
    guard var change = conflicts[number] else { return }
    change.isDeleted = false
    change.slots.formUnion(slots)
    change.bases = change.bases.filter { slot, _ in change.slots.contains(slot) }
    conflicts[number] = change.isNone ? nil : change
  }

  /// Forgets other contexts' changes of an object's slots that no longer have unsaved changes.
  mutating func forgetConflict(_ number: ObjectNumber, in slots: SlotSet = .all) {
    guard var change = conflicts[number] else { return }
    change.forget(slots)
    if slots == .all { change = ForeignChange() }
    conflicts[number] = change.isNone ? nil : change
  }

  /// Replaces unified objects by the existing ones among the targets of references that an undo or a redo has left
  /// alone. Deletions by the program follow the references that the parent has now.
  ///
  /// - Parameter owners: the existing objects that unified ones stand for, by the entity's ordinal.
  mutating func redirectRuledReferences(_ owners: [[ObjectNumber: ObjectNumber]]) {
    for (number, references) in ruledReferences {
      let replayed = decidedReferences[number]?.byReplay ?? .empty
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
    // Most are empty: setting them would cost each save as much as there are relationships in the schema.
    for position in pairs.indices where !pairs[position].isEmpty { pairs[position] = PendingPairs() }
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
    for position in references.indices where references[position] != nil { references[position] = nil }
  }

  /// Forgets the unsaved lists of all many-to-many relationships.
  mutating func forgetListsOfPairs() {
    for position in pairs.indices where pairs[position].lists != nil { pairs[position].forgetLists() }
  }
}

// MARK: - Links of many-to-many relationships

extension EntityObjects {
  /// The changed links of the relationships that programs see, with the position of each relationship. A relationship
  /// that leads one way has a hidden inverse, which is left out.
  private var shownPairs: [(position: Int, changes: PendingPairs)] {
    entity.toManys.indices.filter { !entity.toManys[$0].isHidden && pairs[$0].hasChanges }.map {
      ($0, pairs[$0])
    }
  }

  /// The objects whose links have unsaved changes. O(changed links).
  var relinkedOwners: Set<ObjectNumber> {
    if !hasRelinks { return [] }
    return shownPairs.reduce(into: []) { owners, pairs in
      owners.formUnion(pairs.changes.links.added.keys)
      owners.formUnion(pairs.changes.links.removed.keys)
      owners.formUnion(pairs.changes.places.byOwner.keys)
    }
  }

  /// Returns a hash of the unsaved changes of an object's links. O(changed links of the object).
  func hashOfRelinks(of owner: ObjectNumber) -> Int {
    if !hasRelinks { return 0 }
    var hasher = Hasher()
    for pairs in shownPairs {
      hasher.combine(pairs.changes.links.added[owner])
      hasher.combine(pairs.changes.links.removed[owner])
      hasher.combine(pairs.changes.places.byOwner[owner])
    }
    return hasher.finalize()
  }

  /// Returns the positions of the relationships of which an object's links have unsaved changes: none, unless it is one
  /// of ``relinkedOwners``. O(relationships).
  func relinkedPositions(of owner: ObjectNumber) -> Set<Int> {
    Set(shownPairs.filter { $0.changes.haveChanges(of: owner) }.map(\.position))
  }
}

// MARK: - Links of to-one relationships

extension EntityObjects {
  /// Keeps the unsaved changes of a to-one relationship, which are up to date from then on.
  mutating func keep(_ pending: PendingReferences, at position: Int) { references[position] = pending }

  /// Changes the unsaved lists of a to-one relationship, if they were made.
  mutating func changeLists(ofReference position: Int, _ body: (inout PendingLists) -> Void) {
    references[position]?.changeLists(body)
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
    for object in updated where object._$state.changed.contains(slot) {
      links.move(object._$state.number, from: stored(object), to: object.reference(at: slot))
    }
    for object in deleted { links.move(object._$state.number, from: stored(object), to: .none) }
    return links
  }
}

/// The slots of references of a deleted object whose delete rules are not to be applied again.
struct DecidedReferences {
  /// References that a child had set before it deleted the object.
  var byChildren = SlotSet.empty
  /// References that still led to the targets set by the group when its undo or redo deleted the object.
  var byReplay = SlotSet.empty

  var all: SlotSet { byChildren.union(byReplay) }
}
