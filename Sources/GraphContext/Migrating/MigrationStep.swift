/// A tree to be built out of another one.
enum MigrationStep: Sendable, Hashable, Codable {
  /// An index, out of the records of its entity.
  case index(entity: EntityNumber, IndexNumber)
  /// Pairs, out of others with their halves exchanged.
  case exchangedPairs(from: String, to: String)
  /// Pairs without their places, out of pairs that may have some.
  case barePairs(from: String, to: String)
  /// Pairs with their places, out of the index of an ordered to-one relationship: the owner is the first number.
  case placedPairs(from: String, to: String)
  /// The order of pairs, out of the pairs.
  case order(of: String, in: String)
  /// The records of an entity in its newest layout, out of those of another tree.
  case records(entity: EntityNumber, from: String)
  /// Pairs of the same form, out of another tree.
  case copiedPairs(from: String, to: String)
  /// Long values of an attribute that is stored externally, out of another tree.
  case copiedValues(from: String, to: String)
  /// The values of a new to-one relationship, out of the links of its inverse: pairs of the entity's object and its
  /// destination, or the other way round.
  case inverse(entity: EntityNumber, PropertyNumber, links: String, isExchanged: Bool)
  /// The derived values of an entity's objects, out of the values that they are computed from.
  case derived(entity: EntityNumber)
  /// One pass of a custom stage, by its position, with the entity of the old schema whose objects it visits; nil for a
  /// pass that runs once.
  case pass(Int, entity: EntityNumber?)

  /// The tree that the step names as its source; nil for a step that reads the records of its entity, and for a pass.
  var source: String? {
    switch self {
    case .exchangedPairs(let source, _), .barePairs(let source, _), .copiedPairs(let source, _),
      .placedPairs(let source, _), .order(let source, _), .copiedValues(let source, _),
      .records(_, let source), .inverse(_, _, let source, _):
      source
    case .index, .derived, .pass: nil
    }
  }
}
