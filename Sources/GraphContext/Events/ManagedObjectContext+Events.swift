import Predicates

// Subscriptions to a context's events, and their delivery.

extension ManagedObjectContext {
  /// Calls `body` with the changes of the context after each turn, on the context's executor.
  ///
  /// Each listener hears of events in the order in which they happened. If a listener changes or saves something, all
  /// listeners hear of that after the current event.
  ///
  /// Changes of one turn arrive together. The view context tells of them between two turns of the main actor, any other
  /// context at the end of the block that made them, and every context before it saves or undoes.
  /// ``processPendingChanges()`` tells of them at once. A merge of other contexts' commits, a child's save, a rollback
  /// and a reset are events of their own, which ``ObjectChanges/origin`` tells apart.
  ///
  /// The context holds the closure until the event after the subscription has ended; a closure that uses the context
  /// should capture it weakly.
  ///
  /// - Returns: the subscription. It ends when the program releases it.
  public func onObjectsDidChange(_ body: @escaping (ObjectChanges) -> Void) -> ContextSubscription {
    tellBeforeListening()
    let flag = events.objectsDidChange.add(body)
    updateTracking()
    return ContextSubscription(flag)
  }

  /// Calls `body` before the context saves anything, and before the hooks of its objects. Its changes are saved too; it
  /// must not save.
  ///
  /// A save that waits for its turn without blocking calls it again if the context has changed meanwhile.
  public func onWillSave(_ body: @escaping () -> Void) -> ContextSubscription {
    ContextSubscription(events.willSave.add(body))
  }

  /// Calls `body` with the changes that the context has saved. For a save to the store these are the changes of the
  /// commit, including those by delete rules and merge policies. For a save to a parent, they are the changes that were
  /// handed over. By then the context shows the newest commit, and the objects' hooks have run.
  public func onDidSave(_ body: @escaping (ObjectChanges) -> Void) -> ContextSubscription {
    ContextSubscription(events.didSave.add(body))
  }

  /// Calls `body` once a save of the context or of a parent has brought the context up to date.
  func onDidComplete(_ body: @escaping () -> Void) -> ContextSubscription {
    ContextSubscription(events.didComplete.add(body))
  }

  /// Keeps an observer until the event after a subscription to it has ended: the program may hold only the
  /// subscription.
  ///
  /// O(1) on average.
  func keep(_ observer: AnyObject, for subscription: ContextSubscription) {
    if events.mayKeepUnsubscribed { releaseObservers() }
    events.keep(observer, for: subscription.flag)
  }

  /// Runs `body`, which calls a listener: the events of its changes are delivered afterwards.
  static func holdingEvents(of context: ManagedObjectContext?, _ body: () -> Void) {
    guard let context else { return body() }
    context.eventQueue.holding(body)
  }

  private func releaseObservers() { _ = events.takeUnsubscribed() }

  /// Tells of earlier changes before a listener is added, which hears only of changes from now on. Changes that were
  /// noted before have no properties.
  private func tellBeforeListening() {
    if !namesChanges { tellOfUntold() }
  }

  /// Returns a sequence of the values that ``onObjectsDidChange(_:)`` delivers, for a task on any executor. It ends
  /// when the context is released.
  ///
  /// Each call makes a sequence of its own. Events that the consumer has not read yet stay in memory.
  public func objectChanges() -> AsyncStream<ObjectChanges> {
    tellBeforeListening()
    let stream = events.objectsDidChange.stream { $0 }
    updateTracking()
    return stream
  }

  /// Returns a sequence of the unsaved changes at the beginning of each save, for a task on any executor. It has an
  /// element each time that the context calls the closures of ``onWillSave(_:)``, and ends when the context is
  /// released.
  ///
  /// Hooks of objects, delete rules and merge policies may change more during the save, and the save may fail. The
  /// elements of ``saves()`` are the stored changes.
  public func upcomingSaves() -> AsyncStream<ObjectChanges> {
    events.willSave.stream { [weak self] in self?.unsavedChanges }
  }

  /// Returns a sequence of the values that ``onDidSave(_:)`` delivers, for a task on any executor. It ends when the
  /// context is released.
  public func saves() -> AsyncStream<ObjectChanges> {
    events.didSave.stream { $0 }
  }

