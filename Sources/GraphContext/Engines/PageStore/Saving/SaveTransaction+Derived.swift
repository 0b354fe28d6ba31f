import PageStore
import Predicates

// Derived values. Folded copies belong to the records that the save stores anyway. Aggregates belong to the objects
// at the other end of relationships: changes of members are noted, and their owners' records are updated when
// everything else is stored.
//
// If only derived values change, a record keeps its commit: another save can't conflict with such a change.

// MARK: - Records of the save

extension SaveTransaction {
  /// New records with the derived values that objects begin with.
  func deriveFirst(
    of records: [EntityChanges.Record],
    _ entity: StoredEntity,
    _ encoder: inout RecordEncoder
  ) -> [EntityChanges.Record] {
    if entity.derivations.isEmpty { return records }
    return records.map { record in
      let view = RecordView(validated: UnsafeRawBufferPointer(record.bytes), layout: entity.layout)
      var values: [Int: AttributeValue] = [:]
      let own = entity.ownSlots(of: record.number)
      for derivation in entity.derivations where own.contains(derivation.slot) {
        let value =
          if case .folded(let source, let options) = derivation.source {
            view.folded(source, options)
          } else {
            derivation.emptyValue
          }
        if view.value(derivation.slot) != value { values[derivation.slot] = value }
      }
      if values.isEmpty { return record }
      return .init(number: record.number, bytes: encoder.encode(view, replacing: values, entity))
    }
  }

  /// Returns a changed record with folded copies of the changed values, and the slots that differ from the
  /// stored record.
  func deriveCopies(
    of bytes: UnsafeMutableRawBufferPointer,
    from old: RecordView,
    changed: SlotSet,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ encoder: inout RecordEncoder
  ) -> (bytes: UnsafeMutableRawBufferPointer, slots: SlotSet) {
    var values: [Int: AttributeValue] = [:]
    let new = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
    let own = entity.ownSlots(of: number)
    for derivation in entity.derivations where own.contains(derivation.slot) {
      guard case .folded(let source, let options) = derivation.source, changed.contains(source)
      else { continue }
      let value = new.folded(source, options)
      if old.value(derivation.slot) != value { values[derivation.slot] = value }
    }
    if values.isEmpty { return (bytes, .empty) }
    return (encoder.encode(new, replacing: values, entity), SlotSet(values.keys))
  }
}

// MARK: - What becomes of members

extension SaveTransaction {
  /// Notes how a changed record affects the objects that it is a member of; nil stands for no record.
  mutating func noteDerived(
    from old: RecordView?,
    to new: RecordView?,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    for member in schema.memberDerivations[entity.ordinal] {
      let before = member.value.flatMap { value in old?.value(value.slot) }
      let after = member.value.flatMap { value in new?.value(value.slot) }
      switch member.storage {
      case .references(let slot, _):
        let (from, to) = (old?.reference(slot) ?? .none, new?.reference(slot) ?? .none)
        if from != to {
          if !from.isNone { derived.note(member, of: from, gone: before, come: nil) }
          if !to.isNone { derived.note(member, of: to, gone: nil, come: after) }
        } else if before != after, !to.isNone {
          derived.note(member, of: to, gone: before, come: after)
        }
      case .pairs(let trees):
        // Added and removed links are noted separately.
        if before != after, old != nil, new != nil { derived.noteChanged(number, in: trees.backward) }
      }
    }
  }

  /// Notes how an added or removed link of a many-to-many relationship affects its ends.
  mutating func noteDerived(_ owner: ObjectNumber, _ element: ObjectNumber, _ trees: PairTrees) {
    if !schema.derivesFromPairs { return }
    for entity in schema.entities {
      for derivation in entity.derivations {
        guard case .pairs(let known)? = derivation.aggregate?.relationship.storage else { continue }
        if known.forward == trees.forward { derived.noteStale(derivation.slot, of: owner, entity.ordinal) }
        if known.forward == trees.backward { derived.noteStale(derivation.slot, of: element, entity.ordinal) }
      }
    }
  }
}

// MARK: - Owners

