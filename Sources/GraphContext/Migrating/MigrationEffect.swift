/// What the passes of custom stages have done to the objects of one entity.
public struct MigrationEffect: Sendable, Hashable, Codable {
  /// By its name in the schema that the stage leads to.
  public let entity: String
  /// How many objects there are that were not there before.
  public internal(set) var insertedCount: Int
  /// How many objects were there, and have changed.
  public internal(set) var updatedCount: Int
  /// How many objects are gone.
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