  /// Delivers the changes since the last event at once, and ends the current group of the undo manager.
  public func processPendingChanges() {
    tellOfPending()
    undoManager?.endEvent(in: self)
  }

  /// Delivers the changes since the last event, and leaves the group of the undo manager open, but not those of
  /// children.
  func tellOfPending() { tellOfPending { $0.processPendingChanges() } }

  /// Delivers the changes since the last event, and leaves the groups of all undo managers open: the turn goes on.
  func tellWithinTurn() { tellOfPending { $0.tellWithinTurn() } }

  private func tellOfPending(inChildren tell: (ManagedObjectContext) -> Void) {
    releaseObservers()
    tellOfNoted()
    children.forEach(tell)
    updateOwnTracking()
  }
}

// MARK: - Noting changes

extension ManagedObjectContext {
  /// Notes changes from now on, or no longer, as the listeners and undo managers of the context and its children ask
  /// for.
  ///
  /// A subscription may end on another thread, and a child anywhere. The context finds out at the end of its next turn.
  func updateTracking() {
    updateOwnTracking()
    parent?.updateTracking()
  }

  private func updateOwnTracking() {
    let (wasTracking, wasNaming) = (tracksChanges, namesChanges)
    var (tracks, names) = (undoManager != nil, !events.objectsDidChange.isEmpty)
    children.forEach { child in
      tracks = tracks || child.tracksChanges
      names = names || child.namesChanges
    }
    tracks = tracks || names
    // The usual case: each save comes here several times.
    if tracks == wasTracking, names == wasNaming { return }
    (tracksChanges, namesChanges) = (tracks, names)
    if tracksChanges, !wasTracking { events.kept = keptByChanges() }
    if tracksChanges, !wasTracking || namesChanges && !wasNaming { announceChanges() }
    if !tracksChanges, wasTracking { events.stopNoting() }
  }

  /// Makes all objects with unsaved changes announce the next one.
  func announceChanges() {
    for entity in entities {
      for object in entity.changes.inserted + entity.changes.updated { object._$state.announcesChange = true }
    }
  }

  /// Returns the objects that only their unsaved changes keep in the context.
  private func keptByChanges() -> Set<ManagedObjectID> {
    var kept: Set<ManagedObjectID> = []
    for (ordinal, entity) in entities.enumerated() {
      for object in entity.changes.updated
      where entity.mayBeMissing(object._$state.number) && isMissingBelow(object, ordinal) {
        kept.insert(id(object._$state.number, self.entity(ordinal)))
      }
    }
    return kept
  }

  /// Notes that an object of the context is about to be changed or deleted, or that its values are to be read anew.
  ///
  /// - Parameter slots: the slots that code is about to set.
  func noteChange(of object: any ManagedObject, isEdited: Bool = true, slots: SlotSet = .empty) {
    changeCount &+= 1
    guard tracksChanges else { return }
    let phase = object._$state.phase
    let isThere = phase == .inserted || phase == .persistent
    note(key(of: object), wasThere: isThere, isEdited ? ChangedProperties(slots: slots) : nil)
    if isEdited { undoManager?.capture(object, in: self) }
  }

  /// Notes that an object has entered the context.
  func noteEntry(of object: any ManagedObject) {
    changeCount &+= 1
    guard tracksChanges else { return }
    let key = key(of: object)
    note(key, wasThere: false, ChangedProperties())
    undoManager?.captureEntry(of: object, key)
  }

  /// Notes that a pair is linked or unlinked.
  func notePair(_ end: PairEnd, isLinked: Bool) {
    changeCount &+= 1
    guard tracksChanges else { return }
    let key = ObjectKey(entity: end.entity, number: end.owner)
    let isHidden = entity(end.entity).toManys[end.position].isHidden
    if !isHidden { noteIfThere(key, ChangedProperties(pairs: [end.position])) }
    undoManager?.capture(UndoGroup.Pair(end: end, isLinked: isLinked))
    if let undoManager, entity(end.entity).toManys[end.position].list != nil {
      undoManager.capture(isLinked ? nil : place(of: end), of: end)
    }
  }

  /// Notes that a linked pair gets another place.
  func notePlace(of end: PairEnd) {
    changeCount &+= 1
    guard tracksChanges else { return }
    noteIfThere(ObjectKey(entity: end.entity, number: end.owner), ChangedProperties(pairs: [end.position]))
    if let undoManager { undoManager.capture(place(of: end), of: end) }
  }