extension SaveTransaction {
  /// Updates the derived values of all objects whose members have changed.
  mutating func storeDerived(_ transaction: inout WriteTransaction) throws {
    if derived.isEmpty { return }
    try noteOwnersOfChangedMembers(&transaction)
    for entity in schema.entities where !entity.derivations.isEmpty {
      let owners = derived.takeOwners(entity.ordinal)
      if owners.isEmpty { continue }
      // The closures of the reader can't capture the transaction.
      let trees = try treesOfMembers(of: entity, &transaction)
      var values = DerivedValues<WriteTree>(schema) { trees[$0] }
      var encoder = RecordEncoder(layout: entity.layout)
      for (number, change) in owners {
        encoder.removeAll()
        try store(change, of: number, entity, &values, &encoder, &transaction)
      }
    }
  }

  private mutating func noteOwnersOfChangedMembers(_ transaction: inout WriteTransaction) throws {
    for (treeName, members) in derived.takeChangedMembers() {
      for entity in schema.entities {
        for derivation in entity.derivations {
          guard case .pairs(let trees)? = derivation.aggregate?.relationship.storage,
            trees.backward == treeName, derivation.aggregate?.value != nil
          else { continue }
          for member in members {
            for owner in try linked(to: member, in: treeName, &transaction) {
              derived.noteStale(derivation.slot, of: owner, entity.ordinal)
            }
          }
        }
      }
    }
  }

  private mutating func treesOfMembers(
    of entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws -> [String: WriteTree] {
    var trees: [String: WriteTree] = [:]
    for name in schema.memberTrees(of: entity) { trees[name] = try tree(name, &transaction) }
    return trees
  }

  private mutating func store(
    _ change: DerivedChanges.Owner,
    of number: ObjectNumber,
    _ entity: StoredEntity,
    _ values: inout DerivedValues<WriteTree>,
    _ encoder: inout RecordEncoder,
    _ transaction: inout WriteTransaction
  ) throws {
    let records = try records(entity, &transaction)
    guard try withKey(number, { key throws(StoreError) in try records.contains(key) }) else { return }
    let old = try storedBytes(number, entity, &transaction)
    try old.withUnsafeBytes { old in
      let record = RecordView(validated: old, layout: entity.layout)
      let changed = try changedValues(by: change, of: number, record, entity, &values)
      if changed.isEmpty { return }
      let bytes = encoder.encode(record, replacing: changed, entity)
      try encoder.checkComplete(of: entity.name)
      RecordEncoder.stamp(bytes, commit: record.commit)
      let new = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
      try replaceKeys(from: record, to: new, number, entity, &transaction)
      try withKey(number) { key throws(StoreError) in
        _ = try records.put(key, UnsafeRawBufferPointer(bytes))
      }
      if request.entities.indices.contains(entity.ordinal),
        request.entities[entity.ordinal].insertedIndex(of: number) != nil
      {
        return
      }
      for slot in changed.keys { ruleChanges.noteUpdated(number, slot: slot, of: entity.number) }
    }
  }

  /// Returns the derived values of an object that differ from those in its record, by slot. Notes a failure for a
  /// number that an attribute's kind can't hold.
  private mutating func changedValues(
    by change: DerivedChanges.Owner,
    of number: ObjectNumber,
    _ record: RecordView,
    _ entity: StoredEntity,
    _ values: inout DerivedValues<WriteTree>
  ) throws -> [Int: AttributeValue] {
    var changed: [Int: AttributeValue] = [:]
    let own = entity.ownSlots(of: number)
    for derivation in entity.derivations where derivation.aggregate != nil && own.contains(derivation.slot) {
      let stored = record.value(derivation.slot)
      let value: AttributeValue? =
        switch change.value(of: derivation, stored) {
        case .known(let value): value
        case .unknown: try values.value(of: derivation, number, record)
        }
      guard let value else {
        failures.note(.tooGreat(derivation, of: number, entity, id(number, entity)))
        continue
      }
      if value != stored { changed[derivation.slot] = value }
    }
    return changed
  }
}

extension RecordEncoder {
  /// Writes a record with new values in some slots. Each value must be of its slot's kind. The commit in it is 0.
  mutating func encode(
    _ record: borrowing RecordView,
    replacing values: [Int: AttributeValue],
    _ entity: StoredEntity
  ) -> UnsafeMutableRawBufferPointer {
    begin()
    for slot in entity.slotsByPlace {
      if let value = values[slot] { _ = set(value, at: slot) } else { copy(slot, from: record) }
    }
    return finish()
  }
}
