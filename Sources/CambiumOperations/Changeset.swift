import GraphContext

/// The objects that an operation has inserted, updated and deleted, by ID. The IDs are final.
public struct Changeset: Sendable, Hashable {
  /// Objects that were inserted, and not deleted since.
  public private(set) var inserted: Set<ManagedObjectID> = []
  /// Objects that were updated, and not deleted since. Objects that were inserted before can be among them.
  public private(set) var updated: Set<ManagedObjectID> = []
  /// Objects that were deleted.
  public private(set) var deleted: Set<ManagedObjectID> = []

  /// A changeset of no objects.
  public init() {}

  /// Inserted and updated objects.
  public var all: Set<ManagedObjectID> { inserted.union(updated) }

  /// Adds the changes of a save.
  mutating func add(_ changes: ObjectChanges) {
    deleted.formUnion(changes.deleted)
    inserted = inserted.union(changes.inserted).subtracting(deleted)
    updated = updated.union(changes.updated).subtracting(deleted)
  }
}

/// A ``StoreOperation`` whose output is the changes that it has saved. If a save fails, the failure is the
/// output.
open class ChangesetOperation: StoreOperation<Changeset>, @unchecked Sendable {
  // Safety: it has no properties.

  /// Returns the saved changes.
  public final override func outputAfterSaving() -> Changeset? { savedChanges }
}
