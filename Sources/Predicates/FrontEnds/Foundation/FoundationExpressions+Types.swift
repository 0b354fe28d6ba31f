import Foundation

// Casts and type checks. `as?`, `as!` and `is` on an object become conditions on its class.

extension PredicateExpressions.ConditionalCast: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    try conversion.cast(input, to: Desired.self, in: Self.self)
  }
}

extension PredicateExpressions.ForceCast: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    try conversion.cast(input, to: Desired.self, in: Self.self)
  }
}

extension PredicateExpressions.TypeCheck: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    if Input.Output.self is Desired.Type { return .condition(.constant(true)) }
    if Input.Output.self == Optional<Desired>.self {
      return .condition(.comparison(try conversion.operand(input), .notEqual, .value(.null), []))
    }
    guard
      case .optionalOperand(_, let isPresent) = try conversion.cast(input, to: Desired.self, in: Self.self)
    else { throw FoundationConversion.unsupported(Self.self) }
    return .condition(isPresent)
  }
}

extension FoundationConversion {
  /// Returns the value as another type; nil for an object of another class.
  ///
  /// - Parameter expression: the type of the expression, which an error names.
  fileprivate mutating func cast<Input: PredicateExpression, Desired>(
    _ input: Input,
    to type: Desired.Type,
    in expression: Any.Type
  ) throws(QueryError) -> Converted {
    if Input.Output.self is Desired.Type || Input.Output.self == Optional<Desired>.self {
      return try converted(input)
    }
    guard let name = (type as? any PredicateRoot.Type)?.predicateClassName else {
      throw Self.unsupported(expression)
    }
    switch try converted(input) {
    case .operand(let object) where object.isObject:
      return .optionalOperand(object, isPresent: object.isKind(ofClass: name))
    case .optionalOperand(let object, let isPresent) where object.isObject:
      return .optionalOperand(object, isPresent: .all([isPresent, object.isKind(ofClass: name)]))
    default: throw Self.unsupported(expression)
    }
  }
}

extension PredicateOperand {
  /// True if the operand may stand for an object: the object itself, or a path.
  fileprivate var isObject: Bool {
    switch content {
    case .object, .path, .variable: true
    default: false
    }
  }
}

extension FoundationConversion.Converted {
  /// Returns this value or condition where `isPresent` holds, and nil elsewhere.
  ///
  /// - Throws: `syntax` if this is neither a value nor a condition.
  func present(where isPresent: PredicateTree) throws(QueryError) -> Self {
    switch self {
    case .condition(let tree): return .optionalCondition(tree, isPresent: isPresent)
    case .optionalCondition(let tree, let own):
      return .optionalCondition(tree, isPresent: .all([isPresent, own]))
    case .operand(let operand): return .optionalOperand(operand, isPresent: isPresent)
    case .optionalOperand(let operand, let own):
      return .optionalOperand(operand, isPresent: .all([isPresent, own]))
    case .list, .range, .constant, .order:
      throw QueryError(.syntax, "After a cast to a class, #Predicate takes a value or a condition only.")
    }
  }
}
