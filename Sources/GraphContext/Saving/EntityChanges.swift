import Predicates

/// The changes of a save to the records of one entity. They are encoded before the writer's turn, so that the turn runs
/// none of the model's code.
final class EntityChanges {
  /// A new record.
  struct Record {
    let number: ObjectNumber
    /// The record, which lives as long as the encoder. The commit is not stamped yet.
    let bytes: UnsafeMutableRawBufferPointer
  }

  /// The new values of a stored object.
  struct Patch {
    let number: ObjectNumber
    /// A record that has the values of some slots. Lives as long as the encoder.
    var bytes: UnsafeRawBufferPointer
    /// The slots that get the values of ``bytes``.
    var slots: SlotSet
  }

  let entity: StoredEntity
  var encoder: RecordEncoder
  /// The new records. These and the following lists ascend by number.
  var inserted: [Record] = []
  var updated: [Patch] = []
  var deleted: [ObjectNumber] = []
  /// The slots of the references of deleted objects whose targets are those of the store, not of the context: the
  /// engine applies their delete rules.
  private(set) var followed: [ObjectNumber: SlotSet] = [:]
  /// The references of deleted objects that a child had set itself, or that its undo or redo has left alone. In the
  /// parent they may lead to objects that the deletion leaves alone.
  private(set) var ownReferences: [ObjectNumber: DecidedReferences] = [:]

  init(_ entity: StoredEntity) {
    self.entity = entity
    encoder = RecordEncoder(layout: entity.layout)
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Makes the engine apply the delete rules of references of an object that the save deletes.
  func follow(_ slots: SlotSet, of number: ObjectNumber) {
    if !slots.isEmpty { followed[number, default: .empty].formUnion(slots) }
  }

  /// Stops the engine from applying the delete rules of some references.
  func unfollow(_ slots: SlotSet, of number: ObjectNumber) { followed[number]?.subtract(slots) }

  /// Notes the references that a child has set in an object that the save deletes.
  func noteOwnReferences(_ references: DecidedReferences, of number: ObjectNumber) {
    if !references.all.isEmpty { ownReferences[number] = references }
  }

  /// Returns the index of the patch of an object. O(log n).
  func patchIndex(of number: ObjectNumber) -> Int? { updated.firstIndex(sorted: number, by: \.number) }

  /// Returns the index of the record of a new object. O(log n).
  func insertedIndex(of number: ObjectNumber) -> Int? { inserted.firstIndex(sorted: number, by: \.number) }

  /// Returns whether the save deletes an object. O(log n).
  func deletes(_ number: ObjectNumber) -> Bool { deleted.contains(sorted: number, by: \.self) }
}

extension StoredEntity {
  /// Returns the names of the properties of some slots. A place has the name of its to-one relationship.
  func names(of slots: SlotSet) -> [String] {
    var named = self.slots(slots).subtracting(placeSlots)
    for list in toOnes.compactMap(\.list?.slots) where slots.contains(list.place) {
      named.insert(list.reference)
    }
    return named.map { schema.stored[$0].name }
  }
}

/// The links that a save adds to and removes from one relationship that is kept as pairs.
struct PairChanges {
  let source: StoredEntity
  let relationship: StoredToMany
  let trees: PairTrees
  var links: PendingLinks
  /// The places of links that are added or moved.
  var places: PendingPlaces

  var isEmpty: Bool { links.isEmpty && places.isEmpty }

  /// The owners of links that are added, removed or moved.
  var owners: Set<ObjectNumber> {
    Set(links.added.keys).union(links.removed.keys).union(places.byOwner.keys)
  }

  /// The links that are moved.
  var movedLinks: [(owner: ObjectNumber, element: ObjectNumber, place: ListPlace)] {
    places.byOwner.flatMap { owner, places in
      places.filter { links.isLinked(owner, $0.key) == nil }.map { (owner, $0.key, $0.value) }
    }
  }

  /// The links that are added or moved.
  var placedLinks: [(owner: ObjectNumber, element: ObjectNumber)] {
    links.added.flatMap { owner, elements in elements.map { (owner, $0) } }
      + movedLinks.map { ($0.owner, $0.element) }
  }
}

/// All changes of a save, and the state that they are based on.
struct SaveRequest {
  var entities: [EntityChanges] = []
  var pairs: [PairChanges] = []
  /// The commit of the snapshot that the changes were made on. A record changed by a later one is a conflict.
  var baseCommit: UInt64
  /// Changes of other contexts that ``baseCommit`` has already, of objects that this save changes, by the entity's
  /// ordinal.
  var conflicts: [[ObjectNumber: ForeignChange]]
  /// Objects that the context's parent has deleted, by the entity's ordinal.
  var deletedInParent: [Set<ObjectNumber>]

  /// Rules for the counts of to-many relationships.
  var countRules = CountRules()
  /// The origin of the save, for the history.
  var origin = SaveOrigin()
  /// Objects that new ones were unified with, by the entity's ordinal; empty for none. If a delete rule deletes one,
  /// that is a conflict: the new object would be lost with it.
  var unifiedOwners: [Set<ObjectNumber>] = []
  /// True if the engine applies the delete rules of all to-one relationships of deleted objects: for a batch. A context
  /// has applied them itself, except for ``EntityChanges/followed``.
  var appliesToOneRules = false
  /// The failures found so far. The save throws them after it has checked everything else.
  var failures = SaveFailures()

  /// Makes a request that changes nothing: the save has to be tried again.
  static func nothing(on commit: UInt64) -> SaveRequest {
    SaveRequest(baseCommit: commit, conflicts: [], deletedInParent: [])
  }

  var isEmpty: Bool { pairs.isEmpty && failures.isEmpty && entities.allSatisfy(\.isEmpty) }
  var hasConflicts: Bool { conflicts.contains { !$0.isEmpty } }
  var deletesObjects: Bool { entities.contains { !$0.deleted.isEmpty } }
  /// True if objects that the save keeps may be missing below it afterwards: it deletes objects, with the effects of
  /// their rules, or others have deleted or changed objects that have unsaved changes here.
  var mayReleaseObjects: Bool {
    deletesObjects || hasConflicts || deletedInParent.contains { !$0.isEmpty }
  }
}
