/// The origin of a save, which the history notes beside its changes.
struct SaveOrigin: Sendable {
  var author: String?
  var contextName: String?
  /// The slots whose values stay in the history when an object is deleted, by the entity's ordinal; empty for
  /// none.
  var preservedSlots: [SlotSet] = []
}
