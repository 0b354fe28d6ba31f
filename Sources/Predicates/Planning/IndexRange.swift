/// Neighbouring entries of an index: those whose first columns equal `prefix`, and whose next column is in `next`.
/// Values are folded as the columns are.
package struct IndexRange: Sendable, Hashable {
  /// The values of the first columns; `null` for nil.
  package var prefix: [AttributeValue]
  /// The values of the column after the prefix; nil for all values.
  package var next: ValueSet.Segment?

  init(prefix: [AttributeValue] = [], next: ValueSet.Segment? = nil) {
    self.prefix = prefix
    self.next = next
  }

  /// The whole index.
  package static let all = IndexRange()
}

/// A source of exact counts of rows in O(log n), which the counted trees give.
package protocol IndexCounting {
  /// Returns the number of objects of the entity.
  func count(of entity: EntityID) throws -> Int
  /// Returns the number of objects of the entity whose numbers are in a range.
  func count(of entity: EntityID, in range: ClosedRange<ObjectNumber>) throws -> Int
  /// Returns the number of entries of the range.
  func count(_ range: IndexRange, in index: ResolvedIndex) throws -> Int
  /// Returns the objects of the range's entries. O(entries); asked for few only.
  func numbers(_ range: IndexRange, in index: ResolvedIndex) throws -> [ObjectNumber]
  /// Returns the objects that have one of these as an element of a to-many relationship, each once, ascending.
  /// O(elements · log n); asked for few only.
  func owners(of elements: [ObjectNumber], in relationship: ToManyID) throws -> [ObjectNumber]
  /// Returns the objects of an entity that meet a condition, ascending, found by a pass over all of them; nil where
  /// these objects are more than `limit`.
  ///
  /// - Parameter scope: that of the condition's paths.
  func numbers(
    of entity: EntitySchema,
    where condition: NormalPredicate,
    scope: Int,
    atMost limit: Int
  ) throws -> [ObjectNumber]?
}
