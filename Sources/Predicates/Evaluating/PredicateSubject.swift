/// A subject of predicates, which has values at paths: an object in memory, a row of plain values.
package protocol PredicateSubject {
  /// Returns the value at the path, which starts here whatever its scope; `null` where the value, or an object on the
  /// way, is missing.
  func value(at path: ResolvedPath) -> AttributeValue
  /// Returns the objects that a to-many relationship leads to, from the owner at the path; in the order of their IDs.
  func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [Self]
}
