import Predicates

// The observed properties of objects, and telling their observers.

extension ManagedObjectContext {
  /// True if the objects of the context can be observed with Swift's Observation. Unless it is set, it is true for the
  /// view context, and false for any other.
  ///
  /// ```swift
  /// withObservationTracking {
  ///   label.text = "\(album.name): \(album.songs.count) songs"
  /// } onChange: {
  ///   redraw()
  /// }
  /// ```
  ///
  /// Observers are called once when one of the properties that they have read changes: attributes, embedded values by
  /// their parts, to-one and to-many relationships, and ``ManagedObject/isDeleted``. A relationship changes at both
  /// ends, and a to-many one with its members and their order.
  ///
  /// - Code that sets an attribute calls them before the attribute is set, also if the new value is equal. Code that
  ///   sets a to-one relationship calls them if it leads elsewhere then. To-many relationships that follow from it may
  ///   have changed by then.
  /// - A merge of other contexts' commits, a rollback, an undo, a refresh, and a save that resolves conflicts or makes
  ///   derived values call them afterwards, if the property shows another value. A child's observers follow what its
  ///   parent changes.
  ///
  /// They mustn't change objects of the context while they are called. An object in no context has no observers: it
  /// reports from its insertion on. When an object leaves its context, the observers of its relationships are called,
  /// because these lead nowhere then. No observer is told of the end of a context.
  ///
  /// In a context in which this is false, a read costs no more than without observation. Where it is true, a read calls
  /// the context to find out whether it is observed, some 65 nanoseconds. Properties that aren't observed take no
  /// memory. A merge looks at the observed properties that it may change, and lists the members of observed to-many
  /// relationships whose links have changed somewhere.
  ///
  /// A child has no value of its own: it reads and sets the value of the outermost context.
  public var isObservable: Bool {
    get { observation != nil }
    set {
      let outermost = outermost
      if outermost.isObservable != newValue { outermost.setObservable(newValue) }
    }
  }

  /// Makes the objects of the context and of its children observable, or forgets their observers.
  func setObservable(_ isObservable: Bool) {
    observation?.removeAll()
    observation = isObservable ? ContextObservation() : nil
    hearersOfFaults = isObservable ? [.change, .reading] : .change
    for object in registeredObjects { object._$state.setReportsReading(isObservable) }
    hasObservableChildren = isObservable && !children.isEmpty
    children.forEach { $0.setObservable(isObservable) }
  }

  /// True if a property of an object has observers, here or in a child.
  var hasObservers: Bool {
    guard let observation else { return false }
    return !observation.isEmpty || children.contains(where: \.hasObservers)
  }

  // MARK: Reading

  /// Notes that a property is read, if an observation reads it.
  ///
  /// - Parameter isObserved: whether the object may have observers.
  func noteObserving(_ object: any ManagedObject, _ property: ObservedProperty, _ isObserved: Bool) {
    guard let observation else { return }
    if isObserved, observation.noteReading(property, of: key(of: object)) { return }
    if observation.isUnderWay() { observation.add(property, of: key(of: object), object) }
  }

  // MARK: Setting

  /// Tells the observers of slots that code is about to set, here and in children.
  func tellObservers(of object: any ManagedObject, willSet slots: SlotSet) {
    guard let observation else { return }
    let key = key(of: object)
    observation.tell(key) { $0.isAmong(slots) }
    children.forEach { $0.parentWillSet(slots, of: key) }
  }

  /// Tells observers that the parent is about to set slots of an object. Slots that the context has changed itself
  /// continue to show its own values.
  private func parentWillSet(_ slots: SlotSet, of key: ObjectKey) {
    guard let observation else { return }
    var slots = slots
    if let object = knownObject(key.number, of: entity(key.entity)) {
      if object._$state.phase == .inserted { return }
      slots.subtract(object._$state.changed)
    }
    if slots.isEmpty { return }
    observation.tell(key) { $0.isAmong(slots) }
    children.forEach { $0.parentWillSet(slots, of: key) }
  }

  // MARK: Members

  /// Tells the observers of a to-many relationship whose members are given by to-one relationships, that a member
  /// changes.
  ///
  /// - Parameters:
  ///   - slots: the member's slots that hold its owner and its place.
  ///   - member: the member.
  ///   - owner: the object whose relationship changes; `none` for no object.
  func tellOfMember(
    _ toOne: StoredToOne,
    _ slots: SlotSet,
    of member: ObjectKey,
    owner: ObjectNumber
  ) {
    guard let observation, !owner.isNone, case .toMany(let ordinal) = toOne.inverse else { return }
    let key = ObjectKey(entity: toOne.destination, number: owner)
    observation.tell(key) { $0 == .toMany(ordinal) }
    children.forEach { child in
      if let object = child.knownObject(member.number, of: entity(member.entity)) {
        if object._$state.phase == .inserted || !object._$state.changed.isDisjoint(with: slots) { return }
      }
      child.tellOfMember(toOne, slots, of: member, owner: owner)
    }
  }

  /// Tells the observers of one end of a many-to-many relationship that a pair is linked or unlinked, or gets another
  /// place.
  func tellOfPair(_ pair: PairEnd, isMoved: Bool = false) {
    guard let observation else { return }
    observation.tell(ObjectKey(entity: pair.entity, number: pair.owner)) { $0 == .toMany(pair.position) }
    children.forEach { child in
      let changes = child.entities[pair.entity].pairs[pair.position]
      let isOwn = [changes.links, changes.agreed].contains { $0.isLinked(pair.owner, pair.element) != nil }
      let isOwnPlace = changes.places[pair.owner, pair.element] != nil
      if isMoved ? !isOwnPlace : !isOwn { child.tellOfPair(pair, isMoved: isMoved) }
    }
  }
}

// MARK: - Beginning

extension ManagedObjectContext {
  /// Reports all changes that an observer sees as it begins: those of the parents, of the context itself, and of the
  /// children. The turn continues.
  ///
  /// Listeners may make further changes, which are reported as well.
  func tellBeforeObserving() {
    for _ in 0..<SaveHooks.roundLimit {
      tellOfUntold()
      tellWithinTurn()
      if !showsUntoldChanges { return }
    }
  }

  /// Returns the query of a list or a count that begins to follow the context.
  ///
  /// - Throws: `invalidQuery`, also for a query without unsaved changes: events tell when an object changes, and not
  ///   when the change is saved.
  func observedQuery<Object>(_ request: From<Object>) throws(ContextError) -> ResolvedQuery {
    let query = try resolved(request).query
    if !query.includesUnsavedChanges {
      throw ContextError(
        .invalidQuery,
        "a list or a count follows the unsaved changes of its context: leave out includingUnsavedChanges(false)"
      )
    }
    return query
  }
}
