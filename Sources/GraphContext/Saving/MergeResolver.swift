import Foundation
import Predicates

/// Merges a save with the changes that other contexts have saved since the saving context read its objects, as a policy
/// says.
///
/// Runs in the writer's turn and above the engine: it reads the newest state, and leaves a request without conflicts
/// with that state. The context itself doesn't move, so that a save that fails later leaves it as it was.
///
/// A one-to-one relationship is stored at both ends, and a change of it is made of up to four slots: those of the new
/// pair, and those of the partners that both had before. Either all of them are stored or none.
///
/// An embedded value is merged by its parts, but as a whole where either side has set it to nil, or from nil to a
/// value.
///
/// The position of an object in an ordered relationship is no conflict: of two contexts that move it, the last one
/// decides, and other objects stay where they were moved to. A place is kept or dropped with the reference that it was
/// given for.
struct MergeResolver {
  private let policy: MergePolicy
  private let schema: StoredSchema
  /// The state that the changes were made on.
  private let base: any ObjectSource
  private let newest: any ObjectSource
  private let foreign: ForeignChanges
  private let coordinator: StoreCoordinator
  private let decisions: MergeDecisions
  /// Conflicts that the policy hasn't seen. The request is of no use if there are any.
  private(set) var undecided: [MergeDecisions.Undecided] = []
  private(set) var request: SaveRequest
  /// Objects that are stored otherwise than the context shows them: see ``SaveSettlement/reverted``.
  private(set) var reverted: [Set<ObjectNumber>]
  /// Objects that get values which the saving context hasn't shown together: the request changes them, and so have
  /// others since the base, or a policy has settled something.
  private(set) var merged: [ObjectKey] = []

  init(
    _ request: SaveRequest,
    _ policy: MergePolicy,
    from base: any ObjectSource,
    to newest: any ObjectSource,
    _ changeSets: [ChangeSet],
    _ decisions: MergeDecisions,
    _ coordinator: StoreCoordinator
  ) {
    self.request = request
    self.policy = policy
    self.base = base
    self.newest = newest
    self.decisions = decisions
    self.coordinator = coordinator
    schema = newest.schema
    foreign = ForeignChanges(changeSets)
    reverted = request.entities.map { _ in [] }
  }

  /// Merges the request. Conflicts are noted in it.
  mutating func resolve() throws(ContextError) {
    for changes in request.entities {
      for patch in changes.updated { try resolve(patch, changes.entity) }
      try resolveDeleted(changes)
    }
    if policy.letsContextWin {
      var rivals = PartnerRivals(request, reverted, in: newest, storeID: coordinator.storeID)
      try rivals.clear()
      (request, reverted) = (rivals.request, rivals.reverted)
    }
    for changes in request.entities { changes.updated.removeAll { $0.slots == 0 } }
    noteMerged()
    request.baseCommit = newest.commit
    for ordinal in request.conflicts.indices { request.conflicts[ordinal] = [:] }
  }

  private mutating func noteMerged() {
    let relinked = foreign.relinked(in: schema)
    for changes in request.entities {
      for patch in changes.updated {
        let key = ObjectKey(entity: changes.entity.ordinal, number: patch.number)
        if isChangedByOthers(key, relinked) || reverted[key.entity].contains(key.number) {
          merged.append(key)
        }
      }
      for number in changes.deleted {
        let key = ObjectKey(entity: changes.entity.ordinal, number: number)
        if isChangedByOthers(key, relinked) { merged.append(key) }
      }
      // New objects that lose a partner.
      for record in changes.inserted where reverted[changes.entity.ordinal].contains(record.number) {
        merged.append(ObjectKey(entity: changes.entity.ordinal, number: record.number))
      }
    }
    // Objects of which the request changes only the links.
    for pairs in request.pairs where !pairs.relationship.isHidden {
      let ordinal = pairs.source.ordinal
      for owner in pairs.owners {
        let key = ObjectKey(entity: ordinal, number: owner)
        if request.entities[ordinal].patchIndex(of: owner) == nil, isChangedByOthers(key, relinked) {
          merged.append(key)
        }
      }
    }
  }

  private func isChangedByOthers(_ key: ObjectKey, _ relinked: Set<ObjectKey>) -> Bool {
    let entity = schema.entities[key.entity]
    let change = foreign.change(of: key.number, entity.number)
    // Places and derived values are no changes of values.
    return change.slots & ~entity.placeSlots & ~entity.derivedSlots != 0 || change.isRevived
      || relinked.contains(key)
  }

  private func id(_ number: ObjectNumber, _ entity: StoredEntity) -> ManagedObjectID {
    entity.objectID(number, in: coordinator.storeID)
  }

