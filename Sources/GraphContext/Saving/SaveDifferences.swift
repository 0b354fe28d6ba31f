import Predicates

/// The differences between the state that a save has stored and the one that its context showed.
struct SaveDifferences {
  /// Objects that are stored otherwise than the context shows them: some values aren't stored, or more are changed. By
  /// the entity's ordinal; empty for none.
  var reverted: [Set<ObjectNumber>] = []
  /// New objects that are not stored, and the existing ones that they stand for, by the entity's ordinal; empty for
  /// none.
  var aliases: [[ObjectNumber: ObjectNumber]] = []

  var isEmpty: Bool { reverted.isEmpty && aliases.isEmpty }
}
