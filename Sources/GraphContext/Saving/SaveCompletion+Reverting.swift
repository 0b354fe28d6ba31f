import Predicates

// Objects and links that a save has stored otherwise than its context showed them.

extension SaveCompletion {
  /// Makes the children keep the values of objects that they have changed and others have deleted. The context loses
  /// them with the save, and children read other objects before they hear of that.
  func keepValuesInChildren() {
    if context.children.isEmpty { return }
    for (ordinal, numbers) in differences.reverted.enumerated() {
      for number in numbers where context.entities[ordinal].mayBeMissing(number) {
        context.children.forEach { $0.loadAttributesIfChanged(number, ordinal) }
        context.children.forEach { $0.noteMissingIfChanged(number, ordinal) }
      }
    }
  }

  /// Returns the values that the children have seen so far of objects that are stored otherwise, as records. Empty
  /// without children.
  func valuesShownToChildren() -> [ObjectKey: [UInt8]] {
    if context.children.isEmpty { return [:] }
    var values: [ObjectKey: [UInt8]] = [:]
    for (ordinal, numbers) in differences.reverted.enumerated() {
      let entity = context.entity(ordinal)
      for number in numbers {
        guard let object = context.knownObject(number, of: entity) else { continue }
        values[ObjectKey(entity: ordinal, number: number)] = context.recordOfValues(of: object, entity)
      }
    }
    return values
  }

  /// Returns the links that the save may have stored otherwise than the context shows them, from both ends, and whether
  /// the context shows them. These are unsaved links, unless the save has stored them as they are, and other links that
  /// the save has stored.
  ///
  /// Must be called before the context forgets its unsaved changes. O(links of the save).
  func shownLinks() -> [PairEnd: Bool] {
    // Only merging, unifying and delete rules make a save store other links than the unsaved ones.
    if differences.reverted.isEmpty, outcome.ruleChanges.objects.isEmpty { return [:] }
    guard context.tracksChanges else { return [:] }
    var shown: [PairEnd: Bool] = [:]
    for (ordinal, objects) in context.entities.enumerated() where objects.hasRelinks {
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
      links.forEachLink(of: relationship, in: context.coordinator.schema) { end, isLinked in
        shown[end] = shown[end] == isLinked ? nil : !isLinked
      }
    }
    return shown
  }

  /// Reads objects anew that are stored otherwise than they were shown. In the children, links to unified objects lead
  /// to the existing ones from now on.
  ///
  /// - Parameters:
  ///   - values: the result of ``valuesShownToChildren()``. Where the store has another value, a child's change of it
  ///     is a conflict.
  ///   - links: the result of ``shownLinks()``.
  func revert(_ values: [ObjectKey: [UInt8]], _ links: [PairEnd: Bool]) {
    let (objects, owners) = (differences.reverted, differences.aliases)
    context.tellingChanges(from: .store) {
      for (ordinal, numbers) in objects.enumerated() {
        for number in numbers { revert(number, context.entity(ordinal)) }
      }
      context.noteLinks(thatDifferFrom: links)
      if objects.isEmpty || context.children.isEmpty { return }
      if owners.contains(where: { !$0.isEmpty }) { context.children.forEach { $0.parentDidUnify(owners) } }
      for (key, change) in changes(from: values) {
        let entity = context.entity(key.entity)
        context.children.forEach { $0.parentDidForget(change, of: key.number, entity) }
      }
      context.children.forEach { $0.parentDidReplace(objects.map(Array.init)) }
    }
  }

  private func revert(_ number: ObjectNumber, _ entity: StoredEntity) {
    if let object = context.knownObject(number, of: entity) {
      context.noteChange(of: object, isEdited: false)
    } else if context.tracksChanges {
      // An existing object that a list has, or that comes into it, needn't be in memory.
      context.noteIfThere(ObjectKey(entity: entity.ordinal, number: number), nil)
    }
    context.update(number, entity, changedBy: .store)
  }

  /// Returns the changes that lead from records to the state that the context shows by now. A reference that led to a
  /// unified object and now leads to the existing object that it stands for is no change.
  private func changes(from values: [ObjectKey: [UInt8]]) -> [ObjectKey: ForeignChange] {
    let (source, owners) = (context.source, differences.aliases)
    return context.deferringError([:]) { () throws(ContextError) in
      var changes: [ObjectKey: ForeignChange] = [:]
      for (key, old) in values {
        let entity = context.entity(key.entity)
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