  private mutating func noteConflict(_ number: ObjectNumber, _ entity: StoredEntity, _ slots: UInt64) {
    request.failures.note(.conflict(id(number, entity), "changed", entity.names(of: slots)))
  }

  private func foreignChange(
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ForeignChange {
    var change = knownChange(of: number, entity)
    let later = foreign.change(of: number, entity.number)
    change.merge(later)
    if change.isRevived { change.slots |= try revivedSlots(of: number, entity) }
    change.isRevived = false
    change.slots &= ~(try restoredReferences(of: number, entity, in: change.slots))
    // A derived value is no change of its own: it follows the values it is derived from.
    change.slots &= ~entity.derivedSlots
    return change
  }

  /// Returns the changes that the context had when it moved to the state that it shows.
  private func knownChange(of number: ObjectNumber, _ entity: StoredEntity) -> ForeignChange {
    request.conflicts[entity.ordinal][number] ?? ForeignChange()
  }

  /// Returns the bits of the slots in which an object that others have deleted and brought back has, or may have, other
  /// values than before.
  private func revivedSlots(of number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) -> UInt64 {
    guard let bytes = try newest.record(number, of: entity) else { return 0 }
    let record = RecordView(validated: bytes, layout: entity.layout)
    let known = knownChange(of: number, entity)
    var slots: UInt64 = 0
    for slot in entity.schema.stored.indices where !known.isDeleted || known.bases[slot] != nil {
      let value = try newest.value(of: record, at: slot, entity)
      if try baseValue(at: slot, of: number, entity) != value { slots |= 1 << UInt64(slot) }
    }
    return slots
  }

  /// Returns the bits of the references that lead to the same object as before all changes, which was deleted and
  /// brought back. Unlike a number, a reference counts nothing, so that is no change.
  private func restoredReferences(
    of number: ObjectNumber,
    _ entity: StoredEntity,
    in slots: UInt64
  ) throws(ContextError) -> UInt64 {
    let references = slots & entity.referenceSlots
    guard references != 0, let bytes = try newest.record(number, of: entity) else { return 0 }
    let record = RecordView(validated: bytes, layout: entity.layout)
    var restored: UInt64 = 0
    for slot in entity.slots(references) {
      let value = try newest.value(of: record, at: slot, entity)
      if try baseValue(at: slot, of: number, entity) == value { restored |= 1 << UInt64(slot) }
    }
    return restored
  }

  /// Returns the value that the saving context has seen in a slot before it changed the slot; nil if it isn't known.
  private func baseValue(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> AttributeValue? {
    let known = knownChange(of: number, entity)
    if let value = known.bases[slot] { return value }
    // The context has moved on to a state that has another context's value, so the base is no longer known.
    if known.isDeleted || known.slots & 1 << UInt64(slot) != 0 { return nil }
    guard let bytes = try base.record(number, of: entity) else { return nil }
    return try base.value(of: RecordView(validated: bytes, layout: entity.layout), at: slot, entity)
  }

  // MARK: Changed and deleted objects

  private mutating func resolve(_ patch: EntityChanges.Patch, _ entity: StoredEntity) throws(ContextError) {
    let theirs = try foreignChange(of: patch.number, entity)
    if theirs.isNone { return }
    if theirs.isDeleted {
      let isMoved = patch.slots & ~entity.placeSlots == 0
      if policy == .error, !isMoved { request.failures.note(.conflict(id(patch.number, entity), "deleted")) }
      return remove(patch, entity)
    }
    let setsValues = patch.slots & ~entity.placeSlots != 0
    let agreed = try theirs.slots & equalReferences(patch, entity)
    forget(agreed, of: patch.number, entity)
    try forgetEqualValues(in: entity.places(of: agreed), of: patch.number, entity)
    // Places that the context has set in lists from which others have removed the object.
    let left = entity.places(of: theirs.slots & ~agreed & ~patch.slots) & patch.slots
    try drop(left, of: patch.number, entity)
    let wholes = entity.embeddedValues.filter { $0.isWhole(in: patch.slots, theirs.slots) }
    if policy.letsContextWin {
      for value in wholes { try keep(value, of: patch.number, entity) }
    }
    let patch = self.patch(of: patch.number, entity) ?? patch
    let inWholes = wholes.reduce(0) { $0 | $1.slots }
    let both = patch.slots & (theirs.slots | inWholes) & ~agreed & ~entity.placeSlots
    // Both sides have moved the object within a list, and neither has linked it anew.
    let moved = patch.slots & theirs.slots & entity.placeSlots & ~entity.places(of: patch.slots)
    switch policy.rule {
    case .error:
      if both != 0 { noteConflict(patch.number, entity, both) }
    case .mergeByPropertyStoreTrump: try drop(both | moved, of: patch.number, entity)
    case .mergeByPropertyObjectTrump: break
    case .overwrite:
      if setsValues {
        try complete(patch, theirs.slots & ~entity.referenceSlots & ~entity.placeSlots, entity)
      }
    case .rollback:
      // A change of order is in conflict with no value.
      let isOrderAlone = patch.slots & ~entity.placeSlots == 0 || theirs.slots & ~entity.placeSlots == 0
      try drop(isOrderAlone ? moved : patch.slots, of: patch.number, entity)
    case .custom: if both != 0 { try settle(both, patch, entity) }
    }
    try forgetEqualValues(in: both & ~entity.referenceSlots, of: patch.number, entity)
  }

  /// Resolves the deletions of a request. An object that either side has deleted is deleted, because bringing it back
  /// would not bring back the objects that its deletion has taken along.
  private mutating func resolveDeleted(_ changes: EntityChanges) throws(ContextError) {
    var deleted: [ObjectNumber] = []
    for number in changes.deleted {
      let theirs = try foreignChange(of: number, changes.entity)
      if theirs.isDeleted { continue }
      if policy == .error, theirs.slots & ~changes.entity.placeSlots != 0 {
        noteConflict(number, changes.entity, 0)
      }
      changes.follow(theirs.slots & changes.entity.referenceSlots, of: number)
      deleted.append(number)
    }
    changes.deleted = deleted
  }

  /// Returns the bits of the references that lead to one object on both sides, or nowhere. That is no conflict: a
  /// reference counts nothing.
  private func equalReferences(
    _ patch: EntityChanges.Patch,
    _ entity: StoredEntity
  ) throws(ContextError) -> UInt64 {
    let record = RecordView(validated: patch.bytes, layout: entity.layout)
    var equal: UInt64 = 0
    for toOne in entity.toOnes where patch.slots & 1 << UInt64(toOne.slot) != 0 {
      let theirs = try newest.reference(at: toOne.slot, of: patch.number, entity)
      if theirs == record.reference(toOne.slot) { equal |= 1 << UInt64(toOne.slot) }
    }
    return equal
  }

  /// Removes attributes and places from an object's patch whose conflicts are settled with the values of the store.
  /// Storing them would report a change to other contexts that is none, and would be in conflict with their own
  /// changes.
  private func forgetEqualValues(
    in slots: UInt64,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) {
    guard slots != 0, let patch = patch(of: number, entity),
      let bytes = try newest.record(number, of: entity)
    else { return }
    let mine = RecordView(validated: patch.bytes, layout: entity.layout)
    let theirs = RecordView(validated: bytes, layout: entity.layout)
    let considered = slots & patch.slots
    let different = newest.slots(in: considered, of: mine, thatDifferFrom: theirs, entity)
    forget(considered & ~different, of: number, entity)
  }

  /// Takes slots out of an object's patch whose values the store has already: to store them changes nothing.
  private func forget(_ slots: UInt64, of number: ObjectNumber, _ entity: StoredEntity) {
    let changes = request.entities[entity.ordinal]
    guard slots != 0, let index = changes.patchIndex(of: number) else { return }
    changes.updated[index].slots &= ~slots
  }

  /// Returns the present patch of an object; nil if it has none.
  private func patch(of number: ObjectNumber, _ entity: StoredEntity) -> EntityChanges.Patch? {
    let changes = request.entities[entity.ordinal]
    return changes.patchIndex(of: number).map { changes.updated[$0] }
  }

  /// Makes a patch that sets a part of an embedded value set all parts, or none if the context has learned that the
  /// value is nil.
  private mutating func keep(
    _ value: StoredEmbeddedValue,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) {
    guard let patch = patch(of: number, entity), let base = try base.record(number, of: entity) else {
      return
    }
    let isNil = RecordView(validated: base, layout: entity.layout).isNull(value.flag)
    if isNil, patch.slots & value.flagBit == 0 { return try drop(value.slots, of: number, entity) }
    try complete(patch, value.slots, entity)
  }

  /// Makes a patch set more attributes, to the values that the context shows.
  private mutating func complete(
    _ patch: EntityChanges.Patch,
    _ slots: UInt64,
    _ entity: StoredEntity
  ) throws(ContextError) {
    let changes = request.entities[entity.ordinal]
    guard let index = changes.patchIndex(of: patch.number),
      let record = try base.record(patch.number, of: entity)
    else { return }
    let bytes = UnsafeRawBufferPointer(
      changes.encoder.encode(
        RecordView(validated: record, layout: entity.layout),
        patchedBy: RecordView(validated: patch.bytes, layout: entity.layout),
        in: patch.slots
      )
    )
    // The newest state may lack values that the base refers to.
    let shown = RecordView(validated: bytes, layout: entity.layout)
    let loaded = try base.loaded(shown, in: slots, of: entity, &changes.encoder)
    changes.updated[index].bytes = loaded ?? bytes
    changes.updated[index].slots |= slots
  }

  // MARK: Custom policies

  /// Applies what the policy has decided about slots, or notes that it has yet to decide.
  private mutating func settle(
    _ slots: UInt64,
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
    for slot in entity.schema.stored.indices where slots & 1 << UInt64(slot) != 0 {
      switch choices[entity.schema.stored[slot].name] {
      case .mine: break
      case .theirs: try drop(1 << UInt64(slot), of: patch.number, entity)
      case .value(let value): set(value, at: slot, of: patch.number, entity)
      case nil: noteConflict(patch.number, entity, 1 << UInt64(slot))
      }
    }
  }

  private func properties(
    _ slots: UInt64,
    _ patch: EntityChanges.Patch,
    _ theirs: RecordView,
    _ entity: StoredEntity
  ) throws(ContextError) -> [MergeConflict.Property] {
    let mine = RecordView(validated: patch.bytes, layout: entity.layout)
    var properties: [MergeConflict.Property] = []
    for slot in entity.slots(slots) {
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
    guard let value, property.kind.holds(value), entity.referenceSlots & 1 << UInt64(slot) == 0 else {
      return request.failures.note(.refusedDecision(id(number, entity), property.name))
    }
    let record = RecordView(validated: patch.bytes, layout: entity.layout)
    let bytes = changes.encoder.encode(record, replacing: slot, with: value)
    changes.updated[index].bytes = UnsafeRawBufferPointer(bytes)
    reverted[entity.ordinal].insert(number)
    RecordChecks(coordinator).check(
      RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout),
      refused: nil,
      number,
      entity,
      in: 1 << UInt64(slot),
      &request.failures
    )
  }

  // MARK: Slots that are not stored

  /// Removes the patch of an object that others have deleted. If this save makes other objects refer to it, the save
  /// fails.
  private mutating func remove(_ patch: EntityChanges.Patch, _ entity: StoredEntity) {
    let changes = request.entities[entity.ordinal]
    guard let index = changes.patchIndex(of: patch.number) else { return }
    changes.updated[index].slots = 0
    reverted[entity.ordinal].insert(patch.number)
  }

  /// Takes slots out of an object's patch, and with each slot of a one-to-one relationship the others of the same
  /// change.
  private mutating func drop(
    _ slots: UInt64,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) {
    var dropped = [(entity, number, slots)]
    while let (entity, number, references) = dropped.popLast() {
      let slots = references | entity.places(of: references)
      let changes = request.entities[entity.ordinal]
      guard let index = changes.patchIndex(of: number) else { continue }
      let patch = changes.updated[index]
      let present = patch.slots & slots
      if present == 0 { continue }
      changes.updated[index].slots &= ~slots
      reverted[entity.ordinal].insert(number)
      for toOne in entity.toOnes where present & 1 << UInt64(toOne.slot) != 0 {
        try refuseCascade(to: number, entity, by: toOne)
        guard case .toOne(let inverse) = toOne.inverse else { continue }
        let partners = [
          RecordView(validated: patch.bytes, layout: entity.layout).reference(toOne.slot),
          try base.reference(at: toOne.slot, of: number, entity),
        ]
        let destination = schema.entities[toOne.destination]
        for partner in partners where !partner.isNone {
          dropped.append((destination, partner, 1 << UInt64(inverse)))
          unlinkInserted(partner, destination, slot: inverse, from: number)
        }
      }
    }
  }

  /// Notes a conflict if an object keeps a reference to an object that this save deletes, so that a rule would delete
  /// the first one too: the first one was moved away here, and neither side has deleted it.
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
    noteConflict(number, entity, 1 << UInt64(toOne.slot))
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
    if entity.requiredSlots(of: number) & 1 << UInt64(slot) != 0 {
      return noteConflict(number, entity, 1 << UInt64(slot))
    }
    let new = changes.encoder.encode(record, replacing: slot, with: .null)
    changes.inserted[index] = .init(number: number, bytes: new)
    reverted[entity.ordinal].insert(number)
  }
}

extension MergePolicy {
  /// True if the context's value is stored where a property was changed in both.
  fileprivate var letsContextWin: Bool {
    switch rule {
    case .mergeByPropertyObjectTrump, .overwrite, .custom: true
    case .error, .mergeByPropertyStoreTrump, .rollback: false
    }
  }
}