  /// Returns the place of a link in the order of its owner; nil if the owner has no order.
  func place(of end: PairEnd) -> ListPlace? {
    guard case .pairs(let places)? = entity(end.entity).toManys[end.position].list?.origin else { return nil }
    return listEntry(of: end.element, in: end.owner, places).place
  }

  /// Notes that all objects with unsaved changes are about to be read anew.
  func noteRollback() {
    changeCount &+= 1
    guard tracksChanges else { return }
    for (ordinal, entity) in entities.enumerated() {
      for object in entity.changes.inserted + entity.changes.updated + entity.changes.deleted {
        noteChange(of: object, isEdited: false)
      }
      for owner in entity.relinkedOwners { noteIfThere(ObjectKey(entity: ordinal, number: owner), nil) }
    }
  }

  /// Notes the objects that show a link otherwise than before.
  ///
  /// - Parameter shown: whether the context showed each link, seen from its ends.
  func noteLinks(thatDifferFrom shown: [PairEnd: Bool]) {
    for (end, wasLinked) in shown {
      let links = entity(end.entity).toManys[end.position].links
      let isLinked = deferringError(wasLinked) { () throws(ContextError) in
        try source.isLinked(end.owner, end.element, in: links)
      }
      if isLinked == wasLinked { continue }
      noteIfThere(ObjectKey(entity: end.entity, number: end.owner), ChangedProperties(pairs: [end.position]))
    }
  }

  /// Notes a change of an object that may not be in memory, or may be deleted below, such as an owner of pairs.
  ///
  /// - Parameter properties: the properties that have changed; nil if values are to be read anew.
  func noteIfThere(_ key: ObjectKey, _ properties: ChangedProperties?) {
    let entity = entity(key.entity)
    let known = knownObject(key.number, of: entity)
    if known == nil || known?._$state.hasChanges == false, !isBelow(key) { return }
    note(key, wasThere: isShown(key), properties)
  }

  /// Returns whether the source has an object; false if it can't be read.
  func isBelow(_ key: ObjectKey) -> Bool {
    deferringError(false) { () throws(ContextError) in try source.contains(key.number, of: entity(key.entity))
    }
  }

  func key(of object: any ManagedObject) -> ObjectKey {
    ObjectKey(entity: entity(of: object).ordinal, number: object._$state.number)
  }

  private func note(_ key: ObjectKey, wasThere: Bool, _ properties: ChangedProperties?) {
    if !events.hasNoted { outermost.scheduleEvent?() }
    events.note(key, wasThere: wasThere, properties)
  }

  /// The context that saves to the store.
  var outermost: ManagedObjectContext {
    var context = self
    while let parent = context.parent { context = parent }
    return context
  }

  func isShown(_ key: ObjectKey) -> Bool {
    guard let object = knownObject(key.number, of: entity(key.entity)) else { return isBelow(key) }
    return object._$state.phase == .inserted || object._$state.phase == .persistent
  }

  /// Returns ``isShown(_:)``, but doesn't take a fault for an existing object: a reference may have led to a deleted
  /// one.
  func isThere(_ key: ObjectKey) -> Bool {
    let object = knownObject(key.number, of: entity(key.entity))
    let isFault = object.map {
      $0._$state.phase == .persistent && !$0._$state.hasChanges && $0._$state.currentRecord == nil
    }
    return isFault == true ? isBelow(key) : isShown(key)
  }
}

// MARK: - Telling

extension ManagedObjectContext {
  /// Runs `body`; its changes are an event of their own, of this origin.
  func tellingChanges<Result, Failure: Error>(
    from origin: ObjectChanges.Origin,
    handedOver: HandedOver? = nil,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard tracksChanges else { return try body() }
    tellOfNoted()
    let before = events.origin
    events.origin = origin
    defer {
      eventQueue.holding {
        tellOfNoted(handedOver)
        // Changes by listeners are not of this origin.
        events.origin = before
      }
    }
    return try body()
  }

  /// True if the context shows changes that no event has told of yet, its own or those of its parents.
  var showsUntoldChanges: Bool { events.hasNoted || parent?.showsUntoldChanges == true }

