import Predicates

// The derived values of saved objects.

extension ManagedObjectContext {
  /// Makes the derived values of a saved object be read again, here and in children.
  func forgetDerivedValues(of number: ObjectNumber, _ entity: StoredEntity) {
    knownObject(number, of: entity)?._$state.forgetUnchangedValues(in: entity.derivedSlots)
    children.forEach { $0.forgetDerivedValues(of: number, entity) }
  }

  /// Returns the derived values that objects have got in a commit of the context, which shows that commit by now. Until
  /// then a new object had none.
  func derivedValues(in own: ChangeSet) -> RuleChanges {
    var derived = RuleChanges()
    for (number, objects) in own.objects {
      guard let entity = coordinator.schema.entity(number), !entity.derivedSlots.isEmpty else { continue }
      for update in objects.updated {
        derived.noteUpdated(update.number, slots: update.slots.intersection(entity.derivedSlots), of: number)
      }
      for new in objects.inserted {
        derived.noteUpdated(new, slots: slotsOfDerivedValues(of: new, entity), of: number)
      }
    }
    return derived
  }

  /// Returns the slots in which a new object has a value that isn't the one it had before it was saved.
  private func slotsOfDerivedValues(of new: ObjectNumber, _ entity: StoredEntity) -> SlotSet {
    deferringError(SlotSet.empty) { () throws(ContextError) in
      guard let record = try source.record(new, of: entity) else { return .empty }
      let view = RecordView(validated: record, layout: entity.layout)
      var slots = SlotSet.empty
      for derivation in entity.derivations where entity.ownSlots(of: new).contains(derivation.slot) {
        let isRequired = entity.requiredSlots(of: new).contains(derivation.slot)
        let isFoldedText = derivation.aggregate == nil && isRequired
        let unsaved = isFoldedText ? AttributeValue.string("") : derivation.emptyValue
        if view.value(derivation.slot) != unsaved { slots.insert(derivation.slot) }
      }
      return slots
    }
  }
}
