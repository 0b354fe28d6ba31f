import PageStore
import Predicates

// Rolling back, starting afresh, and moving to a newer snapshot.

extension ManagedObjectContext {
  /// Undoes everything that is not saved: new objects leave the context, changed ones are as the snapshot has them,
  /// deleted ones are back; those that another context has deleted are gone. Clears what went wrong while values were
  /// read. The context stays at its snapshot.
  public func rollback() {
    for (ordinal, pending) in changes.enumerated() {
      for object in pending.inserted {
        objects[ordinal].remove(object._$state.number)
        object.detach()
      }
      for object in pending.updated + pending.deleted {
        object._$state.phase = .persistent
        object._$state.forgetChanges()
        if conflicts[ordinal].contains(object._$state.number) { leaveIfDeleted(object, ordinal) }
      }
    }
    forgetChanges()
    failure = nil
  }

  /// Lets go of an object that the snapshot no longer has.
  private func leaveIfDeleted(_ object: any ManagedObject, _ ordinal: Int) {
    let number = object._$state.number
    let exists = noting(true) { () throws(ContextError) in try view.contains(number, of: entity(ordinal)) }
    if exists { return }
    objects[ordinal].remove(number)
    object._$state.leave(entity(ordinal).number)
  }

  /// Lets go of every object, saved or not, and moves to the newest commit. Objects that somebody still holds are gone:
  /// what was read of them stays readable, and they are in no context any more.
  public func reset() {
    leaveAll()
    noting(()) { () throws(ContextError) in
      let newest = try coordinator.newestView()
      show(newest)
    }
  }

  /// The same without a new snapshot: the context will not be used again.
  package func end() { leaveAll() }

  private func leaveAll() {
    for ordinal in objects.indices {
      let number = entity(ordinal).number
      for object in objects[ordinal].removeAll() { knownObject(object, ordinal)._$state.leave(number) }
    }
    forgetChanges()
    failure = nil
  }

  private func knownObject(_ object: AnyObject, _ ordinal: Int) -> any ManagedObject {
    func open<Object: ManagedObject>(_ type: Object.Type) -> any ManagedObject {
      unsafeDowncast(object, to: type)
    }
    return open(coordinator.types[ordinal])
  }

  /// Forgets what there was to save.
  func forgetChanges() {
    for ordinal in changes.indices {
      changes[ordinal].removeAll()
      conflicts[ordinal] = []
      for place in pendingPairs[ordinal].indices { pendingPairs[ordinal][place] = PendingLinks() }
    }
    forgetPendingReferences()
    forgetEncodedChanges()
    listings.removeAll()
    deletedLinks.removeAll()
  }

  private func forgetPendingReferences() {
    for ordinal in pendingReferences.indices {
      for place in pendingReferences[ordinal].indices { pendingReferences[ordinal][place] = nil }
    }
  }

  private func show(_ newest: StoreView) {
    view = newest
    generation &+= 1
    expectNothingKept()
    forgetPendingReferences()
    forgetEncodedChanges()
    listings.removeAll()
  }
}

// MARK: - Moving on

extension ManagedObjectContext {
  /// Moves to the newest commit. Values that have unsaved changes here keep them; all others are as they are now in the
  /// store. An object that was changed both here and elsewhere is a conflict: saving it fails, until it is rolled back.
  /// Objects that were deleted elsewhere are gone.
  public func refresh() throws(ContextError) {
    try checkUsable()
    listings.removeAll()
    try moveToNewest()
    try checkUsable()
  }

  /// Reads the object's values anew when they are touched, except those with unsaved changes. The context stays at its
  /// snapshot.
  public func refresh(_ object: some ManagedObject) {
    guard object._$state.host === self, object._$state.phase == .persistent else { return }
    object._$state.forgetUnchangedValues()
    if object._$state.hasChanges { noteChange(of: object) }
  }

  /// - Parameters:
  ///   - own: a commit of this context, whose objects have its values already.
  ///   - ruleChanges: the changes of that commit which its objects don't have.
  func moveToNewest(
    after own: ChangeSet? = nil,
    _ ruleChanges: RuleChanges = RuleChanges()
  ) throws(ContextError) {
    let newest = try coordinator.newestView()
    guard newest.commit != view.commit else { return }
    let changeSets = newest.changeSets(since: view)
    show(newest)
    for (entity, changes) in ruleChanges.objects {
      update(changes.updated.keys, of: entity)
      update(changes.deleted, of: entity)
    }
    for changes in changeSets where changes.commit != own?.commit {
      for (entity, objects) in changes.objects {
        update(objects.updated.lazy.map(\.number), of: entity)
        update(objects.deleted, of: entity)
      }
    }
    normalisePendingPairs()
  }

  private func update(_ numbers: some Sequence<ObjectNumber>, of entity: EntityNumber) {
    // A context that knows no object of the entity has nothing to update.
    guard let entity = coordinator.schema.entity(entity), !objects[entity.ordinal].isEmpty else { return }
    for number in numbers { update(number, entity) }
  }

  /// Brings an object up to date, if it is here, whose record somebody changed or removed.
  private func update(_ number: ObjectNumber, _ entity: StoredEntity) {
    let ordinal = entity.ordinal
    guard let object = knownObject(number, of: entity), object._$state.phase != .inserted else { return }
    noting(()) { () throws(ContextError) in
      let exists = try view.contains(number, of: entity)
      switch (object._$state.hasChanges, exists) {
      case (true, true):
        conflicts[ordinal].insert(number)
        object._$state.forgetUnchangedValues()
      case (true, false):
        conflicts[ordinal].insert(number)
        // What it led to may be gone as well, and nothing in the snapshot leads back from there.
        object._$state.forgetUnchangedValues(in: entity.referenceSlots)
      case (false, true): object._$state.becomeFault()
      case (false, false): leaveIfDeleted(object, ordinal)
      }
    }
  }

  /// Pending links stay differences to what the store has: a link that somebody else has added or removed as well is
  /// no longer pending.
  private func normalisePendingPairs() {
    for (ordinal, relationships) in pendingPairs.enumerated() {
      for (place, links) in relationships.enumerated() where !links.isEmpty {
        guard case .pairs(let trees) = entity(ordinal).toManys[place].storage else { continue }
        noting(()) { () throws(ContextError) in
          pendingPairs[ordinal][place] = try links.filter { owner, element, isAdded throws(ContextError) in
            try isStored(owner, element, in: trees.forward) != isAdded
          }
        }
      }
    }
  }
}

extension PendingLinks {
  /// The links for which `isIncluded` says so; its last argument is whether the link was added.
  func filter(
    _ isIncluded: (ObjectNumber, ObjectNumber, Bool) throws(ContextError) -> Bool
  ) throws(ContextError) -> PendingLinks {
    var result = PendingLinks()
    for (owner, elements) in added {
      for element in elements where try isIncluded(owner, element, true) { result.link(owner, element) }
    }
    for (owner, elements) in removed {
      for element in elements where try isIncluded(owner, element, false) { result.unlink(owner, element) }
    }
    return result
  }
}
