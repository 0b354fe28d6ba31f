import Predicates

// Child contexts. A child always shows the state of its parent, including the parent's unsaved changes. Before an
// object changes in the parent, the child forgets the values of the object that it has read.

extension ManagedObjectContext {
  /// Makes a context that saves to this one: for a form that can be cancelled, or for a step of an import that can
  /// fail.
  ///
  /// ```swift
  /// let draft = context.makeChild()
  /// let song = try draft.object(Song.self, with: id)
  /// song.title = "Carey"
  /// try draft.save()      // The parent has the change now, unsaved.
  /// try context.save()    // The store has it.
  /// ```
  ///
  /// The child always shows the current state of this context, including its unsaved changes. Properties that were
  /// changed in the child keep their values there. Saving the child makes its changes those of this context: a property
  /// that was changed in both gets the child's value. An object that was deleted here and changed in the child is a
  /// conflict. A child that is not saved changes nothing. The save of the outermost context checks uniqueness and the
  /// rule `deny`, because only the store has all objects.
  ///
  /// A child of a read-only context is read-only for good. If its parent becomes read-only later, the child throws
  /// `readOnlyContext` when it saves.
  ///
  /// New objects have their final IDs. A child can have children. It belongs to the task that this context belongs to.
  /// It lives as long as the program holds it. Afterwards its objects are gone, as after a reset. O(entities).
  ///
  /// - Parameter name: the child's name in messages.
  public func makeChild(name: String? = nil) -> ManagedObjectContext {
    let child = ManagedObjectContext(coordinator, showing: ParentSource(self), parent: self)
    child.cancellation = cancellation
    child.saveTimeout = saveTimeout
    child.isReadOnly = isReadOnly
    child.name = name
    if isObservable { child.setObservable(true) }
    hasObservableChildren = isObservable
    children.add(child)
    return child
  }

  /// Forgets the values of an object that were read from the parent, before the parent changes the object.
  func parentWillChange(_ number: ObjectNumber, _ ordinal: Int) {
    parentLinksWillChange(ofReferencesIn: ordinal)
    if let object = knownObject(number, of: entity(ordinal)), object._$state.phase != .inserted {
      object._$state.forgetUnchangedValues()
      if object._$state.hasChanges { entities[ordinal].encoded?.noteStale(number) }
      // Children that have changed an object which is deleted here keep its values: they can't read them any more.
      if object._$state.phase == .deleted { return }
    }
    children.forEach { $0.parentWillChange(number, ordinal) }
  }

  /// Forgets lists of members, and links that were derived from references of an entity's objects.
  private func parentLinksWillChange(ofReferencesIn ordinal: Int) {
    listings.removeAll()
    entities[ordinal].forgetReferences()
  }

  /// Handles a reference in the parent that is about to lead elsewhere: lists of members change.
  func parentMembersWillChange(ofReferencesIn ordinal: Int) {
    parentLinksWillChange(ofReferencesIn: ordinal)
    children.forEach { $0.parentMembersWillChange(ofReferencesIn: ordinal) }
  }

  /// Handles a pair that the parent has linked or unlinked. An equal unsaved change of this context is no longer a
  /// difference to the parent. A change that was no difference before is one again.
  func parentDidChangePair(_ owner: ObjectNumber, _ element: ObjectNumber, _ table: LinkTable, isLinked: Bool)
  {
    guard case .pairs(let ordinal, let position) = table.origin else { return }
    listings.removeAll()
    entities[ordinal].pairs[position].forgetLists()
    if entities[ordinal].pairs[position].agreed.isLinked(owner, element) == !isLinked {
      entities[ordinal].pairs[position].noteDiffering(owner, element, isLinked: !isLinked)
      // The link is shown as before, but perhaps at another place.
      children.forEach { $0.parentOrderDidChange(ofPairs: position, ordinal) }
      return
    }
    let known = entities[ordinal].pairs[position].links.isLinked(owner, element)
    if known == isLinked { entities[ordinal].pairs[position].noteAgreed(owner, element, isLinked: isLinked) }
    // If this context has an unsaved change of the pair, that hides the parent's, so nothing changes for its children.
    if known == nil {
      // If the link no longer exists, its move is forgotten.
      if !isLinked { entities[ordinal].pairs[position].setPlace(nil, of: element, in: owner) }
      children.forEach { $0.parentDidChangePair(owner, element, table, isLinked: isLinked) }
    }
  }

  /// Handles a link that has got another place in the parent.
  func parentOrderDidChange(ofPairs position: Int, _ ordinal: Int) {
    listings.removeAll()
    entities[ordinal].pairs[position].forgetLists()
    children.forEach { $0.parentOrderDidChange(ofPairs: position, ordinal) }
  }

  /// Handles objects that the parent has deleted, whose changes it has rolled back, or of which it has saved other
  /// values than it showed.
  func parentDidReplace(_ numbers: [[ObjectNumber]]) {
    listings.removeAll()
    for (ordinal, numbers) in numbers.enumerated() where !numbers.isEmpty {
      entities[ordinal].forgetReferences()
      for number in numbers { update(number, entity(ordinal), changedBy: .parent) }
    }
    normalisePairs()
    children.forEach { $0.parentDidReplace(numbers) }
  }

  // MARK: Saves of children

  /// Applies the changes of a child to this context: all of them, or none. If the store can't be read meanwhile, only
  /// some are applied, and this context throws until it is rolled back.
  ///
  /// - Parameter finish: notes the child's objects as saved. Called before listeners are.
  /// - Throws: `conflict` for an object that the child has changed and that was deleted here; `readOnlyContext` if this
  ///   context only reads.
  func accept(
    _ request: SaveRequest,
    _ handedOver: HandedOver,
    _ finish: () -> Void
  ) throws(ContextError) {
    if isReadOnly { throw .readOnlyContext() }
    try checkUsable()
    let acceptor = RequestAcceptor(request, in: self)
    try acceptor.checkExistence()
    self.handedOver = handedOver
    defer { self.handedOver = nil }
    try tellingChanges(from: .child, handedOver: handedOver) { () throws(ContextError) in
      try acceptor.apply()
      finish()
    }
  }

  /// Shows the changes of a save that is yet to be stored, in a context that has no other use.
  func preview(_ request: SaveRequest) throws(ContextError) {
    try RequestAcceptor(request, in: self).apply()
    isReadOnly = true
  }

  /// Handles the new objects that the parent's save has unified with existing ones: unsaved links of this context to
  /// them lead to the existing objects.
  func parentDidUnify(_ owners: [[ObjectNumber: ObjectNumber]]) {
    undoManager?.forgetGroups(touching: owners, coordinator.schema)
    undoManager?.redirectReferences(owners, coordinator.schema)
    for ordinal in entities.indices { entities[ordinal].redirectRuledReferences(owners) }
    tellingChanges(from: .parent) {
      // Not undoable: undoing it would lead to an object that has left the context. Changes by listeners are undoable.
      let registers = undoManager?.isRegistrationEnabled
      undoManager?.isRegistrationEnabled = false
      defer { if let registers { undoManager?.isRegistrationEnabled = registers } }
      AliasRedirector(self, owners).redirect()
    }
    children.forEach { $0.parentDidUnify(owners) }
  }
}
