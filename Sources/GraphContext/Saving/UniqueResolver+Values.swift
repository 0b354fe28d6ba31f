import Predicates

// The values that existing objects get from unified ones.

extension UniqueResolver {
  /// Gives the existing object the values of a unified one that the policy lets it have.
  mutating func fold(_ object: UnifiedObject) throws(ContextError) {
    let entity = object.entity
    let bytes = withPlaces(object)
    let changes = request.entities[entity.ordinal]
    let owner = owner(object.number, entity.ordinal)
    let new = RecordView(validated: bytes, layout: entity.layout)
    let slots = try takePartners(of: new, for: owner, entity).union(values(of: new, object))
    reverted[entity.ordinal].formUnion([owner, object.number])
    if slots.isEmpty { return }
    if changes.insertedIndex(of: owner) == nil { changed[entity.ordinal].insert(owner) }
    if let index = changes.insertedIndex(of: owner) {
      let old = RecordView(
        validated: UnsafeRawBufferPointer(changes.inserted[index].bytes),
        layout: entity.layout
      )
      let merged = changes.encoder.encode(old, patchedBy: new, in: slots)
      changes.inserted[index] = .init(number: owner, bytes: merged)
    } else if let index = changes.patchIndex(of: owner) {
      let old = RecordView(validated: changes.updated[index].bytes, layout: entity.layout)
      let merged = changes.encoder.encode(old, patchedBy: new, in: slots)
      changes.updated[index].bytes = UnsafeRawBufferPointer(merged)
      changes.updated[index].slots.formUnion(slots)
    } else {
      let index = changes.updated.insertionIndex(sorted: owner, by: \.number)
      changes.updated.insert(.init(number: owner, bytes: bytes, slots: slots), at: index)
    }
  }

  /// Takes slots out of patches whose values the store has already. Storing them would report a change to other
  /// contexts that is none, and would be in conflict with their own changes.
  func forgetEqualValues() throws(ContextError) {
    for changes in request.entities {
      let entity = changes.entity
      for (index, patch) in changes.updated.enumerated()
      where reverted[entity.ordinal].contains(patch.number) {
        guard let stored = try source.record(patch.number, of: entity) else { continue }
        let old = RecordView(validated: stored, layout: entity.layout)
        let new = RecordView(validated: patch.bytes, layout: entity.layout)
        changes.updated[index].slots = source.slots(in: patch.slots, of: new, thatDifferFrom: old, entity)
      }
    }
  }

  /// Returns the values of an object with the places that its number stands for: the existing object has another
  /// number.
  private func withPlaces(_ object: UnifiedObject) -> UnsafeRawBufferPointer {
    var bytes = object.bytes
    for slots in object.entity.toOnes.compactMap(\.list?.slots) {
      let record = RecordView(validated: bytes, layout: object.entity.layout)
      if record.isNull(slots.reference) || !record.isNull(slots.place) { continue }
      let place = ListPlace(of: object.number)._attributeValue
      let changes = request.entities[object.entity.ordinal]
      bytes = UnsafeRawBufferPointer(changes.encoder.encode(record, replacing: slots.place, with: place))
    }
    return bytes
  }

  /// Returns the slots that an existing object takes over. Partners in one-to-one relationships are not
  /// among them.
  mutating func values(of record: RecordView, _ object: UnifiedObject) -> SlotSet {
    let entity = object.entity
    var slots = entity.slots(entity.ownSlots(of: object.number))
    for toOne in entity.toOnes {
      if case .toOne = toOne.inverse { slots.remove(toOne.slot) }
    }
    switch object.policy {
    case .error, .keep: return .empty
    case .replace: return slots.subtracting(entity.derivedSlots)
    case .merge:
      let given = defaults(of: object).slotsGiven(in: record, among: slots.subtracting(entity.derivedSlots))
      return given.subtracting(entity.placeSlots).union(entity.places(of: given))
    }
  }

  private mutating func defaults(of object: UnifiedObject) -> DeclaredDefaults {
    let (entity, classTag) = (object.entity, object.number.classTag)
    let key = ClassKey(entity: entity.ordinal, classTag: classTag)
    if let known = defaults[key] { return known }
    let declared = DeclaredDefaults(of: entity, classTag: classTag, in: coordinator)
    defaults[key] = declared
    return declared
  }

  /// Returns the slots whose partners an existing object takes over: their references lead to it already.
  /// The partners that it was given in this save lose it.
  private mutating func takePartners(
    of record: RecordView,
    for owner: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> SlotSet {
    let changes = request.entities[entity.ordinal]
    var slots = SlotSet.empty
    for toOne in entity.toOnes {
      guard case .toOne(let inverse) = toOne.inverse else { continue }
      let partner = record.reference(toOne.slot)
      if partner.isNone { continue }
      slots.insert(toOne.slot)
      var present = ObjectNumber.none
      if let index = changes.insertedIndex(of: owner) {
        let bytes = UnsafeRawBufferPointer(changes.inserted[index].bytes)
        present = RecordView(validated: bytes, layout: entity.layout).reference(toOne.slot)
      } else if let index = changes.patchIndex(of: owner) {
        present = RecordView(validated: changes.updated[index].bytes, layout: entity.layout).reference(
          toOne.slot
        )
      }
      if !present.isNone, present != partner {
        unlink(present, schema.entities[toOne.destination], slot: inverse, from: owner)
      }
    }
    return slots
  }

  /// Sets a reference that this save stores to nil, if it leads to `target`.
  private mutating func unlink(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    slot: Int,
    from target: ObjectNumber
  ) {
    let changes = request.entities[entity.ordinal]
    let (inserted, patch) = (changes.insertedIndex(of: number), changes.patchIndex(of: number))
    let bytes =
      inserted.map { UnsafeRawBufferPointer(changes.inserted[$0].bytes) }
      ?? patch.map { changes.updated[$0].bytes }
    guard let bytes else { return }
    let record = RecordView(validated: bytes, layout: entity.layout)
    guard record.reference(slot) == target else { return }
    if entity.requiredSlots(of: number).contains(slot) {
      return request.noteConflict(number, entity, SlotSet(slot), in: coordinator.storeID)
    }
    reverted[entity.ordinal].insert(number)
    let cleared = changes.encoder.encode(record, replacing: slot, with: .null)
    if let inserted { changes.inserted[inserted] = .init(number: number, bytes: cleared) }
    if let patch { changes.updated[patch].bytes = UnsafeRawBufferPointer(cleared) }
  }
}
