/// A predicate as a value: what every front-end makes, before names are looked up in a schema.
public indirect enum PredicateTree: Sendable, Hashable {
  /// Matches everything, or nothing.
  case constant(Bool)
  case comparison(PredicateOperand, ComparisonOperator, PredicateOperand, StringOptions)
  /// `IN`: the operand equals one of the values.
  case membership(PredicateOperand, [AttributeValue], StringOptions)
  /// `BETWEEN` and ranges.
  case within(PredicateOperand, ValueRange)
  case not(PredicateTree)
  /// All of them; of none, true.
  case and([PredicateTree])
  /// Any of them; of none, false.
  case or([PredicateTree])
}

/// One side of a comparison.
public enum PredicateOperand: Sendable, Hashable {
  /// Names from the fetched entity through to-one relationships to an attribute or a to-one relationship: `origin.name`.
  case path([String])
  /// The object itself.
  case object
  case value(AttributeValue)
}

/// How two operands are compared.
public enum ComparisonOperator: String, Sendable, Hashable, Codable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case contains = "CONTAINS"
}

/// How strings are folded before they are compared.
public struct StringOptions: OptionSet, Sendable, Hashable, Codable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// `[c]`: letters of different case are equal.
  public static let caseInsensitive = StringOptions(rawValue: 1)
}

/// A range of values. A nil bound is open; a value that is null or NaN is in no range.
public struct ValueRange: Sendable, Hashable {
  public struct Bound: Sendable, Hashable {
    public var value: AttributeValue
    public var isIncluded: Bool
    public init(_ value: AttributeValue, isIncluded: Bool) {
      self.value = value
      self.isIncluded = isIncluded
    }
  }
  public var lower: Bound?
  public var upper: Bound?
  public init(lower: Bound?, upper: Bound?) {
    self.lower = lower
    self.upper = upper
  }
}
