import Foundation

/// An expression and the type of its value.
struct TypedExpression {
  var expression: ResolvedExpression
  var type: ExpressionType
  /// The operand that the expression was made from, for messages.
  var operand: PredicateOperand

  /// The operand and its type in a sentence: “month + 1, a number,”.
  fileprivate var noun: String {
    operand.noun == type.noun ? operand.noun : "\(operand.noun), \(type.noun),"
  }
}

extension PredicateResolver {
  /// Returns the operand as an expression. Calculations with literals only are evaluated at once.
  mutating func expression(_ operand: PredicateOperand, _ depth: Int) throws(QueryError) -> TypedExpression {
    guard depth <= PredicateTree.maximumDepth else { throw QueryError.nestedTooDeeply.at(operand.location) }
    switch operand.content {
    case .function(let function, let arguments):
      return try call(function, arguments, operand, depth)
    case .conditional(let condition, let first, let second):
      return try conditional(condition, first, second, operand, depth)
    case .aggregate(let aggregate, let collection):
      return try self.aggregate(aggregate, collection, operand, depth)
    default:
      return try expression(try side(operand, depth), operand)
    }
  }

  private func expression(_ side: Side, _ operand: PredicateOperand) throws(QueryError) -> TypedExpression {
    switch side {
    case .expression(let expression):
      return expression
    case .path(let destination):
      try destination.checkIsValue(at: operand.location)
      return TypedExpression(
        expression: .path(destination.path),
        type: ExpressionType(destination),
        operand: operand
      )
    case .literal(let literal):
      let value = literal.literalValue ?? .null
      var type = ExpressionType(value)
      if case .reference(let object) = literal.content { type = .object(object.entity) }
      return TypedExpression(expression: .literal(value), type: type, operand: operand)
    case .collection(let collection, _):
      let message = "\(collection.name) leads to many objects; this takes one value."
      throw QueryError(.typeMismatch, message, keyPath: collection.name).at(operand.location)
    }
  }

  private mutating func call(
    _ function: PredicateFunction,
    _ arguments: [PredicateOperand],
    _ operand: PredicateOperand,
    _ depth: Int
  ) throws(QueryError) -> TypedExpression {
    var typed: [TypedExpression] = []
    for argument in arguments { typed.append(try expression(argument, depth + NestingWeight.calculation)) }
    if typed.contains(where: { $0.type == .decimal }) {
      for place in typed.indices { try convertLiteral(of: &typed[place], to: .decimal) }
    }
    guard function.argumentCounts.contains(typed.count) else {
      throw QueryError(
        .typeMismatch,
        "\(function.rawValue) doesn't take \(typed.count) \(typed.count == 1 ? "argument" : "arguments")."
      ).at(
        operand.location
      )
    }
    guard let type = function.type(of: typed.map(\.type)) else {
      let kinds = typed.map(\.type.noun).joined(separator: " and ")
      throw QueryError(.typeMismatch, "\(operand.formatText): \(function.rawValue) doesn't go with \(kinds).")
        .at(operand.location)
    }
    let resolved = try folded(function, typed.map(\.expression))
    return TypedExpression(expression: resolved, type: type, operand: operand)
  }

  private mutating func folded(
    _ function: PredicateFunction,
    _ arguments: [ResolvedExpression]
  ) throws(QueryError) -> ResolvedExpression {
    if function == .now {
      let now = moment ?? Date()
      moment = now
      return .literal(.date(now))
    }
    var values: [AttributeValue] = []
    for argument in arguments {
      guard case .literal(let value) = argument else { return .function(function, arguments) }
      values.append(value)
    }
    return .literal(function.value(of: values))
  }

  private mutating func conditional(
    _ condition: PredicateTree,
    _ first: PredicateOperand,
    _ second: PredicateOperand,
    _ operand: PredicateOperand,
    _ depth: Int
  ) throws(QueryError) -> TypedExpression {
    let condition = try resolve(condition, depth: depth + NestingWeight.calculation)
    let (one, two) = (
      try expression(first, depth + NestingWeight.calculation),
      try expression(second, depth + NestingWeight.calculation)
    )
    guard let type = one.type.common(with: two.type) else {
      let message =
        "\(first.noun) is \(one.type.noun) and \(second.noun) is \(two.type.noun): "
        + "TERNARY takes two values of the same kind."
      throw QueryError(.typeMismatch, message).at(operand.location)
    }
    let resolved = ResolvedExpression.conditional(condition, one.expression, two.expression)
    return TypedExpression(expression: resolved, type: type, operand: operand)
  }

