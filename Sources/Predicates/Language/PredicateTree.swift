/// A predicate as a value. Every front-end makes one, before names are looked up in a schema.
///
/// Front-ends make trees in *canonical form*: `and` and `or` hold two or more children, none of the same
/// case. Two spellings of a predicate then make equal trees, and ``description`` is text that parses to the
/// same tree again.
public enum PredicateTree: Sendable, Hashable {
  /// A predicate that matches everything, or nothing.
  case constant(Bool)
  /// A comparison of two operands; strings are folded first as the options say.
  indirect case comparison(PredicateOperand, ComparisonOperator, PredicateOperand, StringOptions)
  /// `IN`: the operand equals one of these.
  indirect case membership(PredicateOperand, [PredicateOperand], StringOptions)
  /// `BETWEEN`: the operand is the first bound, the second, or in between.
  indirect case between(PredicateOperand, PredicateOperand, PredicateOperand)
  /// A comparison, membership or range whose left side has several values, and the quantifier for them. A range may be
  /// two comparisons of one operand, joined by `and`: at least the lower end, and at most the upper one.
  indirect case quantified(PredicateQuantifier, PredicateTree)
  /// The opposite of a condition.
  indirect case not(PredicateTree)
  /// All of them; of none, true.
  case and([PredicateTree])
  /// Any of them; of none, false.
  case or([PredicateTree])

  /// The greatest nesting depth of a tree that text, archives and operators accept. A level of `NOT`, `AND` or `OR`
  /// counts 1, one of a calculation 2, one of a condition on elements 8. Code that walks a tree recurses, on stacks
  /// of 512 KiB too.
  public static let maximumDepth = 100
}

extension PredicateTree {
  /// Returns both predicates, in canonical form.
  static func all(_ first: PredicateTree, _ second: PredicateTree) -> PredicateTree {
    switch (first, second) {
    case (.and, _), (_, .and): all([first, second])
    default: .and([first, second])
    }
  }

  /// Returns either predicate, in canonical form.
  static func any(_ first: PredicateTree, _ second: PredicateTree) -> PredicateTree {
    switch (first, second) {
    case (.or, _), (_, .or): any([first, second])
    default: .or([first, second])
    }
  }

  /// Returns all of the predicates, in canonical form.
  public static func all(_ children: some Sequence<PredicateTree>) -> PredicateTree {
    var flat: [PredicateTree] = []
    for child in children {
      if case .and(let inner) = child { flat += inner } else { flat.append(child) }
    }
    return flat.count > 1 ? .and(flat) : flat.first ?? .constant(true)
  }

  /// Returns any of the predicates, in canonical form.
  public static func any(_ children: some Sequence<PredicateTree>) -> PredicateTree {
    var flat: [PredicateTree] = []
    for child in children {
      if case .or(let inner) = child { flat += inner } else { flat.append(child) }
    }
    return flat.count > 1 ? .or(flat) : flat.first ?? .constant(false)
  }
}

extension PredicateTree {
  /// The operand of two comparisons that are a range, the form of a range without one of its ends; nil for any other
  /// condition.
  var operandOfRange: PredicateOperand? {
    guard case .and(let bounds) = self, bounds.count == 2,
      case .comparison(let operand, let lower, _, let first) = bounds[0],
      case .comparison(let other, let upper, _, let second) = bounds[1],
      operand == other, first.isEmpty, second.isEmpty,
      lower == .greater || lower == .greaterOrEqual, upper == .less || upper == .lessOrEqual
    else { return nil }
    return operand
  }
}

/// An operator that compares two operands.
public enum ComparisonOperator: String, Sendable, Hashable, Codable, CaseIterable {
  /// The values are equal, or both missing.
  case equal = "=="
  /// The values differ, or one alone is missing.
  case notEqual = "!="
  /// The left value is less. Like all operators below, it is false for a missing value.
  case less = "<"
  /// The left value is less or equal.
  case lessOrEqual = "<="
  /// The left value is greater.
  case greater = ">"
  /// The left value is greater or equal.
  case greaterOrEqual = ">="
  /// The left string begins with the right one.
  case beginsWith = "BEGINSWITH"
  /// The left string ends with the right one.
  case endsWith = "ENDSWITH"
  /// The left string contains the right one.
  case contains = "CONTAINS"
  /// A pattern of wildcards that the whole string fits: `?` stands for one character, `*` for any run of them.
  case like = "LIKE"
  /// A regular expression that the whole string fits.
  case matches = "MATCHES"

  /// True if the operator tests the content of strings.
  public var isStringOperator: Bool {
    switch self {
    case .beginsWith, .endsWith, .contains, .like, .matches: true
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: false
    }
  }

  /// True if the operator compares by order.
  public var isOrdering: Bool {
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    case .equal, .notEqual, .beginsWith, .endsWith, .contains, .like, .matches: false
    }
  }

  /// True if the right side of the operator is a pattern rather than a value.
  public var takesPattern: Bool { self == .like || self == .matches }

  /// The operator with the same meaning and exchanged sides; nil for string operators.
  public var mirrored: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .beginsWith, .endsWith, .contains, .like, .matches: nil
    }
  }
}

/// A range of values. A nil bound is open; a value that is null or NaN is in no range.
public struct ValueRange: Sendable, Hashable {
  /// One end of a range.
  public struct Bound: Sendable, Hashable {
    /// The value at the end.
    public var value: AttributeValue
    /// True if that value is in the range.
    public var isIncluded: Bool
    /// Makes a bound.
    public init(_ value: AttributeValue, isIncluded: Bool) {
      self.value = value
      self.isIncluded = isIncluded
    }
  }
  /// The least value; nil if there is none.
  public var lower: Bound?
  /// The greatest value; nil if there is none.
  public var upper: Bound?
  /// Makes a range between two bounds.
  public init(lower: Bound?, upper: Bound?) {
    self.lower = lower
    self.upper = upper
  }
}
