import Predicates

// Changes of the saving context that are not stored.

extension MergeResolver {
  /// Removes the patch of an object that others have deleted. If this save makes other objects refer to it, the save
  /// fails.
  mutating func remove(_ patch: EntityChanges.Patch, _ entity: StoredEntity) {
    let changes = request.entities[entity.ordinal]
    guard let index = changes.patchIndex(of: patch.number) else { return }
    changes.updated[index].slots = .empty
    reverted[entity.ordinal].insert(patch.number)
  }

  /// Takes slots out of an object's patch, and with each slot of a one-to-one relationship the others of the same
  /// change.
  mutating func drop(
    _ slots: SlotSet,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) {
    var dropped = [(entity, number, slots)]
    while let (entity, number, references) = dropped.popLast() {
      let slots = references.union(entity.places(of: references))
      let changes = request.entities[entity.ordinal]
      guard let index = changes.patchIndex(of: number) else { continue }
      let patch = changes.updated[index]
      let present = patch.slots.intersection(slots)
      if present.isEmpty { continue }
      changes.updated[index].slots.subtract(slots)
      reverted[entity.ordinal].insert(number)
      for toOne in entity.toOnes where present.contains(toOne.slot) {
        try refuseCascade(to: number, entity, by: toOne)
        guard case .toOne(let inverse) = toOne.inverse else { continue }
        let partners = [
          RecordView(validated: patch.bytes, layout: entity.layout).reference(toOne.slot),
          try base.reference(at: toOne.slot, of: number, entity),
        ]
        let destination = schema.entities[toOne.destination]
        for partner in partners where !partner.isNone {
          dropped.append((destination, partner, SlotSet(inverse)))
          unlinkInserted(partner, destination, slot: inverse, from: number)
        }
      }
    }
  }

  /// Notes a conflict if an object keeps a reference to an object that this save deletes, so that a rule would delete
  /// the first one too. The first one was moved away here, and neither side has deleted it.
  private mutating func refuseCascade(
    to number: ObjectNumber,
    _ entity: StoredEntity,
    by toOne: StoredToOne
  ) throws(ContextError) {
    let owner = try newest.reference(at: toOne.slot, of: number, entity)
    let destination = schema.entities[toOne.destination]
    let cascades = destination.incoming.contains {
      $0.source == entity.ordinal && $0.toOne.slot == toOne.slot && $0.rule == .cascade
    }
    guard cascades, !owner.isNone, request.entities[toOne.destination].deletes(owner) else { return }
    noteConflict(number, entity, SlotSet(toOne.slot))
  }

  /// Sets the reference of a new object to nil if its partner keeps another object.
  private mutating func unlinkInserted(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    slot: Int,
    from partner: ObjectNumber
  ) {
    let changes = request.entities[entity.ordinal]
    guard let index = changes.insertedIndex(of: number) else { return }
    let bytes = UnsafeRawBufferPointer(changes.inserted[index].bytes)
    let record = RecordView(validated: bytes, layout: entity.layout)
    guard record.reference(slot) == partner else { return }
    if entity.requiredSlots(of: number).contains(slot) {
      return noteConflict(number, entity, SlotSet(slot))
    }
    let new = changes.encoder.encode(record, replacing: slot, with: .null)
    changes.inserted[index] = .init(number: number, bytes: new)
    reverted[entity.ordinal].insert(number)
  }
}
