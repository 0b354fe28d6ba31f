/// The changes that the passes of custom stages have made to the objects of one entity.
public struct MigrationEffect: Sendable, Hashable, Codable {
  /// The entity's name in the schema that the stage leads to.
  public let entity: String
  /// The number of objects that were inserted.
  public internal(set) var insertedCount: Int
  /// The number of objects that existed before and were changed.
  public internal(set) var updatedCount: Int
  /// The number of objects that were deleted.
  public internal(set) var deletedCount: Int

  init(_ changes: EntityChanges) {
    entity = changes.entity.name
    insertedCount = changes.inserted.count
    updatedCount = changes.updated.count
    deletedCount = changes.deleted.count
  }

  mutating func add(_ other: MigrationEffect) {
    insertedCount += other.insertedCount
    updatedCount += other.updatedCount
    deletedCount += other.deletedCount
  }
}

extension MigrationEffect: CustomStringConvertible {
  /// The effect in a line: `Song: 1 inserted, 20 updated, 0 deleted`.
  public var description: String {
    "\(entity): \(insertedCount) inserted, \(updatedCount) updated, \(deletedCount) deleted"
  }
}
