import Foundation
import PageStore
import Predicates

/// A save in the writer's turn: everything that has to be decided against the store as it is *now*.
///
/// The order matters:
/// 1. Records are stored and removed; one that a commit after the request's base has changed is a conflict.
/// 2. Keys of indexes and references follow, all removals before all additions, sorted for each tree.
/// 3. Pairs of many-to-many relationships.
/// 4. Delete rules, for what still refers to deleted objects: in the context they were applied to what its snapshot knew.
/// 5. Every reference that was set leads to an object.
/// 6. To-many relationships have as many members as their rules say.
/// 7. Unique tuples are unique. They are looked at once, at the end: two objects may swap theirs.
/// 8. Numbers are leased for the objects to come.
/// 9. Values that were stored outside of records and that nothing refers to any more are removed.
/// 10. The changes are appended to the history, if the store keeps one.
///
/// Failures of objects are gathered until the end, so that one error lists all of them. Any error aborts the transaction and leaves nothing in
/// the store.
final class SaveTransaction {
  let schema: StoredSchema
  let request: SaveRequest
  let numbers: ObjectNumbers
  let storeID: UUID
  let commit: UInt64
  /// Whether errors show what is stored.
  let showsValues: Bool
  private let keepsHistory: Bool
  /// Nil if the store keeps no history, or the save is none of its.
  var history: HistoryWriter?
  /// Changes of this save, those by delete rules left out.
  var changeSet: ChangeSet
  var ruleChanges = RuleChanges()
  var failures: SaveFailures
  /// The numbers that are leased when this is committed.
  var leasedEnds: [LeaseEnd] = []
  /// Whether there is anything to commit. Links that others have removed as well leave nothing to do.
  var hasWritten = false
  /// Deleted objects whose references have yet to be looked at.
  var deletions: [(entity: StoredEntity, number: ObjectNumber)] = []
  /// Objects that rules are to delete: a long chain of them needs no stack.
  var condemned: [(entity: StoredEntity, number: ObjectNumber)] = []
  var denials: [Denial] = []
  var lostReferences: [LostReference] = []
  /// Objects whose to-many relationships are counted at the end.
  var counted: CountedOwners
  /// Values that this save has stored outside of records.
  var blobCount: UInt32 = 0
  var deadBlobs: [DeadBlob] = []
  private var trees: [String: WriteTree] = [:]
  private var recordTrees: [WriteTree?]
  /// By the entity's ordinal; nil until a record of it is read.
  private var readers: [RecordReader?]
  /// Keys to add, by the ordinals of the entity and the index.
  var added: [[KeyBatch]]
  private var removed: [[KeyBatch]]
  /// Keys being made, kept for their memory.
  private var scratch: (old: [UInt8], new: [UInt8]) = ([], [])

  init(
    _ request: SaveRequest,
    schema: StoredSchema,
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
    recordTrees = schema.entities.map { _ in nil }
    readers = schema.entities.map { _ in nil }
    added = schema.entities.map { entity in Array(repeating: KeyBatch(), count: entity.indexTreeNames.count) }
    removed = added
  }

  /// Does all of it, and returns the changes of the commit.
  func run(_ transaction: inout WriteTransaction) throws -> ChangeSet {
    if keepsHistory { history = try HistoryWriter(&transaction) }
    hasWritten = !request.entities.allSatisfy(\.isEmpty)
    for changes in request.entities where !changes.isEmpty {
      try storeInserted(changes, &transaction)
      try storeUpdated(changes, &transaction)
      try removeDeleted(changes, &transaction)
    }
    for changes in request.entities where !changes.isEmpty { try storeKeys(changes.entity, &transaction) }
    try storePairs(&transaction)
    try applyDeleteRules(&transaction)
    try checkDestinations(&transaction)
    try checkCounts(&transaction)
    try checkUniqueness(&transaction)
    try failures.throwIfAny()
    try leaseNumbers(&transaction)
    try removeDeadBlobs(&transaction)
    for changes in request.entities {
      changeSet.setObjects(ChangeSet.Objects(changes), of: changes.entity.number)
    }
    changeSet.merge(ruleChanges)
    try history?.append(changeSet, request.origin, schema)
    return changeSet
  }

  func id(_ number: ObjectNumber, _ entity: StoredEntity) -> ManagedObjectID {
    ManagedObjectID(entity: entity.label, number: number, storeID: storeID)
  }

  // MARK: Trees

