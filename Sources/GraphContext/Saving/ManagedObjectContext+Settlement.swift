import Predicates

// Differences between the state that a save has stored and the one that its context showed.

/// The differences between the state that a save stores and the one that its context shows.
struct SaveSettlement {
  /// Objects that are stored otherwise than the context shows them: some values aren't stored, or more are changed. By
  /// the entity's ordinal; empty for none.
  var reverted: [Set<ObjectNumber>] = []
  /// New objects that are not stored, and the existing ones that they stand for, by the entity's ordinal; empty for
  /// none.
  var aliases: [[ObjectNumber: ObjectNumber]] = []
  /// Stored objects that get values of new ones, by the entity's ordinal; empty for none.
  var owners: [Set<ObjectNumber>] = []
  /// Objects that this save and others have changed.
  var merged: [ObjectKey] = []
  /// True if the save has had no failures before its objects were validated.
  var isShowable = true
  /// Conflicts that a custom policy must settle before the save stores anything.
  var undecided: [MergeDecisions.Undecided] = []
  /// Existing objects that must be validated before, and all that the save would store then.
  var unvalidated: [SettledOwner] = []
  var unvalidatedRequest: SaveRequest?

  /// True if the save must call a custom merge policy or a validation before it stores anything.
  var asksProgram: Bool { !undecided.isEmpty || unvalidatedRequest != nil }
}

extension ManagedObjectContext {
  /// Releases new objects that a save has settled with existing ones, and returns the IDs of both.
  ///
  /// - Parameter finish: notes the other objects as saved. Called before listeners, whose changes are unsaved again.
  func leaveSettled(
    _ settled: [[ObjectNumber: ObjectNumber]],
    _ finish: () -> Void
  ) -> [ManagedObjectID: ManagedObjectID] {
    if settled.isEmpty {
      finish()
      return [:]
    }
    undoManager?.forgetGroups(touching: settled, coordinator.schema)
    var ids: [ManagedObjectID: ManagedObjectID] = [:]
    tellingChanges(from: .store) {
      for (ordinal, owners) in settled.enumerated() where !owners.isEmpty {
        for object in entities[ordinal].changes.inserted {
          let number = object._$state.number
          guard let owner = owners.owner(of: number) else { continue }
          ids[id(number, entity(ordinal))] = id(owner, entity(ordinal))
          noteChange(of: object, isEdited: false)
          // The values exist nowhere else.
          children.forEach { $0.loadAttributesIfChanged(number, ordinal) }
          letGo(of: object, ordinal)
        }
      }
      // Added first: listeners that hear of the objects' leaving may ask for those that replace them.
      settledIDs.add(ids)
      finish()
      undoManager?.redirectReferences(settled, coordinator.schema)
    }
    return ids
  }

  /// Returns the values of objects that the children have seen so far, as records. Empty without children.
  func valuesShownToChildren(of objects: [Set<ObjectNumber>]) -> [ObjectKey: [UInt8]] {
    if children.isEmpty { return [:] }
    var values: [ObjectKey: [UInt8]] = [:]
    for (ordinal, numbers) in objects.enumerated() {
      let entity = entity(ordinal)
      for number in numbers {
        guard let object = knownObject(number, of: entity) else { continue }
        values[ObjectKey(entity: ordinal, number: number)] = recordOfValues(of: object, entity)
      }
    }
    return values
  }

  /// Reads objects anew whose values a policy has not all stored. In the children, links to settled objects lead to the
  /// existing ones from now on.
  ///
  /// - Parameters:
  ///   - shown: the values of the objects that the children have seen. Where the store has another value, a child's
  ///     change of it is a conflict.
  ///   - links: the result of ``shownLinks(before:_:)``.
  func revert(_ settlement: SaveSettlement, _ shown: [ObjectKey: [UInt8]], _ links: [PairEnd: Bool]) {
    let objects = settlement.reverted
    tellingChanges(from: .store) {
      for (ordinal, numbers) in objects.enumerated() {
        for number in numbers { revert(number, entity(ordinal)) }
      }
      noteLinks(thatDifferFrom: links)
      if objects.isEmpty || children.isEmpty { return }
      let owners = settlement.aliases
      if owners.contains(where: { !$0.isEmpty }) { children.forEach { $0.parentDidSettle(owners) } }
      for (key, change) in changes(from: shown, owners) {
        children.forEach { $0.parentDidForget(change, of: key.number, entity(key.entity)) }
      }
      children.forEach { $0.parentDidReplace(objects.map(Array.init)) }
    }
  }

  private func revert(_ number: ObjectNumber, _ entity: StoredEntity) {
    if let object = knownObject(number, of: entity) {
      noteChange(of: object, isEdited: false)
    } else if tracksChanges {
      // An existing object that a list has, or that comes into it, needn't be in memory.
      noteIfThere(ObjectKey(entity: entity.ordinal, number: number), nil)
    }
    update(number, entity, changedBy: .store)
  }

