/// Something that has values at paths: an object in memory, a row of plain values.
package protocol PredicateSubject {
  /// What reading a value can throw; `Never` for values at hand.
  associatedtype Failure: Error = Never
  /// The value at the path; `null` where it, or an object on the way, is missing.
  func value(at path: ResolvedPath) throws(Failure) -> AttributeValue
}

extension ResolvedPredicate {
  /// Whether the predicate holds for the subject. Values are read in the order of the predicate and only as
  /// needed.
  package func matches<Subject: PredicateSubject>(_ subject: Subject) throws(Subject.Failure) -> Bool {
    switch self {
    case .constant(let value):
      return value
    case .isNull(let path):
      return try subject.value(at: path).isNull
    case .compare(let path, let comparison, let literal, let options):
      return ValueComparison.holds(try subject.value(at: path), comparison, literal, options)
    case .comparePaths(let left, let comparison, let right, let options):
      let value = try subject.value(at: left)
      return ValueComparison.holds(value, comparison, try subject.value(at: right), options)
    case .among(let path, let values, let includesNull, let options):
      let value = try subject.value(at: path)
      if value.isNull { return includesNull }
      return values.contains { ValueComparison.areEqual(value, $0, options) }
    case .within(let path, let range):
      return ValueComparison.contains(range, try subject.value(at: path))
    case .not(let child):
      return try !child.matches(subject)
    case .and(let children):
      for child in children where try !child.matches(subject) { return false }
      return true
    case .or(let children):
      for child in children where try child.matches(subject) { return true }
      return false
    }
  }
}