  func records(_ entity: StoredEntity, _ transaction: inout WriteTransaction) throws(StoreError) -> WriteTree
  {
    if let tree = recordTrees[entity.ordinal] { return tree }
    let tree = try transaction.tree(entity.treeName)
    recordTrees[entity.ordinal] = tree
    return tree
  }

  func reader(of entity: StoredEntity) -> RecordReader {
    if let reader = readers[entity.ordinal] { return reader }
    let reader = RecordReader(entity)
    readers[entity.ordinal] = reader
    return reader
  }

  func tree(_ name: String, _ transaction: inout WriteTransaction) throws(StoreError) -> WriteTree {
    if let tree = trees[name] { return tree }
    let tree = try transaction.tree(name)
    trees[name] = tree
    return tree
  }
}

// MARK: - Records

extension SaveTransaction {
  private func storeInserted(_ changes: EntityChanges, _ transaction: inout WriteTransaction) throws {
    guard !changes.inserted.isEmpty else { return }
    let entity = changes.entity
    let tree = try records(entity, &transaction)
    var encoder = RecordEncoder(layout: entity.layout)
    // The encoder owns records: it must not end before.
    defer { encoder.removeAll() }
    let inserted = try storeBlobs(of: changes.inserted, entity, &encoder, &transaction)
    for record in inserted { RecordEncoder.stamp(record.bytes, commit: commit) }
    counted.note(inserted, of: entity)
    if let number = try tree.put(new: inserted) {
      throw ContextError(
        .corrupt,
        "the store has an object \(number) of \(entity.name) that was never leased"
      )
    }
    for record in inserted {
      let view = RecordView(validated: UnsafeRawBufferPointer(record.bytes), layout: entity.layout)
      noteKeys(from: nil, to: view, record.number, entity, changed: .max)
    }
  }

  private func storeUpdated(_ changes: EntityChanges, _ transaction: inout WriteTransaction) throws {
    guard !changes.updated.isEmpty else { return }
    let entity = changes.entity
    let tree = try records(entity, &transaction)
    var encoder = RecordEncoder(layout: entity.layout)
    var patchEncoder = RecordEncoder(layout: entity.layout)
    for patch in changes.updated {
      encoder.removeAll()
      patchEncoder.removeAll()
      let given = RecordView(validated: patch.bytes, layout: entity.layout)
      let changed = try storeBlobs(of: given, in: patch.slots, entity, &patchEncoder, &transaction)
      let values =
        changed.map { RecordView(validated: UnsafeRawBufferPointer($0), layout: entity.layout) } ?? given
      var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
      try withStored(patch.number, entity, tree) { old in
        bytes = encoder.encode(old, patchedBy: values, in: patch.slots)
        let new = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
        noteKeys(from: old, to: new, patch.number, entity, changed: patch.slots)
        noteDeadBlobs(of: old, in: patch.slots, entity)
      }
      RecordEncoder.stamp(bytes, commit: commit)
      try withKey(patch.number) { key throws(StoreError) in
        _ = try tree.put(key, UnsafeRawBufferPointer(bytes))
      }
    }
  }

  private func removeDeleted(_ changes: EntityChanges, _ transaction: inout WriteTransaction) throws {
    guard !changes.deleted.isEmpty else { return }
    let entity = changes.entity
    let tree = try records(entity, &transaction)
    for number in changes.deleted {
      try withStored(number, entity, tree) { old in
        noteKeys(from: old, to: nil, number, entity, changed: .max)
        noteDeadBlobs(of: old, in: .max, entity)
        history?.noteDeleted(old, number, entity, request.origin)
        if request.appliesToOneRules { followToOnes(of: old, number, entity) }
      }
      try withKey(number) { key throws(StoreError) in _ = try tree.remove(key) }
      deletions.append((entity, number))
    }
  }

  /// Calls `body` with the stored record of an object that this save changes, unless another context changed it.
  private func withStored(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ tree: WriteTree,
    _ body: (RecordView) throws -> Void
  ) throws {
    try withKey(number) { key in
      guard let found = try tree.find(key) else {
        throw ContextError.conflict(id(number, entity), "deleted")
      }
      try found.withBytes { (bytes: UnsafeRawBufferPointer) throws in
        guard let record = reader(of: entity).view(bytes) else {
          throw StoreView.damaged(number, of: entity)
        }
        if record.commit > request.baseCommit {
          throw ContextError.conflict(id(number, entity), "changed")
        }
        try body(record)
      }
    }
  }
}

