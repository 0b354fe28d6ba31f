import Foundation

typealias Converted = FoundationConversion.Converted

extension PredicateExpressions.Variable: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    guard let value = conversion.variables[key] else {
      throw QueryError(.syntax, "#Predicate has more than one input; a query has one.")
    }
    return value
  }
}

// MARK: - Logic

extension PredicateExpressions.Conjunction: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .condition(.all([try conversion.condition(lhs), try conversion.condition(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .condition(.any([try conversion.condition(lhs), try conversion.condition(rhs)]))
  }
}

extension PredicateExpressions.Negation: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .condition(.not(try conversion.condition(wrapped)))
  }
}

extension PredicateExpressions.Conditional: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let test = try conversion.condition(test)
    if Output.self == Bool.self {
      let (yes, no) = (try conversion.condition(trueBranch), try conversion.condition(falseBranch))
      return .condition(.any([.all([test, yes]), .all([.not(test), no])]))
    }
    return .operand(
      PredicateOperand(
        .conditional(test, try conversion.operand(trueBranch), try conversion.operand(falseBranch))
      )
    )
  }
}

// MARK: - Comparisons

extension PredicateExpressions.Equal: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .condition(try conversion.equality(lhs, rhs))
  }
}

extension PredicateExpressions.NotEqual: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let equality = try conversion.equality(lhs, rhs)
    if case .comparison(let left, .equal, let right, let options) = equality {
      return .condition(.comparison(left, .notEqual, right, options))
    }
    return .condition(.not(equality))
  }
}

extension FoundationConversion {
  fileprivate mutating func equality(
    _ left: any PredicateExpression,
    _ right: any PredicateExpression
  ) throws(QueryError) -> PredicateTree {
    let (one, two) = (try converted(left), try converted(right))
    switch (one, two) {
    case (.operand(let left), .operand(let right)):
      return .comparison(left, .equal, right, [])
    case (.optionalOperand(let value, let isPresent), let other),
      (let other, .optionalOperand(let value, let isPresent)):
      guard let other = Self.operand(of: other) else { throw Self.unsupported(type(of: right)) }
      return Self.equality(value, isPresent: isPresent, other)
    case (.order(let first, let second, let options), .constant(let order)),
      (.constant(let order), .order(let first, let second, let options)):
      guard let order = order as? ComparisonResult else { throw Self.unsupported(type(of: right)) }
      let comparison: ComparisonOperator =
        switch order {
        case .orderedAscending: .less
        case .orderedSame: .equal
        case .orderedDescending: .greater
        }
      return .comparison(first, comparison, second, options)
    case (let condition, .operand(let literal)), (.operand(let literal), let condition):
      return try Self.equality(condition, literal, type(of: left))
    default:
      let (first, second) = (
        try Self.condition(one, type(of: left)), try Self.condition(two, type(of: right))
      )
      let areSame = PredicateTree.any([.all([first, second]), .all([.not(first), .not(second)])])
      switch (one.presence, two.presence) {
      case (nil, nil): return areSame
      case (let presence?, nil), (nil, let presence?): return .all([presence, areSame])
      // Nil equals nil, and no condition.
      case (let here?, let there?):
        return .any([.all([here, there, areSame]), .all([.not(here), .not(there)])])
      }
    }
  }

  /// Returns the comparison of two values, the first of which is nil where a condition doesn't hold.
  private static func equality(
    _ value: PredicateOperand,
    isPresent: PredicateTree,
    _ other: PredicateOperand
  ) -> PredicateTree {
    let areBoth = PredicateTree.all([isPresent, .comparison(value, .equal, other, [])])
    // Without an alternative an index can be used.
    if let literal = other.literalValue, literal != .null { return areBoth }
    return .any([areBoth, .all([.not(isPresent), .comparison(other, .equal, .value(.null), [])])])
  }

  /// Returns the comparison of a condition with a value: usually `true`, `false` or nil.
  private static func equality(
    _ converted: Converted,
    _ literal: PredicateOperand,
    _ type: Any.Type
  ) throws(QueryError) -> PredicateTree {
    if case .optionalCondition(let tree, let isPresent) = converted {
      switch literal.content {
      case .value(.null): return .not(isPresent)
      case .value(.bool(let value)): return .all([isPresent, value ? tree : .not(tree)])
      default:
        guard let value = operand(of: converted) else { throw unsupported(type) }
        return .comparison(value, .equal, literal, [])
      }
    }
    let tree = try condition(converted, type)
    guard case .value(.bool(let value)) = literal.content else {
      let isTrue = PredicateTree.comparison(literal, .equal, .value(.bool(true)), [])
      let isFalse = PredicateTree.comparison(literal, .equal, .value(.bool(false)), [])
      return .any([.all([tree, isTrue]), .all([.not(tree), isFalse])])
    }
    return value ? tree : .not(tree)
  }
}

extension PredicateExpressions.Comparison: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let comparison: ComparisonOperator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw FoundationConversion.unsupported(Self.self)
      }
    let (left, right) = (try conversion.converted(lhs), try conversion.converted(rhs))
    guard let low = FoundationConversion.operand(of: left), let high = FoundationConversion.operand(of: right)
    else { throw FoundationConversion.unsupported(Self.self) }
    // A comparison of order is false for nil. A separate condition for nil lets an index serve the path.
    switch (left, right) {
    case (.optionalOperand(let value, let isPresent), _):
      return .condition(.all([isPresent, .comparison(value, comparison, high, [])]))
    case (_, .optionalOperand(let value, let isPresent)):
      return .condition(.all([isPresent, .comparison(low, comparison, value, [])]))
    default: return .condition(.comparison(low, comparison, high, []))
    }
  }
}

extension PredicateExpressions.RangeExpressionContains: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    guard case .range(let test) = try conversion.converted(range) else {
      throw FoundationConversion.unsupported(Self.self)
    }
    return .condition(test(try conversion.operand(element)))
  }
}

extension PredicateExpressions.Range: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let (low, high) = (try conversion.operand(lower), try conversion.operand(upper))
    return .range { .all([.comparison($0, .greaterOrEqual, low, []), .comparison($0, .less, high, [])]) }
  }
}

extension PredicateExpressions.ClosedRange: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let (low, high) = (try conversion.operand(lower), try conversion.operand(upper))
    return .range { .between($0, low, high) }
  }
}
