/// The input and output of a pass of a custom stage: the old graph and the new one, side by side.
///
/// The objects of both are ``ManagedRecord``s: no class of an earlier version is needed. Neither the objects nor
/// the contexts can be used after the pass's body has returned.
public final class MigrationBatch {
  /// The complete graph before the stage. It is read only: a save of it throws.
  public let old: ManagedObjectContext
  /// The graph that the stage makes. It is saved when the pass's body returns; a save in between throws.
  ///
  /// Requirements and uniqueness that the new schema adds are not checked before the end of the stage.
  public let new: ManagedObjectContext
  /// The objects of the old graph in this batch; none in a pass that runs once.
  public let objects: [ManagedRecord]
  /// The new names of the old entities that the new schema continues.
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
