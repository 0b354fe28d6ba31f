// Operators are static members of constrained extensions, never free functions: the type checker then considers
// only the few that fit, and checks a closure of twenty terms at once. With free generic functions it gives up
// at nine. `SolverBudgetTests` checks this.
//
// The right side is always optional, so that every operator accepts `nil` and captured optionals.

extension ValueExpression where Value: AttributeType {
  /// Returns the condition that the value is this one; `nil` asks for a missing value.
  @inlinable
  public static func == (left: Self, right: Value?) -> Where<Root> { left.compare(.equal, right.operand) }
  /// Returns the condition that the value is another, or missing; for `nil`, that there is a value.
  @inlinable
  public static func != (left: Self, right: Value?) -> Where<Root> { left.compare(.notEqual, right.operand) }
  /// Returns the condition that the two values are equal, or both missing.
  public static func == (left: Self, right: Self) -> Where<Root> { left.compare(.equal, right) }
  /// Returns the condition that the two values differ, or one alone is missing.
  public static func != (left: Self, right: Self) -> Where<Root> { left.compare(.notEqual, right) }
}

extension ValueExpression where Value: AttributeType & Comparable {
  /// Returns the condition that the value is less. False where one of the two is missing, as with the other
  /// operators of this kind.
  @inlinable
  public static func < (left: Self, right: Value?) -> Where<Root> { left.compare(.less, right.operand) }
  /// Returns the condition that the value is less or equal.
  @inlinable
  public static func <= (left: Self, right: Value?) -> Where<Root> {
    left.compare(.lessOrEqual, right.operand)
  }
  /// Returns the condition that the value is greater.
  @inlinable
  public static func > (left: Self, right: Value?) -> Where<Root> { left.compare(.greater, right.operand) }
  /// Returns the condition that the value is greater or equal.
  @inlinable
  public static func >= (left: Self, right: Value?) -> Where<Root> {
    left.compare(.greaterOrEqual, right.operand)
  }

  /// Returns the condition that the left value is less. False where one of the two is missing.
  public static func < (left: Self, right: Self) -> Where<Root> { left.compare(.less, right) }
  /// Returns the condition that the left value is less or equal. False where one of the two is missing.
  public static func <= (left: Self, right: Self) -> Where<Root> { left.compare(.lessOrEqual, right) }
  /// Returns the condition that the left value is greater. False where one of the two is missing.
  public static func > (left: Self, right: Self) -> Where<Root> { left.compare(.greater, right) }
  /// Returns the condition that the left value is greater or equal. False where one of the two is missing.
  public static func >= (left: Self, right: Self) -> Where<Root> { left.compare(.greaterOrEqual, right) }

  /// Returns the condition that the value is in the range.
  public func between(_ range: some AttributeRange<Value>) -> Where<Root> {
    Where(operand.map { range.tree(for: $0) })
  }
}

extension ValueExpression where Value: AttributeType {
  /// Returns the condition that the value is one of these; `nil` among them asks for a missing value too.
  public func `in`(_ values: [Value?]) -> Where<Root> { isAmong(values.map { $0.operand }) }

  /// Returns the condition that the value is one of these.
  public func `in`(_ values: Set<Value>) -> Where<Root> where Value: Hashable {
    isAmong(values.map { $0.operand })
  }
}

// MARK: - Strings

extension ValueExpression where Value == String {
  /// Returns the condition that the string begins with another. False where one of the two is missing.
  public func hasPrefix(_ prefix: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.beginsWith, prefix.operand, options)
  }

  /// Returns the condition of ``hasPrefix(_:_:)``; this is the function's name in `#Predicate`.
  public func starts(with prefix: String?, _ options: StringOptions = []) -> Where<Root> {
    hasPrefix(prefix, options)
  }

  /// Returns the condition that the string ends with another. False where one of the two is missing.
  public func hasSuffix(_ suffix: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.endsWith, suffix.operand, options)
  }

  /// Returns the condition that the string contains another. False where one of the two is missing.
  public func contains(_ part: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.contains, part.operand, options)
  }

  /// Returns the condition that the whole string fits a pattern: `?` stands for one character (a Unicode scalar), `*`
  /// for any run of them, `\` takes the next character for itself. `$0.title.like("Ca*", .caseInsensitive)`
  public func like(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.like, pattern.operand, options)
  }

  /// Returns the condition that the whole string fits a regular expression in the syntax of Swift's `Regex`:
  /// `$0.tailnum.matches("N[0-9]+")`.
  ///
  /// O(string × pattern), repetitions with numbers written out. A pattern has 1,000 bytes at most, and no
  /// references to groups, lookbehind, atomic groups or possessive repetitions. For a pattern that is too long or
  /// invalid, the query throws when it runs. `.diacriticInsensitive` can't be combined with it.
  public func matches(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    compare(.matches, pattern.operand, options)
  }

  /// Returns the condition that the string contains another, whatever the case and the accents of their letters:
  /// `CONTAINS[cd]`. The name is Foundation's; the result doesn't depend on a locale.
  public func localizedStandardContains(_ part: String?) -> Where<Root> {
    contains(part, [.caseInsensitive, .diacriticInsensitive])
  }

  /// Returns the condition that the strings are equal once folded as the options say:
  /// `$0.title.equals("blue", .caseInsensitive)`.
  public func equals(_ other: String?, _ options: StringOptions) -> Where<Root> {
    compare(.equal, other.operand, options)
  }

  /// Returns the condition that the string is one of these once folded as the options say.
  public func `in`(_ values: [String?], _ options: StringOptions) -> Where<Root> {
    isAmong(values.map { $0.operand }, options)
  }
}

// MARK: - Objects

extension ValueExpression where Value: ObjectReferencing {
  /// Returns the condition that the object is this one; `nil` asks for none.
  public static func == (left: Self, right: Value?) -> Where<Root> {
    left.compare(.equal, toObjectIfAny: right)
  }
  /// Returns the condition that the object is another one, or none; for `nil`, that there is an object.
  public static func != (left: Self, right: Value?) -> Where<Root> {
    left.compare(.notEqual, toObjectIfAny: right)
  }
  /// Returns the condition that both sides are one object, or none on both.
  public static func == (left: Self, right: Self) -> Where<Root> { left.compare(.equal, right) }
  /// Returns the condition that the two sides aren't one object.
  public static func != (left: Self, right: Self) -> Where<Root> { left.compare(.notEqual, right) }

  /// Returns the condition that the object is this one: an ID, or anything else that stands for an object.
  public static func == (left: Self, right: (some ObjectReferencing)?) -> Where<Root> {
    left.compare(.equal, toObjectIfAny: right)
  }

  /// Returns the condition that the object is another one than the right one, or none.
  public static func != (left: Self, right: (some ObjectReferencing)?) -> Where<Root> {
    left.compare(.notEqual, toObjectIfAny: right)
  }

  /// Returns the condition that the object is one of these: objects, or IDs.
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
