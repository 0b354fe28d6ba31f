import Foundation
import PageStore
import Predicates

/// A save in the writer's turn: everything that has to be decided against the store as it is *now*.
///
/// The order matters:
/// 1. Records are stored and removed; a record that a commit after the request's base has changed is a conflict.
/// 2. Keys of indexes and references follow, all removals before all additions, sorted for each tree.
/// 3. Pairs of many-to-many relationships.
/// 4. Delete rules, for the objects that still refer to deleted ones. The context has applied the rules to the
///   objects of its snapshot.
/// 5. Every reference that was set leads to an object.
/// 6. To-many relationships have as many members as their rules say.
/// 7. Unique tuples are unique. They are looked at once, at the end: two objects may swap theirs.
/// 8. The context reviews what the delete rules have changed beyond the request.
/// 9. Derived values are updated from the values that they are computed from.
/// 10. Numbers are leased for the objects to come.
/// 11. Values that were stored outside of records and that nothing refers to any more are removed.
/// 12. The changes are appended to the history, if the store keeps one.
///
/// Failures of objects are gathered until the end, so that one error lists all of them. Any error aborts the
/// transaction and leaves nothing in the store.
struct SaveTransaction: ~Copyable {
  let schema: ResolvedSchema
  let request: SaveRequest
  let numbers: ObjectNumbers
  let storeID: UUID
  let commit: UInt64
  /// True if errors show stored values.
  let showsValues: Bool
  private let keepsHistory: Bool
  /// Nil if the store keeps no history, or the save isn't part of it.
  var history: HistoryWriter?
  /// Changes of this save, those by delete rules left out.
  var changeSet: ChangeSet
  var ruleChanges = RuleChanges()
  var failures: SaveFailures
  /// The numbers that are leased when this is committed.
  var leasedEnds: [LeaseEnd] = []
  /// Deleted objects whose references have yet to be followed.
  var deletions: [(entity: StoredEntity, number: ObjectNumber)] = []
  /// Objects that rules will delete. They are in a list, so that a long chain of them needs no stack.
  var condemned: [(entity: StoredEntity, number: ObjectNumber)] = []
  var denials: [Denial] = []
  var lostReferences: [LostReference] = []
  /// Objects whose to-many relationships are counted at the end.
  var counted: CountedOwners
  /// Objects whose derived values follow at the end.
  var derived = DerivedChanges()
  /// Values that this save has stored outside of records.
  var blobCount: UInt32 = 0
  var deadBlobs: [DeadBlob] = []
  private var trees: [String: WriteTree] = [:]
  /// The work on each entity, by the entity's ordinal; nil until the save changes something of the entity.
  private var entities: [EntityWork?]

  init(
    _ request: SaveRequest,
    schema: ResolvedSchema,
    numbers: ObjectNumbers,
    storeID: UUID,
    commit: UInt64,
    showsValues: Bool,
    keepsHistory: Bool
  ) {
    self.keepsHistory = keepsHistory
    self.request = request
    counted = CountedOwners(request.countRules)
    failures = request.failures
    self.numbers = numbers
    self.schema = schema
    self.storeID = storeID
    self.commit = commit
    self.showsValues = showsValues
    changeSet = ChangeSet(commit: commit)
    changeSet.author = request.origin.author
    // Unlike `Array(repeating:)` this is specialised.
    entities = schema.entities.map { _ in nil }
  }

  /// The trees, the reader and the keys of one entity, while the save lasts.
  private final class EntityWork {
    var records: WriteTree?
    lazy var reader = RecordReader(entity)
    private let entity: StoredEntity
    /// Keys to add, by the ordinal of the index; empty until there is a key to add or to remove.
    var added: [KeyBatch] = []
    var removed: [KeyBatch] = []
    /// True if the save deletes every object of the entity. Then its trees of keys are emptied.
    var isEmptied = false

    init(_ entity: StoredEntity) { self.entity = entity }

    func makeBatchesIfNeeded() {
      if !added.isEmpty { return }
      added = Array(repeating: KeyBatch(), count: entity.indexTreeNames.count)
      removed = added
    }
  }

