/// A range of attribute values: one of the standard library's five kinds, with its usual meaning.
///
/// A value that is missing or NaN is in no range.
public protocol AttributeRange<Bound> {
  /// The type of the values.
  associatedtype Bound: Comparable
  /// The lower bound, with a flag that is true if the bound is in the range.
  var _lowerAttributeBound: (value: Bound, isIncluded: Bool)? { get }
  /// The upper bound, with a flag that is true if the bound is in the range.
  var _upperAttributeBound: (value: Bound, isIncluded: Bool)? { get }
}

extension ClosedRange: AttributeRange {
  public var _lowerAttributeBound: (value: Bound, isIncluded: Bool)? { (lowerBound, true) }
  public var _upperAttributeBound: (value: Bound, isIncluded: Bool)? { (upperBound, true) }
}

extension Range: AttributeRange {
  public var _lowerAttributeBound: (value: Bound, isIncluded: Bool)? { (lowerBound, true) }
  public var _upperAttributeBound: (value: Bound, isIncluded: Bool)? { (upperBound, false) }
}

extension PartialRangeFrom: AttributeRange {
  public var _lowerAttributeBound: (value: Bound, isIncluded: Bool)? { (lowerBound, true) }
  public var _upperAttributeBound: (value: Bound, isIncluded: Bool)? { nil }
}

extension PartialRangeThrough: AttributeRange {
  public var _lowerAttributeBound: (value: Bound, isIncluded: Bool)? { nil }
  public var _upperAttributeBound: (value: Bound, isIncluded: Bool)? { (upperBound, true) }
}

extension PartialRangeUpTo: AttributeRange {
  public var _lowerAttributeBound: (value: Bound, isIncluded: Bool)? { nil }
  public var _upperAttributeBound: (value: Bound, isIncluded: Bool)? { (upperBound, false) }
}

extension AttributeRange where Bound: AttributeType {
  var valueRange: ValueRange {
    ValueRange(
      lower: _lowerAttributeBound.map { .init($0.value._attributeValue, isIncluded: $0.isIncluded) },
      upper: _upperAttributeBound.map { .init($0.value._attributeValue, isIncluded: $0.isIncluded) }
    )
  }

  func tree(for operand: PredicateOperand) -> PredicateTree { valueRange.tree(for: operand) }
}

extension ValueRange {
  /// Returns `BETWEEN` for a closed range, comparisons for the others.
  func tree(for operand: PredicateOperand) -> PredicateTree {
    if let lower, let upper, lower.isIncluded, upper.isIncluded {
      return .between(operand, .value(lower.value), .value(upper.value))
    }
    var conditions: [PredicateTree] = []
    if let lower {
      let comparison: ComparisonOperator = lower.isIncluded ? .greaterOrEqual : .greater
      conditions.append(.comparison(operand, comparison, .value(lower.value), []))
    }
    if let upper {
      let comparison: ComparisonOperator = upper.isIncluded ? .lessOrEqual : .less
      conditions.append(.comparison(operand, comparison, .value(upper.value), []))
    }
    return .all(conditions)
  }
}

// MARK: - `contains` and `~=`

extension AttributeRange where Bound: AttributeType {
  /// Returns the condition that the value is in the range: `(1...3).contains($0.month)`.
  public func contains<Root>(_ value: ValueExpression<Root, Bound>) -> Where<Root> { value.between(self) }
}

extension Array where Element: AttributeType {
  /// Returns the condition that the value is one of the array's: `[1, 2].contains($0.month)`.
  public func contains<Root>(_ value: ValueExpression<Root, Element>) -> Where<Root> { value.in(self) }

  /// Returns the condition that the value is one of the array's, with nil among them for a missing one.
  public func contains<Root, Value>(_ value: ValueExpression<Root, Value>) -> Where<Root>
  where Element == Value? { value.in(self) }
}

extension Set where Element: AttributeType {
  /// Returns the condition that the value is one of the set's.
  public func contains<Root>(_ value: ValueExpression<Root, Element>) -> Where<Root> { value.in(self) }
}

extension Sequence where Element: ObjectReferencing {
  /// Returns the condition that the object is one of these: `[jfk, lga].contains($0.origin)`,
  /// `ids.contains($0)`.
  public func contains<Root, Value: ObjectReferencing>(_ value: ValueExpression<Root, Value>) -> Where<Root> {
    value.in(self)
  }
}
