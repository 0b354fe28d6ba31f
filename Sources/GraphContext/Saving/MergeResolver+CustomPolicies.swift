import Predicates

// Conflicts that the program decides.

extension MergeResolver {
  /// Applies what the policy has decided about slots, or notes that it has yet to decide.
  mutating func applyDecisions(
    about slots: SlotSet,
    _ patch: EntityChanges.Patch,
    _ entity: StoredEntity
  ) throws(ContextError) {
    guard let bytes = try newest.record(patch.number, of: entity) else { return }
    let theirs = RecordView(validated: bytes, layout: entity.layout)
    let conflict = MergeConflict(id(patch.number, entity), try properties(slots, patch, theirs, entity))
    guard let choices = decisions.choices(for: conflict, at: theirs.commit) else {
      return undecided.append(
        .init(conflict: conflict, commit: theirs.commit, ordinal: entity.ordinal, coordinator: coordinator)
      )
    }
    for slot in slots {
      switch choices[entity.schema.stored[slot].name] {
      case .mine: break
      case .theirs: try drop(SlotSet(slot), of: patch.number, entity)
      case .value(let value): set(value, at: slot, of: patch.number, entity)
      case nil: noteConflict(patch.number, entity, SlotSet(slot))
      }
    }
  }

  private func properties(
    _ slots: SlotSet,
    _ patch: EntityChanges.Patch,
    _ theirs: RecordView,
    _ entity: StoredEntity
  ) throws(ContextError) -> [MergeConflict.Property] {
    let mine = RecordView(validated: patch.bytes, layout: entity.layout)
    var properties: [MergeConflict.Property] = []
    for slot in slots {
      properties.append(
        MergeConflict.Property(
          name: entity.schema.stored[slot].name,
          base: try baseValue(at: slot, of: patch.number, entity),
          mine: mine.value(slot),
          theirs: try newest.value(of: theirs, at: slot, entity)
        )
      )
    }
    return properties
  }

  /// Stores a value that neither side has; nil for one that the attribute's type refuses.
  private mutating func set(
    _ value: AttributeValue?,
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    let changes = request.entities[entity.ordinal]
    guard let index = changes.patchIndex(of: number) else { return }
    let patch = changes.updated[index]
    let property = entity.schema.stored[slot]
    // A custom policy can't set a relationship: its inverse would not follow.
    guard let value, property.kind.holds(value), !entity.referenceSlots.contains(slot) else {
      return request.failures.note(.refusedDecision(id(number, entity), property.name))
    }
    let record = RecordView(validated: patch.bytes, layout: entity.layout)
    let bytes = changes.encoder.encode(record, replacing: slot, with: value)
    changes.updated[index].bytes = UnsafeRawBufferPointer(bytes)
    reverted[entity.ordinal].insert(number)
    RecordChecks(coordinator).check(
      RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout),
      refused: changes.encoder.refused,
      number,
      entity,
      in: SlotSet(slot),
      &request.failures
    )
  }
}
