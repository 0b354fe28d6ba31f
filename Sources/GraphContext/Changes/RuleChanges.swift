import Predicates

/// The objects that the delete rules of a save have changed or deleted.
struct RuleChanges: Sendable {
  struct Objects: Sendable {
    /// Bits of the slots that were set to nil.
    var updated: [ObjectNumber: UInt64] = [:]
    var deleted: Set<ObjectNumber> = []
  }
  private(set) var objects: [EntityNumber: Objects] = [:]

  mutating func noteUpdated(_ number: ObjectNumber, slot: Int, of entity: EntityNumber) {
    noteUpdated(number, slots: 1 << UInt64(slot), of: entity)
  }

  /// - Parameter slots: bits of the slots; 0 for no change.
  mutating func noteUpdated(_ number: ObjectNumber, slots: UInt64, of entity: EntityNumber) {
    if slots != 0 { objects[entity, default: Objects()].updated[number, default: 0] |= slots }
  }

  mutating func noteDeleted(_ number: ObjectNumber, of entity: EntityNumber) {
    objects[entity, default: Objects()].deleted.insert(number)
  }
}