  private mutating func aggregate(
    _ aggregate: PredicateAggregate,
    _ collection: PredicateCollection,
    _ operand: PredicateOperand,
    _ depth: Int
  ) throws(QueryError) -> TypedExpression {
    var (found, value) = try resolve(collection, operand, depth)
    let element = ExpressionType(value)
    guard let type = aggregate.type(of: element) else {
      let message = "\(operand.formatText) can't be computed: each of the values is \(element.noun)."
      throw QueryError(.typeMismatch, message, keyPath: found.name).at(operand.location)
    }
    // An element of a list counts whatever its value is.
    if aggregate == .count, !found.isDistinct, found.steps.last?.objects == nil { found.value = nil }
    return TypedExpression(expression: .aggregate(aggregate, found), type: type, operand: operand)
  }

  // MARK: Comparing

  func compareExpressions(
    _ left: Side,
    _ comparison: ComparisonOperator,
    _ right: Side,
    _ options: StringOptions,
    at locations: (left: SourceLocation?, right: SourceLocation?)
  ) throws(QueryError) -> ResolvedPredicate {
    var one = try expression(left, left.operand(at: locations.left))
    var two = try expression(right, right.operand(at: locations.right))
    try convertLiteral(of: &one, to: two.type)
    try convertLiteral(of: &two, to: one.type)
    guard let common = one.type.common(with: two.type), Self.isAllowed(comparison, options, common) else {
      if comparison == .contains, one.type != .string {
        let noun = one.type == .null ? "nil" : one.operand.noun.capitalizedFirst
        throw Self.nothingToLookInto(noun).at(locations.left ?? locations.right)
      }
      let message =
        "\(one.noun.capitalizedFirst) can't be compared with \(two.noun) by \(comparison.rawValue)\(options.formatText)."
      throw QueryError(.typeMismatch, message).at(locations.right ?? locations.left)
    }
    if let existence = Self.existence(one.expression, comparison, two.expression) { return existence }
    return .compareValues(one.expression, comparison, two.expression, options)
  }

  private static func isAllowed(
    _ comparison: ComparisonOperator,
    _ options: StringOptions,
    _ type: ExpressionType
  ) -> Bool {
    switch type {
    case .null: true
    case .string: true
    case .object: !comparison.isStringOperator && !comparison.isOrdering && options.isEmpty
    default: !comparison.isStringOperator && options.isEmpty
    }
  }

  /// Converts a literal: a date or UUID may be written as a string, a Bool as 0 or 1; beside a Decimal a number is the
  /// Decimal of its digits, and beside an integer digits are placed exactly.
  private func convertLiteral(of side: inout TypedExpression, to type: ExpressionType) throws(QueryError) {
    guard case .literal(let value) = side.expression else { return }
    if type == .integer, case .digits(let digits) = side.operand.content {
      side.expression = .literal(digits.amongIntegers)
      side.type = ExpressionType(digits.amongIntegers)
      return
    }
    let kind: AttributeKind
    switch (value, type) {
    case (.string, .date): kind = .date
    case (.string, .uuid): kind = .uuid
    case (.int(0), .bool), (.int(1), .bool): kind = .bool
    case (.double, .decimal): kind = .decimal
    default: return
    }
    let path = ResolvedPath(hops: [], leaf: .slot(0, kind), isOptional: true, name: "the value")
    let conversion = LiteralConversion(to: PathResolver.Destination(path: path, entity: nil))
    var literal = PredicateOperand(.value(value), at: side.operand.location)
    // The written digits are more exact than the Double that stands for them.
    if kind == .decimal, case .digits = side.operand.content { literal = side.operand }
    guard case .value(let converted) = try conversion.convert(literal) else { return }
    side = TypedExpression(expression: .literal(converted), type: type, operand: side.operand)
  }

  /// Returns the test for an element that is equivalent to comparing a count with 0 or 1: it needn't count all
  /// elements.
  private static func existence(
    _ left: ResolvedExpression,
    _ comparison: ComparisonOperator,
    _ right: ResolvedExpression
  ) -> ResolvedPredicate? {
    guard case .aggregate(.count, let collection) = left, case .literal(.int(let bound)) = right else {
      return nil
    }
    let counted: ResolvedPredicate = collection.value.map { .not(.isNull($0)) } ?? .constant(true)
    let exists = ResolvedPredicate.exists(in: collection, where: counted)
    switch (comparison, bound) {
    case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0): return exists
    case (.equal, 0), (.less, 1), (.lessOrEqual, 0): return .not(exists)
    default: return nil
    }
  }
}

extension PredicateResolver.Side {
  /// Returns the operand that the side was made from, for messages.
  fileprivate func operand(at location: SourceLocation?) -> PredicateOperand {
    switch self {
    case .expression(let expression): expression.operand
    case .literal(let literal): literal
    case .path(let destination): PredicateOperand(.path([destination.path.name]), at: location)
    case .collection(let collection, _): PredicateOperand(.path([collection.name]), at: location)
    }
  }
}
