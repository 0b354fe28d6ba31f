/// A predicate as a value: what every front-end makes, before names are looked up in a schema.
///
/// Front-ends make trees in *canonical form*: `and` and `or` hold two or more children, none of the same
/// case. Two spellings of a predicate then make equal trees, and ``description`` is text that parses to the
/// same tree again.
public indirect enum PredicateTree: Sendable, Hashable {
  /// Matches everything, or nothing.
  case constant(Bool)
  case comparison(PredicateOperand, ComparisonOperator, PredicateOperand, StringOptions)
  /// `IN`: the operand equals one of these.
  case membership(PredicateOperand, [PredicateOperand], StringOptions)
  /// `BETWEEN`: the operand is the first bound, the second, or in between.
  case between(PredicateOperand, PredicateOperand, PredicateOperand)
  /// A comparison, membership or range whose left side has several values, and for how many of them it has to hold.
  case quantified(PredicateQuantifier, PredicateTree)
  case not(PredicateTree)
  /// All of them; of none, true.
  case and([PredicateTree])
  /// Any of them; of none, false.
  case or([PredicateTree])

  /// How deep a tree may be nested: what text, archives and operators accept. A level of `NOT`, `AND` or `OR` counts 1, one of
  /// a calculation 2, one of a condition on elements 8. Code that walks a tree recurses, on stacks of 512 KiB too.
  public static let maximumDepth = 100
}

extension PredicateTree {
  /// All of the predicates, in canonical form.
  public static func all(_ children: some Sequence<PredicateTree>) -> PredicateTree {
    var flat: [PredicateTree] = []
    for child in children {
      if case .and(let inner) = child { flat += inner } else { flat.append(child) }
    }
    return flat.count > 1 ? .and(flat) : flat.first ?? .constant(true)
  }

  /// Any of the predicates, in canonical form.
  public static func any(_ children: some Sequence<PredicateTree>) -> PredicateTree {
    var flat: [PredicateTree] = []
    for child in children {
      if case .or(let inner) = child { flat += inner } else { flat.append(child) }
    }
    return flat.count > 1 ? .or(flat) : flat.first ?? .constant(false)
  }
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
  /// A pattern of wildcards that the whole string fits; see ``LikePattern``.
  case like = "LIKE"
  /// A regular expression that the whole string fits; see ``RegexPattern``.
  case matches = "MATCHES"

  /// Whether it looks into strings.
  public var isStringOperator: Bool {
    switch self {
    case .beginsWith, .endsWith, .contains, .like, .matches: true
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: false
    }
  }

  /// Whether it asks for an order.
  public var isOrdering: Bool {
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    case .equal, .notEqual, .beginsWith, .endsWith, .contains, .like, .matches: false
    }
  }

  /// Whether what stands on its right is a pattern rather than a value.
  public var takesPattern: Bool { self == .like || self == .matches }

  /// The operator that means the same with its sides exchanged; nil for those that look into strings.
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