  /// Returns the links that a save may have stored otherwise than the context shows them, from both ends, and whether
  /// the context shows them. These are unsaved links, unless the save has stored them as they are, and other links that
  /// the save has stored.
  ///
  /// Must be called before the context forgets its unsaved changes. O(links of the save).
  func shownLinks(before outcome: SaveOutcome, _ settlement: SaveSettlement) -> [PairEnd: Bool] {
    // Only merging, settling and delete rules make a save store other links than the unsaved ones.
    if settlement.reverted.isEmpty, outcome.ruleChanges.objects.isEmpty { return [:] }
    guard tracksChanges else { return [:] }
    var shown: [PairEnd: Bool] = [:]
    for (ordinal, objects) in entities.enumerated() where objects.hasRelinks {
      for toMany in objects.entity.toManys where !toMany.isHidden {
        let (position, links) = (toMany.ordinal, objects.pairs[toMany.ordinal].links)
        for (changed, isLinked) in [(links.added, true), (links.removed, false)] {
          for (owner, elements) in changed {
            for element in elements {
              shown[PairEnd(entity: ordinal, position: position, owner: owner, element: element)] = isLinked
            }
          }
        }
      }
    }
    for (relationship, links) in outcome.changes?.links ?? [:] {
      links.forEachLink(of: relationship, in: coordinator.schema) { end, isLinked in
        shown[end] = shown[end] == isLinked ? nil : !isLinked
      }
    }
    return shown
  }

  /// Returns the changes that lead from records to the state of the source.
  ///
  /// - Parameter owners: the objects that settled ones stand for. A reference that led to a settled object and now
  ///   leads to such an object is no change.
  private func changes(
    from shown: [ObjectKey: [UInt8]],
    _ owners: [[ObjectNumber: ObjectNumber]]
  ) -> [ObjectKey: ForeignChange] {
    deferringError([:]) { () throws(ContextError) in
      var changes: [ObjectKey: ForeignChange] = [:]
      for (key, old) in shown {
        let entity = entity(key.entity)
        guard let record = try source.record(key.number, of: entity) else { continue }
        let new = RecordView(validated: record, layout: entity.layout)
        changes[key] = old.withUnsafeBytes { old in
          let old = RecordView(validated: old, layout: entity.layout)
          var change = ForeignChange(slots: source.slots(in: .all, of: new, thatDifferFrom: old, entity))
          for toOne in entity.toOnes where !owners.isEmpty {
            let owner = owners[toOne.destination].owner(of: old.reference(toOne.slot))
            if owner == new.reference(toOne.slot) { change.forget(SlotSet(toOne.slot)) }
          }
          for slot in change.slots {
            change.bases[slot] = try? source.value(of: old, at: slot, entity)
          }
          return change
        }
      }
      return changes
    }
  }
}

// MARK: - In a child

extension ManagedObjectContext {
  /// Handles the new objects that the parent's save has settled with existing ones: unsaved links of this context to
  /// them lead to the existing objects.
  func parentDidSettle(_ owners: [[ObjectNumber: ObjectNumber]]) {
    undoManager?.forgetGroups(touching: owners, coordinator.schema)
    undoManager?.redirectReferences(owners, coordinator.schema)
    for ordinal in entities.indices { entities[ordinal].redirectRuledReferences(owners) }
    tellingChanges(from: .parent) {
      // Not undoable: undoing it would lead to an object that has left the context. Changes by listeners are undoable.
      let registers = undoManager?.isRegistrationEnabled
      undoManager?.isRegistrationEnabled = false
      defer { if let registers { undoManager?.isRegistrationEnabled = registers } }
      listings.removeAll()
      for entity in coordinator.schema.entities {
        for toOne in entity.toOnes { redirect(toOne, of: entity, owners) }
      }
      for ordinal in entities.indices { entities[ordinal].forgetDerived() }
      redirectPairs(owners)
      listings.removeAll()
    }
    children.forEach { $0.parentDidSettle(owners) }
  }

  private func redirect(
    _ toOne: StoredToOne,
    of entity: StoredEntity,
    _ owners: [[ObjectNumber: ObjectNumber]]
  ) {
    let destination = self.entity(toOne.destination)
    if owners[destination.ordinal].isEmpty { return }
    let changes = entities[entity.ordinal].changes
    for object in changes.inserted + changes.updated
    where owners[entity.ordinal][object._$state.number] == nil && object.hasSet(toOne.slot) {
      let settled = object.reference(at: toOne.slot)
      guard let owner = owners[destination.ordinal].owner(of: settled) else { continue }
      // Members of a list keep their order.
      let keeper = toOne.list.map { OrderKeeper(self, $0.table) }
      let place = keeper?.entry(of: object, in: settled).place
      object.setReference(at: toOne.slot, to: owner)
      relationships.didSetToOne(of: object, slot: toOne.slot, from: .none, to: owner)
      keeper?.setPlace(of: object, in: owner, place)
      // The other end of a one-to-one relationship was changed with it.
      if case .toOne(let inverse) = toOne.inverse, let settled = knownObject(settled, of: destination) {
        settled._$state.forgetChanges(in: SlotSet(inverse))
      }
    }
  }

