/// What a pass of a custom stage works with: the old graph and the new one, side by side.
///
/// The objects of both are ``ManagedRecord``s: no class of an earlier version is needed. Neither they nor the contexts are of use after the pass's body
/// has returned.
public final class MigrationBatch {
  /// The graph before the stage, whole. It is read only: a save of it throws.
  public let old: ManagedObjectContext
  /// The graph that the stage makes. It is saved when the pass's body returns; a save in between throws.
  ///
  /// Where the new schema requires what the old one did not, and where it adds uniqueness, nothing is checked before the end of the stage.
  public let new: ManagedObjectContext
  /// The objects of the old graph that this batch is about; none in a pass that runs once.
  public let objects: [ManagedRecord]
  /// The new names of old entities that go on.
  let entityNames: [String: String]
  let successors: SuccessorNumbers

  init(
    old: ManagedObjectContext,
    new: ManagedObjectContext,
    objects: [ManagedRecord],
    entityNames: [String: String],
    successors: SuccessorNumbers
  ) {
    self.old = old
    self.new = new
    self.objects = objects
    self.entityNames = entityNames
    self.successors = successors
  }
}
