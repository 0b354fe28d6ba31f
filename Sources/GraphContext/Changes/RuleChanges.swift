import Predicates

/// The objects that the delete rules of a save have changed or deleted.
struct RuleChanges: Sendable {
  struct Objects: Sendable {
    /// The slots that were set to nil.
    var updated: [ObjectNumber: SlotSet] = [:]
    var deleted: Set<ObjectNumber> = []
  }
  private(set) var objects: [EntityNumber: Objects] = [:]

  mutating func noteUpdated(_ number: ObjectNumber, slot: Int, of entity: EntityNumber) {
    noteUpdated(number, slots: SlotSet(slot), of: entity)
  }

  /// - Parameter slots: empty for no change.
  mutating func noteUpdated(_ number: ObjectNumber, slots: SlotSet, of entity: EntityNumber) {
    if slots.isEmpty { return }
    objects[entity, default: Objects()].updated[number, default: .empty].formUnion(slots)
  }

  mutating func noteDeleted(_ number: ObjectNumber, of entity: EntityNumber) {
    objects[entity, default: Objects()].deleted.insert(number)
  }
}
