extension FormatParser {
  /// An operator that waits to be reduced.
  struct Operator {
    enum Kind {
      case or, and, not
      case quantifier(PredicateQuantifier)
      case comparison(Infix, StringOptions)
      case function(PredicateFunction)
    }

    /// The precedence, from loose to tight.
    enum Precedence: Comparable {
      case or, and, not, quantifier, comparison
      case value(OperandPrecedence)
    }

    let kind: Kind
    let precedence: Precedence
    let token: FormatToken
  }

  // MARK: Before a value

  /// Consumes `NOT`, a quantifier or a sign.
  mutating func acceptPrefix() throws(QueryError) -> Bool {
    guard let prefix = prefix(token) else { return false }
    if let waiting = level.operators.last, waiting.precedence > prefix.precedence {
      throw error(
        .syntax,
        "Expected a value or the name of a property, not \(text(of: token)).",
        at: token.start
      )
    }
    guard level.operators.count - level.nodes.count <= PredicateTree.maximumDepth else {
      throw QueryError.nestedTooDeeply.at(location(token.start))
    }
    level.operators.append(prefix)
    try advance()
    return true
  }

  private func prefix(_ token: FormatToken) -> Operator? {
    switch token.kind {
    case .symbol(.not): return Operator(kind: .not, precedence: .not, token: token)
    case .symbol(.minus): return sign(.negate, token)
    case .symbol(.bitNot): return sign(.onesComplement, token)
    default: break
    }
    guard let keyword = token.keyword else { return nil }
    switch keyword {
    case .not: return Operator(kind: .not, precedence: .not, token: token)
    case .any, .some: return quantifier(.any, token)
    case .all: return quantifier(.all, token)
    case .none: return quantifier(.none, token)
    default: return nil
    }
  }

  private func quantifier(_ quantifier: PredicateQuantifier, _ token: FormatToken) -> Operator {
    Operator(kind: .quantifier(quantifier), precedence: .quantifier, token: token)
  }

  private func sign(_ function: PredicateFunction, _ token: FormatToken) -> Operator {
    Operator(kind: .function(function), precedence: .value(.unary), token: token)
  }

  // MARK: Between values

  /// Consumes the operator between two values or conditions, after reducing all operators to its left that bind
  /// tighter.
  mutating func acceptInfix() throws(QueryError) -> Bool {
    if let refusal = refusal(ofInfix: token) { throw refusal }
    let infixToken = token
    let kind: Operator.Kind
    let precedence: Operator.Precedence
    if let isAnd = isAnd(token) {
      (kind, precedence) = isAnd ? (.and, .and) : (.or, .or)
      try advance()
    } else if let infix = infix(token) {
      try reduce(tighterThan: .comparison)
      try checkComparison(at: infixToken)
      try advance()
      (kind, precedence) = (.comparison(infix, try acceptOptions()), .comparison)
    } else if case .symbol(let symbol) = token.kind, let function = FormatOperator.function(symbol) {
      (kind, precedence) = (.function(function.function), .value(function.precedence))
      try advance()
    } else {
      return false
    }
    // AND and OR wait for all of their kind: a chain of any length is one condition.
    try reduce(tighterThan: precedence, orEqual: precedence > .comparison)
    level.operators.append(Operator(kind: kind, precedence: precedence, token: infixToken))
    return true
  }

  private func isAnd(_ token: FormatToken) -> Bool? {
    switch (token.kind, token.keyword) {
    case (.symbol(.and), _), (_, .and): true
    case (.symbol(.or), _), (_, .or): false
    default: nil
    }
  }

  private func checkComparison(at token: FormatToken) throws(QueryError) {
    if let waiting = level.operators.last, waiting.precedence == .comparison {
      throw error(.syntax, "Comparisons don't chain; join them with AND.", at: token.start)
    }
    if let left = level.nodes.last, case .condition = left.kind {
      throw error(.syntax, "A condition can't be compared.", at: token.start)
    }
  }