// MARK: - Keys

extension SaveTransaction {
  /// Notes what has to change in the trees of keys when a record changes; nil stands for no record.
  private func noteKeys(
    from old: RecordView?,
    to new: RecordView?,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    changed: UInt64
  ) {
    for (place, index) in entity.declaredIndexes.enumerated() where index.slotMask & changed != 0 {
      if index.isOfElements {
        noteElementKeys(index, place, from: old, to: new, number, entity)
        continue
      }
      scratch.old.removeAll(keepingCapacity: true)
      scratch.new.removeAll(keepingCapacity: true)
      if let old { _ = index.appendKey(of: old, number, to: &scratch.old) }
      let isConstrained = new.map { index.appendKey(of: $0, number, to: &scratch.new) } ?? false
      if old != nil, new != nil, scratch.old == scratch.new { continue }
      if old != nil { removed[entity.ordinal][place].append(scratch.old) }
      guard new != nil else { continue }
      guard isShortEnough(scratch.new, index, number, entity) else { continue }
      added[entity.ordinal][place].append(scratch.new, isConstrained: isConstrained && index.isUnique)
    }
    for (place, toOne) in entity.toOnes.enumerated() where changed & 1 << UInt64(toOne.slot) != 0 {
      let (before, after) = (old?.reference(toOne.slot) ?? .none, new?.reference(toOne.slot) ?? .none)
      guard before != after else { continue }
      counted.note(before, in: toOne.treeName)
      counted.note(after, in: toOne.treeName)
      let place = entity.declaredIndexes.count + place
      if !before.isNone { notePair(before, number, in: &removed[entity.ordinal][place]) }
      if !after.isNone { notePair(after, number, in: &added[entity.ordinal][place]) }
    }
  }

  /// The same for an index with an entry for each element of a list.
  private func noteElementKeys(
    _ index: ResolvedIndex,
    _ place: Int,
    from old: RecordView?,
    to new: RecordView?,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    let (before, after) = (
      old.map { index.keys(of: $0, number) } ?? [], new.map { index.keys(of: $0, number) } ?? []
    )
    for key in before.subtracting(after) { removed[entity.ordinal][place].append(key) }
    for key in after.subtracting(before) where isShortEnough(key, index, number, entity) {
      added[entity.ordinal][place].append(key)
    }
  }

  private func notePair(_ first: ObjectNumber, _ second: ObjectNumber, in batch: inout KeyBatch) {
    scratch.new.removeAll(keepingCapacity: true)
    KeyCoder.append(objectID: first, to: &scratch.new)
    KeyCoder.append(objectID: second, to: &scratch.new)
    batch.append(scratch.new)
  }

  /// Returns whether a key can be stored, and notes a failure if it can't.
  private func isShortEnough(
    _ key: [UInt8],
    _ index: ResolvedIndex,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) -> Bool {
    if key.count <= StoreLimits.keyByteCount { return true }
    let failure = ContextError(
      .indexedValueTooLong,
      "\(entity.name).\(index.name) is indexed, and its key for object \(number) has \(key.count) bytes;"
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

  /// Brings what was noted into an entity's trees.
  private func storeKeys(_ entity: StoredEntity, _ transaction: inout WriteTransaction) throws(StoreError) {
    for (place, treeName) in entity.indexTreeNames.enumerated() {
      if removed[entity.ordinal][place].isEmpty && added[entity.ordinal][place].isEmpty { continue }
      let tree = try tree(treeName, &transaction)
      removed[entity.ordinal][place].sort()
      try removed[entity.ordinal][place].forEach { key, _ throws(StoreError) in _ = try tree.remove(key) }
      removed[entity.ordinal][place].removeAll()
      added[entity.ordinal][place].sort()
      try tree.put(added[entity.ordinal][place])
    }
  }
}

extension RecordView {
  /// The number at a to-one relationship's slot; ``ObjectNumber/none`` for nil.
  func reference(_ slot: Int) -> ObjectNumber {
    isNull(slot) ? .none : ObjectNumber(rawValue: fixed(slot, as: UInt64.self))
  }
}

extension ChangeSet.Objects {
  fileprivate init(_ changes: EntityChanges) {
    for record in changes.inserted { inserted.append(record.number) }
    updated = changes.updated.map { ChangeSet.Update(number: $0.number, slots: $0.slots) }
    deleted = changes.deleted
  }
}