  /// Keys that were added to a tree of an entity; nil for none.
  func addedKeys(_ place: Int, of entity: StoredEntity) -> KeyBatch? {
    guard let work = entities[entity.ordinal], !work.added.isEmpty else { return nil }
    return work.added[place].isEmpty ? nil : work.added[place]
  }

  private mutating func work(on entity: StoredEntity) -> EntityWork {
    if let known = entities[entity.ordinal] { return known }
    let work = EntityWork(entity)
    entities[entity.ordinal] = work
    return work
  }

  /// The error if a review has refused the changes of delete rules.
  struct Refusal: Error {}

  /// Runs the complete save, and returns the changes of the commit.
  ///
  /// - Throws: ``Refusal`` if the review refuses it.
  mutating func run(
    _ transaction: inout WriteTransaction,
    reviewing review: SaveReview
  ) throws -> ChangeSet {
    if keepsHistory { history = try HistoryWriter(&transaction) }
    let changed = request.entities.filter { !$0.isEmpty }
    let isDeletion = changed.allSatisfy(\.inserted.isEmpty) && changed.contains { !$0.deleted.isEmpty }
    if isDeletion { transaction.markAsDeletion() }
    for changes in changed {
      try storeInserted(changes, &transaction)
      try storeUpdated(changes, &transaction)
      try removeDeleted(changes, &transaction)
    }
    for changes in changed { try storeKeys(changes.entity, &transaction) }
    try storePairs(&transaction)
    try applyDeleteRules(&transaction)
    checkUnifiedOwners()
    try checkDestinations(&transaction)
    try checkCounts(&transaction)
    try checkUniqueness(&transaction)
    guard try review(request, ruleChanges, changeSet.links, &failures) else { throw Refusal() }
    try failures.throwIfAny()
    // The failures of a request name the objects and the properties, so they come first.
    for changes in changed { try changes.encoder.checkComplete(of: changes.entity.name) }
    try storeDerived(&transaction)
    try failures.throwIfAny()
    for changes in changed { try leaseNumbers(changes, &transaction) }
    try removeDeadBlobs(&transaction)
    for changes in changed {
      changeSet.setObjects(ChangeSet.Objects(changes), of: changes.entity.number)
    }
    changeSet.merge(ruleChanges, in: schema)
    try history?.append(changeSet, request.origin, schema)
    return changeSet
  }

  func id(_ number: ObjectNumber, _ entity: StoredEntity) -> ManagedObjectID {
    entity.objectID(number, in: storeID)
  }

  // MARK: Trees

  mutating func records(
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws(StoreError) -> WriteTree {
    let work = work(on: entity)
    if let tree = work.records { return tree }
    let tree = try transaction.tree(entity.treeName)
    work.records = tree
    return tree
  }

  mutating func reader(of entity: StoredEntity) -> RecordReader { work(on: entity).reader }

  mutating func tree(_ name: String, _ transaction: inout WriteTransaction) throws(StoreError) -> WriteTree {
    if let tree = trees[name] { return tree }
    let tree = try transaction.tree(name)
    trees[name] = tree
    return tree
  }
}

// MARK: - Records

extension SaveTransaction {
  private mutating func storeInserted(_ changes: EntityChanges, _ transaction: inout WriteTransaction) throws
  {
    guard !changes.inserted.isEmpty else { return }
    let entity = changes.entity
    let tree = try records(entity, &transaction)
    var encoder = RecordEncoder(layout: entity.layout)
    // The encoder owns records, so it must live until they are stored.
    defer { encoder.removeAll() }
    let stored = try storeBlobs(of: changes.inserted, entity, &encoder, &transaction)
    let inserted = deriveFirst(of: stored, entity, &encoder)
    try encoder.checkComplete(of: entity.name)
    for record in inserted { RecordEncoder.stamp(record.bytes, commit: commit) }
    counted.note(inserted, of: entity)
    if let number = try tree.put(new: inserted) {
      // A number is leased once. So another context's undo has inserted the object again, or the store is damaged and
      // has an object that was never leased.
      let id = id(number, entity)
      throw ContextError(
        .conflict,
        "\(id) exists already: another context has undone its deletion, too. Roll back to see it",
        context: .init(entity: entity.name, objectID: id)
      )
    }
    for record in inserted {
      let view = RecordView(validated: UnsafeRawBufferPointer(record.bytes), layout: entity.layout)
      checkEmbedded(view, record.number, entity)
      noteKeys(from: nil, to: view, record.number, entity, changed: .all)
    }
  }