  /// A link of a settled object, as one of the existing object.
  private struct RedirectedLink {
    let entity: StoredEntity
    let toMany: StoredToMany
    let owner: ObjectNumber
    let element: ObjectNumber
    /// The place of the link; nil where the relationship has no order.
    let place: ListPlace?
    /// True for a link that was added, false for one that was moved.
    let isAdded: Bool
  }

  private func redirectPairs(_ owners: [[ObjectNumber: ObjectNumber]]) {
    var redirected: [RedirectedLink] = []
    for entity in coordinator.schema.entities {
      for toMany in entity.toManys { redirected += takeLinks(ofSettled: owners, entity, toMany) }
    }
    for link in redirected where link.isAdded {
      let element = object(link.element, of: self.entity(link.toMany.destination))
      add(element, to: object(link.owner, of: link.entity), toMany: link.toMany.ordinal)
    }
    // Members of a list keep their order. `redirected` has an entry for each end of a link, so each call gives the link
    // its place at one end.
    for link in redirected {
      guard let place = link.place, let keeper = relationships.order(of: link.toMany) else { continue }
      let owner = object(link.owner, of: link.entity)
      if relationships.isElement(link.element, of: owner, toMany: link.toMany.ordinal) {
        let element = object(link.element, of: self.entity(link.toMany.destination))
        keeper.setPlace(of: element, in: link.owner, place)
      }
    }
  }

  /// Takes the unsaved links of settled objects, and the places of links, out of one end of a relationship.
  ///
  /// - Returns: the links that they become, by the places that they had.
  private func takeLinks(
    ofSettled owners: [[ObjectNumber: ObjectNumber]],
    _ entity: StoredEntity,
    _ toMany: StoredToMany
  ) -> [RedirectedLink] {
    let (sources, targets) = (owners[entity.ordinal], owners[toMany.destination])
    if sources.isEmpty, targets.isEmpty { return [] }
    func isElsewhere(_ owner: ObjectNumber, _ element: ObjectNumber) -> Bool {
      sources[owner] == nil && targets[element] == nil
    }
    let (ordinal, position) = (entity.ordinal, toMany.ordinal)
    let (links, places) = (entities[ordinal].pairs[position].links, entities[ordinal].pairs[position].places)
    var taken: [RedirectedLink] = []
    func take(_ owner: ObjectNumber, _ element: ObjectNumber, _ place: ListPlace?, isAdded: Bool) {
      if isElsewhere(owner, element) { return }
      taken.append(
        RedirectedLink(
          entity: entity,
          toMany: toMany,
          owner: sources.owner(of: owner) ?? owner,
          element: targets.owner(of: element) ?? element,
          place: place,
          isAdded: isAdded
        )
      )
    }
    for (owner, elements) in links.added {
      for element in elements {
        let place = toMany.list.map { _ in places[owner, element] ?? ListPlace(of: element) }
        take(owner, element, place, isAdded: true)
      }
    }
    for (owner, moved) in places.byOwner {
      for (element, place) in moved where links.isLinked(owner, element) == nil {
        take(owner, element, place, isAdded: false)
      }
    }
    entities[ordinal].pairs[position].filter(isElsewhere)
    return taken.sorted { left, right in
      guard let (first, second) = left.place.flatMap({ place in right.place.map { (place, $0) } }) else {
        return (left.owner, left.element) < (right.owner, right.element)
      }
      return (left.owner, first, left.element) < (right.owner, second, right.element)
    }
  }
}

extension [Int: ObjectNumber] {
  /// Returns the targets of references by slot, with the objects that settled targets stand for in their place.
  ///
  /// - Parameters:
  ///   - owners: the existing objects that settled ones stand for, by the entity's ordinal.
  ///   - slots: the slots of the references to look at.
  func redirected(
    _ owners: [[ObjectNumber: ObjectNumber]],
    from entity: StoredEntity,
    in slots: SlotSet = .all
  )
    -> Self
  {
    var redirected = self
    for toOne in entity.toOnes where slots.contains(toOne.slot) {
      guard let target = self[toOne.slot] else { continue }
      if let owner = owners[toOne.destination].owner(of: target) { redirected[toOne.slot] = owner }
    }
    return redirected
  }
}

extension [ObjectNumber: ObjectNumber] {
  /// Returns the object that a settled one stands for, whose policy may have settled it in turn; nil for any other
  /// object.
  fileprivate func owner(of number: ObjectNumber) -> ObjectNumber? {
    guard var owner = self[number] else { return nil }
    while let next = self[owner] { owner = next }
    return owner
  }
}

extension ManagedObject {
  /// Returns true if the object is new, or a slot has an unsaved change.
  fileprivate func hasSet(_ slot: Int) -> Bool {
    _$state.phase == .inserted || _$state.changed.contains(slot)
  }
}
