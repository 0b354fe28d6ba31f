import Foundation
import Predicates

/// A resolver that merges a save with the changes that other contexts have saved since the saving context read its
/// objects, as a policy says.
///
/// Runs in the writer's turn and above the engine: it reads the newest state, and leaves a request without conflicts
/// with that state. The context itself doesn't move, so that a save that fails later leaves it as it was.
///
/// A one-to-one relationship is stored at both ends. A change of it consists of up to four slots: those of the new
/// pair, and those of the partners that both had before. Either all of them are stored or none.
///
/// An embedded value is merged by its parts, but as a whole where either side has set it to nil, or from nil to a
/// value.
///
/// The position of an object in an ordered relationship is no conflict. Of two contexts that move it, the last one
/// decides, and other objects stay where they were moved to. A place is kept or dropped with the reference that it was
/// given for.
struct MergeResolver {
  let policy: MergePolicy
  let schema: ResolvedSchema
  /// The state that the changes were made on.
  let base: any ObjectSource
  let newest: any ObjectSource
  let foreign: ForeignChanges
  let coordinator: StoreCoordinator
  let decisions: MergeDecisions
  /// Conflicts that the policy hasn't seen. The request is of no use if there are any.
  var undecided: [MergeDecisions.Undecided] = []
  var request: SaveRequest
  /// Objects that are stored otherwise than the context shows them: see ``SaveDifferences/reverted``.
  var reverted: [Set<ObjectNumber>]
  /// Objects that get values which the saving context hasn't shown together: the request changes them, and so have
  /// others since the base, or a policy has decided something.
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
    for changes in request.entities { changes.updated.removeAll(where: \.slots.isEmpty) }
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
    return !change.slots.isSubset(of: entity.placeSlots.union(entity.derivedSlots)) || change.isRevived
      || relinked.contains(key)
  }

  func id(_ number: ObjectNumber, _ entity: StoredEntity) -> ManagedObjectID {
    entity.objectID(number, in: coordinator.storeID)
  }

  mutating func noteConflict(_ number: ObjectNumber, _ entity: StoredEntity, _ slots: SlotSet) {
    request.noteConflict(number, entity, slots, in: coordinator.storeID)
  }

  // MARK: Changed and deleted objects

  private mutating func resolve(_ patch: EntityChanges.Patch, _ entity: StoredEntity) throws(ContextError) {
    let theirs = try foreignChange(of: patch.number, entity)
    if theirs.isNone { return }
    if theirs.isDeleted {
      let isMoved = patch.slots.isSubset(of: entity.placeSlots)
      if policy == .error, !isMoved { request.failures.note(.conflict(id(patch.number, entity), "deleted")) }
      return remove(patch, entity)
    }
    let setsValues = !patch.slots.isSubset(of: entity.placeSlots)
    let agreed = try theirs.slots.intersection(equalReferences(patch, entity))
    forget(agreed, of: patch.number, entity)
    try forgetEqualValues(in: entity.places(of: agreed), of: patch.number, entity)
    // Places that the context has set in lists from which others have removed the object.
    let left = entity.places(of: theirs.slots.subtracting(agreed).subtracting(patch.slots))
      .intersection(patch.slots)
    try drop(left, of: patch.number, entity)
    let wholes = entity.embeddedValues.filter { $0.isWhole(in: patch.slots, theirs.slots) }
    if policy.letsContextWin {
      for value in wholes { try keep(value, of: patch.number, entity) }
    }
    let patch = self.patch(of: patch.number, entity) ?? patch
    let touched = wholes.reduce(theirs.slots) { $0.union($1.slots) }
    let both = patch.slots.intersection(touched).subtracting(agreed).subtracting(entity.placeSlots)
    // Both sides have moved the object within a list, and neither has linked it anew.
    let moved = patch.slots.intersection(theirs.slots).intersection(entity.placeSlots)
      .subtracting(entity.places(of: patch.slots))
    switch policy.rule {
    case .error:
      if !both.isEmpty { noteConflict(patch.number, entity, both) }
    case .mergeByPropertyStoreTrump: try drop(both.union(moved), of: patch.number, entity)
    case .mergeByPropertyObjectTrump: break
    case .overwrite:
      if setsValues {
        let attributes = theirs.slots.subtracting(entity.referenceSlots).subtracting(entity.placeSlots)
        try complete(patch, attributes, entity)
      }
    case .rollback:
      // A change of order is in conflict with no value.
      let isOrderAlone =
        patch.slots.isSubset(of: entity.placeSlots) || theirs.slots.isSubset(of: entity.placeSlots)
      try drop(isOrderAlone ? moved : patch.slots, of: patch.number, entity)
    case .custom: if !both.isEmpty { try applyDecisions(about: both, patch, entity) }
    }
    try forgetEqualValues(in: both.subtracting(entity.referenceSlots), of: patch.number, entity)
  }

  /// Resolves the deletions of a request. An object that either side has deleted is deleted, because bringing it back
  /// would not bring back the objects that its deletion has taken along.
  private mutating func resolveDeleted(_ changes: EntityChanges) throws(ContextError) {
    var deleted: [ObjectNumber] = []
    for number in changes.deleted {
      let theirs = try foreignChange(of: number, changes.entity)
      if theirs.isDeleted { continue }
      if policy == .error, !theirs.slots.isSubset(of: changes.entity.placeSlots) {
        noteConflict(number, changes.entity, .empty)
      }
      changes.follow(theirs.slots.intersection(changes.entity.referenceSlots), of: number)
      deleted.append(number)
    }
    changes.deleted = deleted
  }

  /// Returns the slots of the references that lead to one object on both sides, or nowhere. That is no conflict: a
  /// reference counts nothing.
  private func equalReferences(
    _ patch: EntityChanges.Patch,
    _ entity: StoredEntity
  ) throws(ContextError) -> SlotSet {
    let record = RecordView(validated: patch.bytes, layout: entity.layout)
    var equal = SlotSet.empty
    for toOne in entity.toOnes where patch.slots.contains(toOne.slot) {
      let theirs = try newest.reference(at: toOne.slot, of: patch.number, entity)
      if theirs == record.reference(toOne.slot) { equal.insert(toOne.slot) }
    }
    return equal
  }

  /// Removes attributes and places from an object's patch whose conflicts are resolved with the values of the store.
  /// Storing them would report a change to other contexts that is none, and would be in conflict with their own
  /// changes.
  private func forgetEqualValues(
    in slots: SlotSet,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) {
    guard !slots.isEmpty, let patch = patch(of: number, entity),
      let bytes = try newest.record(number, of: entity)
    else { return }
    let mine = RecordView(validated: patch.bytes, layout: entity.layout)
    let theirs = RecordView(validated: bytes, layout: entity.layout)
    let considered = slots.intersection(patch.slots)
    let different = newest.slots(in: considered, of: mine, thatDifferFrom: theirs, entity)
    forget(considered.subtracting(different), of: number, entity)
  }

  /// Takes slots out of an object's patch whose values the store has already: to store them changes nothing.
  private func forget(_ slots: SlotSet, of number: ObjectNumber, _ entity: StoredEntity) {
    let changes = request.entities[entity.ordinal]
    guard !slots.isEmpty, let index = changes.patchIndex(of: number) else { return }
    changes.updated[index].slots.subtract(slots)
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
    if isNil, !patch.slots.contains(value.flag) { return try drop(value.slots, of: number, entity) }
    try complete(patch, value.slots, entity)
  }

  /// Makes a patch set more attributes, to the values that the context shows.
  private mutating func complete(
    _ patch: EntityChanges.Patch,
    _ slots: SlotSet,
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
    changes.updated[index].slots.formUnion(slots)
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