  private mutating func storeUpdated(_ changes: EntityChanges, _ transaction: inout WriteTransaction) throws {
    guard !changes.updated.isEmpty else { return }
    let entity = changes.entity
    let tree = try records(entity, &transaction)
    var encoder = RecordEncoder(layout: entity.layout)
    var patchEncoder = RecordEncoder(layout: entity.layout)
    for (place, patch) in changes.updated.enumerated() {
      encoder.removeAll()
      patchEncoder.removeAll()
      let given = RecordView(validated: patch.bytes, layout: entity.layout)
      let changed = try storeBlobs(of: given, in: patch.slots, entity, &patchEncoder, &transaction)
      try patchEncoder.checkComplete(of: entity.name)
      let values =
        changed.map { RecordView(validated: UnsafeRawBufferPointer($0), layout: entity.layout) } ?? given
      var failure: ContextError?
      let exists = try withKey(patch.number) { key throws(StoreError) in
        try tree.replace(near: key) { stored in
          do throws(ContextError) {
            let old = try unchanged(stored, patch.number, entity)
            var (slots, bytes) = (patch.slots, encoder.encode(old, patchedBy: values, in: patch.slots))
            if !entity.derivedSlots.isEmpty {
              let copies = deriveCopies(of: bytes, from: old, changed: slots, patch.number, entity, &encoder)
              (slots, bytes) = (slots.union(copies.slots), copies.bytes)
              changes.updated[place].slots = slots
            }
            try encoder.checkComplete(of: entity.name)
            RecordEncoder.stamp(bytes, commit: commit)
            let new = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
            checkEmbedded(new, in: slots, patch.number, entity)
            noteKeys(from: old, to: new, patch.number, entity, changed: slots)
            noteDeadBlobs(of: old, in: patch.slots, entity)
            return UnsafeRawBufferPointer(bytes)
          } catch {
            failure = error
            return nil
          }
        }
      }
      if let failure { throw failure }
      if !exists { throw ContextError.conflict(id(patch.number, entity), "deleted") }
    }
  }

