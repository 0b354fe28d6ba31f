// Functions, and constructs that are written like functions.
extension FormatParser {
  /// Returns the node of a function's name and arguments.
  func call(_ name: String, _ arguments: [Node], at start: Int) throws(QueryError) -> Node {
    switch name.uppercased() {
    case "SUBQUERY": return try subquery(arguments, at: start)
    case "CAST": return try cast(arguments, at: start)
    case "TERNARY": return try conditional(arguments, at: start)
    case "FUNCTION": return try function(named: arguments, at: start)
    default: return try function(name, arguments, at: start)
    }
  }

  private func function(_ name: String, _ arguments: [Node], at start: Int) throws(QueryError) -> Node {
    if let aggregate = FormatOperator.collectionFunctions[name]
      ?? FormatOperator.collectionFunctions[name.droppingColon],
      arguments.count == 1
    {
      return try aggregated(aggregate, arguments[0], at: start)
    }
    guard let function = FormatOperator.selectors[name] ?? PredicateFunction(rawValue: name) else {
      let known = PredicateFunction.allCases.map(\.rawValue)
      let hint = NearestName.find(name, among: known).map { " Did you mean \($0)(…)?" } ?? ""
      throw error(.syntax, "The function \(name)(…) is not supported.\(hint)", at: start)
    }
    guard function.argumentCounts.contains(arguments.count) else {
      let message = "\(name) takes \(Self.text(function.argumentCounts)), not \(arguments.count)."
      throw error(.syntax, message, at: start)
    }
    var operands: [PredicateOperand] = []
    for argument in arguments { operands.append(try operand(argument, "as an argument of \(name)")) }
    return try calculation(.function(function, operands), at: start, above: arguments)
  }

  /// Returns “2 arguments”, “1 to 1000 arguments”.
  private static func text(_ counts: ClosedRange<Int>) -> String {
    if counts == 1...1 { return "1 argument" }
    return counts.count == 1
      ? "\(counts.lowerBound) arguments" : "\(counts.lowerBound) to \(counts.upperBound) arguments"
  }

  /// Returns the node of `sum(songs.seconds)`, `max({a, b})`.
  private func aggregated(
    _ aggregate: PredicateAggregate,
    _ argument: Node,
    at start: Int
  ) throws(QueryError) -> Node {
    if case .list(let elements) = argument.kind, !elements.isEmpty {
      guard let function = aggregate.functionOfValues else {
        throw error(.syntax, "This function takes a path to several objects.", at: argument.start)
      }
      return try calculation(.function(function, elements), at: start, above: [argument])
    }
    guard case .operand(let operand) = argument.kind, let collection = operand.content.asCollection else {
      throw error(
        .syntax,
        "This function takes a path to several objects, or several values.",
        at: argument.start
      )
    }
    let content = PredicateOperand.Content.aggregate(aggregate, collection)
    return Node(
      kind: .operand(PredicateOperand(content, at: operand.location)),
      start: start,
      depth: argument.depth
    )
  }

  /// Returns the node of `FUNCTION(a, "multiply:by:", b)`.
  private func function(named arguments: [Node], at start: Int) throws(QueryError) -> Node {
    guard arguments.count >= 2, case .operand(let selector) = arguments[1].kind,
      case .value(.string(let name)) = selector.content
    else {
      throw error(
        .syntax,
        "FUNCTION takes a value, the name of a function in quotes, and arguments.",
        at: start
      )
    }
    return try function(name, [arguments[0]] + arguments[2...], at: start)
  }

  /// Returns the node of `SUBQUERY(songs, $s, $s.seconds > 60)`.
  private func subquery(_ arguments: [Node], at start: Int) throws(QueryError) -> Node {
    guard arguments.count == 3 else {
      throw error(.syntax, "SUBQUERY takes a path, a variable and a condition.", at: start)
    }
    guard case .operand(let operand) = arguments[0].kind, var collection = operand.content.asCollection,
      collection.filter == nil, !collection.isDistinct
    else { throw error(.syntax, "SUBQUERY takes a path to several objects.", at: arguments[0].start) }
    guard case .operand(let variable) = arguments[1].kind, case .variable(let name, []) = variable.content
    else {
      throw error(.syntax, "Expected a variable such as $x.", at: arguments[1].start)
    }
    collection.filter = .init(variable: name, condition: try condition(arguments[2]))
    let whole = PredicateOperand(.collection(collection), at: operand.location)
    return try node(.operand(whole), at: start, above: arguments, weight: NestingWeight.elements)
  }

  /// Returns the node of `TERNARY(a > b, a, b)`.
  private func conditional(_ arguments: [Node], at start: Int) throws(QueryError) -> Node {
    guard arguments.count == 3 else {
      throw error(.syntax, "TERNARY takes a condition and two values.", at: start)
    }
    let content = PredicateOperand.Content.conditional(
      try condition(arguments[0]),
      try operand(arguments[1], "as the second argument of TERNARY"),
      try operand(arguments[2], "as the third argument of TERNARY")
    )
    return try calculation(content, at: start, above: arguments)
  }

  /// Returns the node of `CAST(value, "Type")`: for a literal the result of ``LiteralCast``, for anything else a
  /// conversion.
  private func cast(_ arguments: [Node], at start: Int) throws(QueryError) -> Node {
    guard arguments.count == 2, case .operand(let value) = arguments[0].kind,
      case .operand(let type) = arguments[1].kind,
      case .value(.string(let name)) = type.content
    else { throw error(.syntax, "CAST takes a value and the name of a type in quotes.", at: start) }
    if let content = LiteralCast.convert(value.content, to: name) {
      return Node(kind: .operand(PredicateOperand(content, at: location(start))), start: start)
    }
    guard let function = LiteralCast.conversion(to: name), value.converts(by: function) else {
      throw error(.syntax, "This CAST is not supported.", at: start)
    }
    return try calculation(.function(function, [value]), at: start, above: arguments)
  }

  /// Returns the node of a calculation from other nodes.
  func calculation(
    _ content: PredicateOperand.Content,
    at start: Int,
    above parts: [Node]
  ) throws(QueryError) -> Node {
    let operand = PredicateOperand(content, at: location(start))
    return try node(.operand(operand), at: start, above: parts, weight: NestingWeight.calculation)
  }
}

extension String {
  /// The string without the colon that ends a selector of one argument.
  fileprivate var droppingColon: String { hasSuffix(":") ? String(dropLast()) : self }
}

extension PredicateOperand {
  /// Returns whether a conversion can give a value: for a literal this is known.
  fileprivate func converts(by function: PredicateFunction) -> Bool {
    guard isLiteral else { return true }
    guard case .value(let value) = content else { return false }
    return !function.value(of: [value]).isNull
  }
}

extension PredicateAggregate {
  /// The function that computes the aggregate of a few values; nil if there is none.
  fileprivate var functionOfValues: PredicateFunction? {
    switch self {
    case .sum: .sum
    case .average: .average
    case .minimum: .minimum
    case .maximum: .maximum
    default: nil
    }
  }
}
