/// Entries of one tree that are a query's results in its order, for any content of the store. With them, the
/// position of an object is counted instead of searched for.
package struct RankedAccess: Sendable {
  /// The tree that has the entries.
  package enum Source: Sendable {
    /// The records of the entity, or those with numbers in a range.
    case records(ClosedRange<ObjectNumber>?)
    /// Ranges of an index, in index order, none overlapping another.
    case index(ResolvedIndex, [IndexRange])
  }

  package let source: Source
  /// True if the results come in the reverse order of the entries.
  package let isReversed: Bool
}

extension ResolvedQuery {
  /// The entries that are the results, without the query's limit and offset; nil where a row has to be tested, or
  /// results have to be sorted.
  ///
  /// Unlike a plan, these entries don't depend on the content of the store: they include ranges of values that no
  /// object has, and no condition on other entities' objects is looked up.
  package var rankedAccess: RankedAccess? {
    let draft = PlanDraft(self, .objects, where: predicate)
    // An index of elements has several entries for an object, and that of a relationship keys of another form.
    for index in entity.indexes where index.origin == .declared && !index.isOfElements {
      guard let order = OrderMatch(index.columns, self, draft.conditions) else { continue }
      if let match = IndexMatch(index, draft.conditions) {
        guard draft.residual(covered: match.coveredPlaces) == .constant(true) else { continue }
        return RankedAccess(source: .index(index, match.ranges), isReversed: order.isReversed)
      }
      if predicate == .constant(true) {
        return RankedAccess(source: .index(index, [.all]), isReversed: order.isReversed)
      }
    }
    guard let order = OrderMatch([], self, draft.conditions) else { return nil }
    if predicate == .constant(true) {
      return RankedAccess(source: .records(nil), isReversed: order.isReversed)
    }
    guard let (range, rest) = draft.numberRange, rest == .constant(true) else { return nil }
    return RankedAccess(source: .records(range), isReversed: order.isReversed)
  }
}