  private mutating func removeDeleted(_ changes: EntityChanges, _ transaction: inout WriteTransaction) throws
  {
    guard !changes.deleted.isEmpty else { return }
    let entity = changes.entity
    let tree = try records(entity, &transaction)
    // If no object is left, the keys needn't be known.
    let notesKeys =
      try changes.deleted.count != tree.count || !request.countRules.isEmpty
      || !schema.memberDerivations[entity.ordinal].isEmpty
    var failure: ContextError?
    try tree.forEachValue(ofKeys: recordKeys(changes.deleted)) { place, stored in
      let number = changes.deleted[place]
      do throws(ContextError) {
        guard let stored else { throw ContextError.conflict(id(number, entity), "deleted") }
        let old = try unchanged(stored, number, entity)
        if notesKeys { noteKeys(from: old, to: nil, number, entity, changed: .all) }
        noteDeadBlobs(of: old, in: .all, entity)
        history?.noteDeleted(old, number, entity, request.origin)
        let followed = request.appliesToOneRules ? .all : changes.followed[number] ?? .empty
        if !followed.isEmpty { followToOnes(of: old, in: followed, number, entity) }
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    try tree.remove(changes.deleted)
    if !notesKeys { work(on: entity).isEmptied = true }
    if entity.canBeReferredTo { for number in changes.deleted { deletions.append((entity, number)) } }
  }

  /// Returns the stored record of an object that this save changes.
  ///
  /// - Throws: `conflict` when another context has changed the object.
  private mutating func unchanged(
    _ stored: UnsafeRawBufferPointer,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> RecordView {
    guard let record = reader(of: entity).view(stored) else {
      throw ContextError.damagedRecord(number, of: entity.name)
    }
    if record.commit > request.baseCommit { throw ContextError.conflict(id(number, entity), "changed") }
    return record
  }
}

// MARK: - Keys

extension SaveTransaction {
  /// Notes the changes in the trees of keys that follow from a changed record; nil stands for no record.
  private mutating func noteKeys(
    from old: RecordView?,
    to new: RecordView?,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    changed: SlotSet
  ) {
    let work = work(on: entity)
    noteDerived(from: old, to: new, number, entity)
    for (place, index) in entity.declaredIndexes.enumerated() where !index.slotSet.isDisjoint(with: changed) {
      work.makeBatchesIfNeeded()
      if index.isOfElements {
        noteElementKeys(index, place, from: old, to: new, number, entity)
        continue
      }
      if let old { work.removed[place].append { index.appendKey(of: old, number, to: &$0) } }
      guard let new else { continue }
      let count = work.added[place].append {
        index.appendKey(of: new, number, to: &$0) && index.isUnique
      }
      if old != nil, KeyBatch.lastAreEqual(work.removed[place], work.added[place]) {
        work.removed[place].removeLast()
        work.added[place].removeLast()
      } else if !isShortEnough(count, index, number, entity) {
        work.added[place].removeLast()
      }
    }
    for (place, toOne) in entity.toOnes.enumerated() where changed.contains(toOne.slot) {
      let (before, after) = (old?.reference(toOne.slot) ?? .none, new?.reference(toOne.slot) ?? .none)
      guard before != after else { continue }
      work.makeBatchesIfNeeded()
      counted.note(before, in: toOne.treeName)
      counted.note(after, in: toOne.treeName)
      let place = entity.declaredIndexes.count + place
      if !before.isNone { work.removed[place].append(pair: before, number) }
      if !after.isNone { work.added[place].append(pair: after, number) }
    }
  }

  /// Notes these changes for an index with an entry for each element of a list.
  private mutating func noteElementKeys(
    _ index: ResolvedIndex,
    _ place: Int,
    from old: RecordView?,
    to new: RecordView?,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    let work = work(on: entity)
    let (before, after) = (
      old.map { index.keys(of: $0, number) } ?? [], new.map { index.keys(of: $0, number) } ?? []
    )
    for key in before.subtracting(after) { work.removed[place].append(key) }
    for key in after.subtracting(before) where isShortEnough(key.count, index, number, entity) {
      work.added[place].append(key)
    }
  }

  /// Returns whether a key can be stored, and notes a failure if it can't.
  mutating func isShortEnough(
    _ byteCount: Int,
    _ index: ResolvedIndex,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) -> Bool {
    if byteCount <= StoreLimits.keyByteCount { return true }
    let failure = ContextError(
      .indexedValueTooLong,
      "\(entity.name).\(index.name) is indexed, and its key for object \(number) has \(byteCount) bytes;"
        + " a key can have \(StoreLimits.keyByteCount)",
      context: .init(
        entity: entity.name,
        objectID: id(number, entity),
        properties: index.slots.map { entity.schema.stored[$0].name }
      )
    )
    failures.note(failure)
    return false
  }

  /// Stores the noted changes in an entity's trees.
  private mutating func storeKeys(
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    let work = work(on: entity)
    if work.isEmptied {
      for name in entity.indexTreeNames { try transaction.treeIfPresent(name)?.removeRange(.all) }
      return
    }
    if work.added.isEmpty { return }
    for (place, treeName) in entity.indexTreeNames.enumerated() {
      if work.removed[place].isEmpty && work.added[place].isEmpty { continue }
      let tree = try tree(treeName, &transaction)
      work.removed[place].sort()
      try tree.remove(work.removed[place])
      work.removed[place].removeAll()
      work.added[place].sort()
      try tree.put(work.added[place])
    }
  }
}

extension ChangeSet.Objects {
  fileprivate init(_ changes: EntityChanges) {
    for record in changes.inserted { inserted.append(record.number) }
    updated = changes.updated.map { ChangeSet.Update(number: $0.number, slots: $0.slots) }
    deleted = changes.deleted
  }
}