  /// Tells of the changes that the context shows and that no event has told of, those of its parents first. Called
  /// before a list or a count is read: otherwise it could show an object that is deleted later in the turn, and that
  /// would then be in no event.
  func tellOfUntold() {
    parent?.tellOfUntold()
    tellOfNoted()
  }

  /// Tells listeners of the changes that were noted since the last event.
  func tellOfNoted(_ handedOver: HandedOver? = nil) {
    guard events.hasNoted else { return }
    let noted = events.takeNoted(isThere: isShown)
    for key in noted.keys {
      // Its next change belongs to the next event.
      if let object = knownObject(key.number, of: entity(key.entity)), isShown(key) {
        object._$state.announcesChange = true
      }
    }
    tell(changes(noted, events.origin), handedOver)
  }

  /// Tells listeners of changes, and the children's listeners of those changes that show there.
  private func tell(_ changes: ObjectChanges, _ handedOver: HandedOver? = nil) {
    releaseObservers()
    if changes.isEmpty { return }
    if !events.kept.isEmpty { events.kept.subtract(changes.deleted) }
    var inherited = changes
    if changes.origin != .store { inherited.origin = .parent }
    // The changes that show in the children are found out before a listener changes anything.
    eventQueue.holding {
      events.objectsDidChange.tell(changes, in: eventQueue)
      children.forEach {
        inherited.contextName = $0.name
        var news = inherited
        if let handedOver, handedOver.child === $0 { news = inherited.without(handedOver) }
        $0.tell($0.visible(news))
      }
    }
  }

  /// True if events of the context have happened after the one that its listeners hear of now.
  var hasWaitingEvents: Bool { events.objectsDidChange.waitingCount > 0 }

  /// Returns those changes below the context that show in it, with its own unsaved changes on top.
  private func visible(_ changes: ObjectChanges) -> ObjectChanges {
    if entities.allSatisfy(\.changes.isEmpty), events.kept.isEmpty { return changes }
    func place(of id: ManagedObjectID) -> ObjectKey {
      ObjectKey(entity: coordinator.schema.entity(id.entity)?.ordinal ?? 0, number: id.number)
    }
    func phase(_ id: ManagedObjectID) -> ObjectState.Phase? {
      coordinator.schema.entity(id.entity).flatMap { knownObject(id.number, of: $0)?._$state.phase }
    }
    var visible = changes
    visible.refreshed += visible.inserted.filter(events.kept.contains)
    visible.inserted.removeAll { phase($0) == .deleted || events.kept.contains($0) }
    events.kept.subtract(visible.refreshed)
    visible.removeUpdated { phase($0) == .deleted }
    visible.refreshed.removeAll { phase($0) == .deleted }
    // A deleted object that is still in the context has unsaved changes, which keep it there without its stored values,
    // or the context has deleted it itself.
    let kept = visible.deleted.filter { phase($0) == .persistent }
    events.kept.formUnion(kept)
    visible.refreshed += kept
    visible.refreshed.sort { place(of: $0) < place(of: $1) }
    visible.deleted.removeAll { phase($0) != nil }
    return visible
  }

  /// Tells listeners of commits that the context shows from now on, and of values that its own commit has stored and
  /// its objects didn't show: changes by delete rules, and derived values.
  ///
  /// - Parameters:
  ///   - changeSets: the commits of others, in their order.
  ///   - own: the context's own commit, if it is one of those that it shows from now on.
  ///   - ruleChanges: the changes by delete rules in it, and derived values of objects that existed before.
  func tell(of changeSets: [ChangeSet], _ own: ChangeSet?, _ ruleChanges: RuleChanges) {
    guard tracksChanges else { return }
    guard let own else { return tell(visible(changes(changeSets, .store))) }
    var unshown = ChangeSet(commit: own.commit)
    unshown.author = own.author
    unshown.merge(ruleChanges, in: coordinator.schema)
    unshown.merge(derivedValues(in: own), in: coordinator.schema)
    var all = changeSets
    all.insert(unshown, at: all.firstIndex { $0.commit > own.commit } ?? all.endIndex)
    tell(visible(changes(all, .store)))
  }

  func tellWillSave() { events.willSave.tell(()) }

  func tellDidSave(_ changes: ObjectChanges) { events.didSave.tell(changes, in: eventQueue) }
}
