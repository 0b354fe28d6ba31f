import GraphContext

/// The objects that an operation has inserted, updated and deleted, by ID. The IDs are final.
public typealias Changeset = SavedChanges

/// A ``StoreOperation`` whose output is the changes that it has saved. If a save fails, the failure is the
/// output.
open class ChangesetOperation: StoreOperation<Changeset>, @unchecked Sendable {
  // Safety: it has no properties.

  /// Returns the saved changes.
  public final override func outputAfterSaving() -> Changeset? { savedChanges }
}