  // MARK: Reducing

  /// Reduces all nodes of the level to one.
  mutating func reduceLevel() throws(QueryError) -> Node {
    try reduce(tighterThan: .or, orEqual: true)
    return popNode()
  }

  private mutating func reduce(
    tighterThan precedence: Operator.Precedence,
    orEqual: Bool = false
  ) throws(QueryError) {
    while let waiting = level.operators.last,
      waiting.precedence > precedence || (orEqual && waiting.precedence == precedence)
    {
      level.operators.removeLast()
      try reduce(waiting)
    }
  }

  private mutating func reduce(_ waiting: Operator) throws(QueryError) {
    let last = popNode()
    switch waiting.kind {
    case .not:
      push(try node(.condition(.not(try condition(last))), at: waiting.token.start, above: [last], weight: 1))
    case .quantifier(let quantifier):
      let tree = try quantified(quantifier, last, at: waiting.token)
      push(Node(kind: .condition(tree), start: waiting.token.start, depth: last.depth))
    case .and, .or:
      try reduceChain(waiting, last)
    case .comparison(let infix, let options):
      let left = popNode()
      let tree = try comparison(left, infix, last, options, at: waiting.token)
      push(Node(kind: .condition(tree), start: left.start, depth: max(left.depth, last.depth)))
    case .function(let function) where waiting.precedence == .value(.unary):
      push(try signed(function, last, at: waiting.token))
    case .function(let function):
      let left = popNode()
      let operands = [
        try operand(left, "before \(text(of: waiting.token))"),
        try operand(last, "after \(text(of: waiting.token))"),
      ]
      push(try calculation(.function(function, operands), at: left.start, above: [left, last]))
    }
  }

  /// Reduces a chain of `AND`s, or of `OR`s, to one condition.
  private mutating func reduceChain(_ waiting: Operator, _ last: Node) throws(QueryError) {
    var parts = [last]
    parts.append(popNode())
    while let next = level.operators.last, next.precedence == waiting.precedence {
      level.operators.removeLast()
      parts.append(popNode())
    }
    var children: [PredicateTree] = []
    children.reserveCapacity(parts.count)
    for (place, part) in parts.enumerated().reversed() {
      children.append(try condition(part, isLast: place == 0))
    }
    let tree: PredicateTree = waiting.precedence == .and ? .all(children) : .any(children)
    push(try node(.condition(tree), at: parts[parts.count - 1].start, above: parts, weight: 1))
  }

  /// Returns the node of a sign and a value: `-5` is a number; before anything else a sign is a function.
  private func signed(
    _ function: PredicateFunction,
    _ argument: Node,
    at sign: FormatToken
  ) throws(QueryError) -> Node {
    let value = try operand(argument, "after \(text(of: sign))")
    if function == .negate, value.location?.offset == argument.start, let number = value.content.negated {
      return Node(
        kind: .operand(PredicateOperand(number, at: location(sign.start))),
        start: sign.start,
        depth: argument.depth
      )
    }
    return try calculation(.function(function, [value]), at: sign.start, above: [argument])
  }

  private func quantified(
    _ quantifier: PredicateQuantifier,
    _ node: Node,
    at token: FormatToken
  ) throws(QueryError) -> PredicateTree {
    let tree = try condition(node)
    switch tree {
    case .comparison, .membership, .between: return .quantified(quantifier, tree)
    case .and where tree.operandOfRange != nil: return .quantified(quantifier, tree)
    default:
      let message =
        "\(text(of: token)) goes before one comparison, such as \(quantifier.rawValue) songs.seconds > 60."
      throw error(.syntax, message, at: token.start)
    }
  }

  /// Returns the token as it is written.
  func text(of token: FormatToken) -> String {
    switch token.kind {
    case .symbol(let symbol): symbol == .percent ? "%" : symbol.rawValue
    default: token.keyword?.rawValue ?? "this"
    }
  }
}
