import Predicates

// The changes that others have made since the saving context read an object.

extension MergeResolver {
  func foreignChange(
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ForeignChange {
    var change = knownChange(of: number, entity)
    let later = foreign.change(of: number, entity.number)
    change.merge(later)
    if change.isRevived { change.slots.formUnion(try revivedSlots(of: number, entity)) }
    change.isRevived = false
    change.slots.subtract(try restoredReferences(of: number, entity, in: change.slots))
    // A derived value is no change of its own: it follows the values it is derived from.
    change.slots.subtract(entity.derivedSlots)
    return change
  }

  /// Returns the changes that the context had when it moved to the state that it shows.
  private func knownChange(of number: ObjectNumber, _ entity: StoredEntity) -> ForeignChange {
    request.conflicts[entity.ordinal][number] ?? ForeignChange()
  }

  /// Returns the slots in which an object that others have deleted and brought back has, or may have, other
  /// values than before.
  private func revivedSlots(of number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) -> SlotSet {
    guard let bytes = try newest.record(number, of: entity) else { return .empty }
    let record = RecordView(validated: bytes, layout: entity.layout)
    let known = knownChange(of: number, entity)
    var slots = SlotSet.empty
    for slot in entity.schema.stored.indices where !known.isDeleted || known.bases[slot] != nil {
      let value = try newest.value(of: record, at: slot, entity)
      if try baseValue(at: slot, of: number, entity) != value { slots.insert(slot) }
    }
    return slots
  }

  /// Returns the slots of the references that lead to the same object as before all changes, which was deleted and
  /// brought back. Unlike a number, a reference counts nothing, so that is no change.
  private func restoredReferences(
    of number: ObjectNumber,
    _ entity: StoredEntity,
    in slots: SlotSet
  ) throws(ContextError) -> SlotSet {
    let references = slots.intersection(entity.referenceSlots)
    guard !references.isEmpty, let bytes = try newest.record(number, of: entity) else { return .empty }
    let record = RecordView(validated: bytes, layout: entity.layout)
    var restored = SlotSet.empty
    for slot in references {
      let value = try newest.value(of: record, at: slot, entity)
      if try baseValue(at: slot, of: number, entity) == value { restored.insert(slot) }
    }
    return restored
  }

  /// Returns the value that the saving context has seen in a slot before it changed the slot; nil if it isn't known.
  func baseValue(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> AttributeValue? {
    let known = knownChange(of: number, entity)
    if let value = known.bases[slot] { return value }
    // The context has moved on to a state that has another context's value, so the base is no longer known.
    if known.isDeleted || known.slots.contains(slot) { return nil }
    guard let bytes = try base.record(number, of: entity) else { return nil }
    return try base.value(of: RecordView(validated: bytes, layout: entity.layout), at: slot, entity)
  }
}
