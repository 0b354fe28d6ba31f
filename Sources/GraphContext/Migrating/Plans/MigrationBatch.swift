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
  private let entityNames: [String: String]

  /// - Parameter entityNames: the new names of old entities; those that don't go on are left out.
  init(
    old: ManagedObjectContext,
    new: ManagedObjectContext,
    objects: [ManagedRecord],
    entityNames: [String: String]
  ) {
    self.old = old
    self.new = new
    self.objects = objects
    self.entityNames = entityNames
  }

  /// The object of the new graph that goes on as one of the old graph: it has its number, and what could be inferred of its values.
  ///
  /// - Returns: nil if the object's entity doesn't go on, or a pass has deleted the object.
  /// - Throws: `otherContext` for an object that is not of the old graph; `store` or `corrupt` if the new graph can't be read.
  public func successor(of object: ManagedRecord) throws(ContextError) -> ManagedRecord? {
    guard object.context === old else {
      throw ContextError(
        .otherContext,
        "only an object of the old graph has a successor",
        context: .init(entity: object.entity.name)
      )
    }
    guard let name = entityNames[object.entity.name], let entity = new.coordinator.schema.entity(named: name)
    else { return nil }
    do throws(ContextError) {
      return try new.existingObject(ManagedRecord.self, number: object._$state.number, entity)
    } catch  where error.code == .objectNotFound {
      return nil
    }
  }
}
