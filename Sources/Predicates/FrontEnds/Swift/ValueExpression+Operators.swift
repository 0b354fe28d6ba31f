// Operators are static members of constrained extensions, never free functions: the type checker then looks
// only at the few that fit and settles a closure of twenty terms at once, where free generic functions make
// it give up at nine. `SolverBudgetTests` holds that down.
//
// The right side is always optional, so that `nil` and captured optionals go with every operator.

extension ValueExpression where Value: AttributeType {
  /// Whether the value is this one; `nil` asks for a missing one.
  @inlinable
  public static func == (left: Self, right: Value?) -> Where<Root> { left.compare(.equal, right.operand) }
  /// Whether the value is another, or missing; of `nil`, whether there is one.
  @inlinable
  public static func != (left: Self, right: Value?) -> Where<Root> { left.compare(.notEqual, right.operand) }
  /// Whether the two values are equal, or both missing.
  public static func == (left: Self, right: Self) -> Where<Root> { left.compare(.equal, right) }
  /// Whether the two values differ, or one alone is missing.
  public static func != (left: Self, right: Self) -> Where<Root> { left.compare(.notEqual, right) }
}

extension ValueExpression where Value: AttributeType & Comparable {
  /// Whether the value is less. False where one of the two is missing, as with the other operators of this kind.
  @inlinable
  public static func < (left: Self, right: Value?) -> Where<Root> { left.compare(.less, right.operand) }
  /// Whether the value is less or equal.
  @inlinable
  public static func <= (left: Self, right: Value?) -> Where<Root> {
    left.compare(.lessOrEqual, right.operand)
  }
  /// Whether the value is greater.
  @inlinable
  public static func > (left: Self, right: Value?) -> Where<Root> { left.compare(.greater, right.operand) }
  /// Whether the value is greater or equal.
  @inlinable
  public static func >= (left: Self, right: Value?) -> Where<Root> {
    left.compare(.greaterOrEqual, right.operand)
  }

  /// Whether the left value is less. False where one of the two is missing.
  public static func < (left: Self, right: Self) -> Where<Root> { left.compare(.less, right) }
  /// Whether the left value is less or equal. False where one of the two is missing.
  public static func <= (left: Self, right: Self) -> Where<Root> { left.compare(.lessOrEqual, right) }
  /// Whether the left value is greater. False where one of the two is missing.
  public static func > (left: Self, right: Self) -> Where<Root> { left.compare(.greater, right) }
  /// Whether the left value is greater or equal. False where one of the two is missing.
  public static func >= (left: Self, right: Self) -> Where<Root> { left.compare(.greaterOrEqual, right) }

  /// Whether the value is in the range.
  public func between(_ range: some AttributeRange<Value>) -> Where<Root> {
    Where(operand.map { range.tree(for: $0) })
  }
}

extension ValueExpression where Value: AttributeType {
  /// Whether the value is one of these; `nil` among them asks for a missing value too.
  public func `in`(_ values: [Value?]) -> Where<Root> { isAmong(values.map { $0.operand }) }

  /// Whether the value is one of these.
  public func `in`(_ values: Set<Value>) -> Where<Root> where Value: Hashable {
    isAmong(values.map { $0.operand })
  }
}

// MARK: - Strings

extension ValueExpression where Value == String {
  /// Whether the string begins with another. False where one of the two is missing.
  public func hasPrefix(_ prefix: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.beginsWith, prefix.operand, options)
  }

  /// Whether the string ends with another. False where one of the two is missing.
  public func hasSuffix(_ suffix: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.endsWith, suffix.operand, options)
  }

  /// Whether the string contains another. False where one of the two is missing.
  public func contains(_ part: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.contains, part.operand, options)
  }

  /// Whether the whole string fits a pattern: `?` stands for one character (a Unicode scalar), `*` for any run of them,
  /// `\` takes the next character for itself. `$0.title.like("Ca*", .caseInsensitive)`
  public func like(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.like, pattern.operand, options)
  }

  /// Whether the whole string fits a regular expression in the syntax of Swift's `Regex`: `$0.tailnum.matches("N[0-9]+")`.
  ///
  /// O(string × pattern), repetitions with numbers written out. A pattern has 1,000 bytes at most, and no references to groups, looking
  /// around, atomic groups or possessive repetitions. One that is too long, or none, is thrown when the query runs.
  /// `.diacriticInsensitive` doesn't go with it.
  public func matches(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.matches, pattern.operand, options)
  }

  /// Whether the string contains another, whatever the case and the accents of their letters: `CONTAINS[cd]`. The name is
  /// Foundation's; no locale has a say here.
  public func localizedStandardContains(_ part: String?) -> Where<Root> {
    contains(part, [.caseInsensitive, .diacriticInsensitive])
  }

  /// Whether the strings are equal once folded as the options say: `$0.title.equals("blue",
  /// .caseInsensitive)`.
  public func equals(_ other: String?, _ options: StringOptions) -> Where<Root> {
    compare(.equal, other.operand, options)
  }

  /// Whether the string is one of these once folded as the options say.
  public func `in`(_ values: [String?], _ options: StringOptions) -> Where<Root> {
    isAmong(values.map { $0.operand }, options)
  }
}

// MARK: - Objects

extension ValueExpression where Value: ObjectReferencing {
  /// Whether it is this object; `nil` asks for none.
  public static func == (left: Self, right: Value?) -> Where<Root> {
    left.compare(.equal, toObjectIfAny: right)
  }
  /// Whether it is another object, or none; of `nil`, whether there is one.
  public static func != (left: Self, right: Value?) -> Where<Root> {
    left.compare(.notEqual, toObjectIfAny: right)
  }
  /// Whether it is the same object on both sides, or none on both.
  public static func == (left: Self, right: Self) -> Where<Root> { left.compare(.equal, right) }
  /// Whether it isn't the same object on both sides.
  public static func != (left: Self, right: Self) -> Where<Root> { left.compare(.notEqual, right) }

  /// An object's ID, or anything else that stands for an object.
  public static func == (left: Self, right: (some ObjectReferencing)?) -> Where<Root> {
    left.compare(.equal, toObjectIfAny: right)
  }

  /// Whether it is another object than the one that this stands for, or none.
  public static func != (left: Self, right: (some ObjectReferencing)?) -> Where<Root> {
    left.compare(.notEqual, toObjectIfAny: right)
  }

  /// Whether the object is one of these: objects, or IDs.
  public func `in`(_ objects: some Sequence<some ObjectReferencing>) -> Where<Root> {
    isAmong(objects: objects)
  }

  private func compare(
    _ comparison: ComparisonOperator,
    toObjectIfAny other: (some ObjectReferencing)?
  ) -> Where<Root> {
    guard let other else { return compare(comparison, .value(.null)) }
    return compare(comparison, toObject: other)
  }
}
