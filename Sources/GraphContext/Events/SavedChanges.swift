/// The objects that one save or several saves have inserted, updated and deleted, by ID.
///
/// Each object counts once, with the difference between its state before the first save and after the last one. An ID
/// is in one of the sets only.
public struct SavedChanges: Sendable, Hashable {
  /// Objects that exist now and did not before.
  public private(set) var inserted: Set<ManagedObjectID> = []
  /// Objects that existed before and have other values or links. Objects that were deleted and came back are among
  /// them.
  public private(set) var updated: Set<ManagedObjectID> = []
  /// Objects that existed before and no longer do, also because of delete rules.
  public private(set) var deleted: Set<ManagedObjectID> = []

  /// Makes a set of no changes.
  public init() {}

  /// Makes the changes of one save.
  public init(_ changes: ObjectChanges) { add(changes) }

  /// True if nothing was inserted, updated or deleted.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Inserted and updated objects.
  public var all: Set<ManagedObjectID> { inserted.union(updated) }

  /// Adds the changes of the next save. An object that one save inserts and a later one deletes is in no set.
  /// O(changes).
  public mutating func add(_ changes: ObjectChanges) {
    for id in changes.deleted {
      if inserted.remove(id) == nil { deleted.insert(id) }
      updated.remove(id)
    }
    for id in changes.inserted {
      // The undo of a deletion may bring an object back.
      if deleted.remove(id) == nil { inserted.insert(id) } else { updated.insert(id) }
    }
    for id in changes.updated where !inserted.contains(id) { updated.insert(id) }
  }
}
