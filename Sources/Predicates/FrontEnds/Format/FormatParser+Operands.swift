extension FormatParser {
  /// A value, a path or a list: whatever is no parenthesis.
  mutating func side() throws(QueryError) -> Node {
    let start = token
    switch start.kind {
    case .symbol(.openBrace):
      return .list(try list())
    case .symbol(.minus):
      return .operand(try negativeNumber())
    case .string(let text):
      return .operand(try literal(.value(.string(text))))
    case .number(let number):
      return .operand(try literal(number))
    case .placeholder(let placeholder):
      return try argument(for: placeholder)
    case .name(let name):
      try advance()
      return .operand(try path([name], [start.start]))
    case .word(let word):
      if let keyword = start.keyword, keyword.isReserved { return try keywordOperand(keyword) }
      return .operand(try name(word))
    case .variable(let name):
      throw error(
        .syntax,
        "Variables ($\(name)) are not supported; pass the value as an argument.",
        at: start.start
      )
    case .collectionOperator(let name):
      throw error(.syntax, "The collection operator @\(name) is not supported.", at: start.start)
    case .symbol(.bitNot), .symbol(.plus):
      throw error(.syntax, "Arithmetic is not supported.", at: start.start)
    case .symbol, .end:
      throw error(.syntax, "Expected a value or the name of a property.", at: start.start)
    }
  }

  /// The token at hand as an operand.
  private mutating func literal(_ content: PredicateOperand.Content) throws(QueryError) -> PredicateOperand {
    let operand = PredicateOperand(content, at: location(token.start))
    try advance()
    return operand
  }

  private mutating func negativeNumber() throws(QueryError) -> PredicateOperand {
    let start = token.start
    try advance()
    guard case .number(let number) = token.kind, let negated = number.negated else {
      throw error(.syntax, "Arithmetic (-) is not supported.", at: start)
    }
    try advance()
    return PredicateOperand(negated, at: location(start))
  }

  /// `{1, 2, 3}`, which may be empty.
  private mutating func list() throws(QueryError) -> [PredicateOperand] {
    try expect(.openBrace, "")
    var elements: [PredicateOperand] = []
    if try accept(.closeBrace) { return elements }
    repeat {
      let start = token.start
      guard token.kind != .symbol(.openBrace), case .operand(let element) = try side() else {
        throw error(.syntax, "A list holds values and paths only.", at: start)
      }
      elements.append(element)
    } while try accept(.comma)
    if let refusal = refusal(ofInfix: token) { throw refusal }
    try expect(.closeBrace, "or “,” in the list")
    return elements
  }

  // MARK: Words

  private mutating func keywordOperand(_ keyword: FormatKeyword) throws(QueryError) -> Node {
    let start = token.start
    switch keyword {
    case .truePredicate, .falsePredicate:
      try advance()
      return .condition(.constant(keyword == .truePredicate))
    case .true, .yes: return .operand(try literal(.value(.bool(true))))
    case .false, .no: return .operand(try literal(.value(.bool(false))))
    case .nil, .null: return .operand(try literal(.value(.null)))
    case .self:
      try advance()
      return .operand(try path([], [start]))
    case .cast:
      return .operand(try cast())
    case .any, .some, .all, .none, .anyKey, .subquery:
      throw error(
        .syntax,
        "\(keyword.rawValue) is not supported. (A property of that name is written #\(keyword.rawValue.lowercased()).)",
        at: start
      )
    default:
      throw error(.syntax, "Expected a value or the name of a property, not \(keyword.rawValue).", at: start)
    }
  }

  private mutating func name(_ word: String) throws(QueryError) -> PredicateOperand {
    let start = token.start
    try advance()
    if token.kind == .symbol(.openParenthesis) {
      throw error(.syntax, "The function \(word)(…) is not supported.", at: start)
    }
    return try path([word], [start])
  }

  /// The rest of a path: `.name` as often as it comes. No names at all are the object itself.
  private mutating func path(_ first: [String], _ offsets: [Int]) throws(QueryError) -> PredicateOperand {
    let start = offsets.first ?? token.start
    var names = first
    var offsets = first.isEmpty ? [] : offsets
    while try accept(.dot) {
      switch token.kind {
      case .word(let name), .name(let name):
        names.append(name)
        offsets.append(token.start)
      case .placeholder(.keyPath):
        let more = try keyPathArgument()
        names += more
        offsets += more.map { [token] _ in token.start }
      case .collectionOperator(let name):
        throw error(.syntax, "The collection operator @\(name) is not supported.", at: token.start)
      default:
        throw error(.syntax, "Expected the name of a property after the point.", at: token.start)
      }
      try advance()
      if token.kind == .symbol(.openParenthesis) {
        throw error(.syntax, "Functions are not supported.", at: offsets.last ?? start)
      }
    }
    return PredicateOperand(names.isEmpty ? .object : .path(names), at: location(start, names: offsets))
  }

  /// `CAST(literal, "Type")`; see ``LiteralCast``.
  private mutating func cast() throws(QueryError) -> PredicateOperand {
    let start = token.start
    let refusal = error(
      .syntax,
      "This CAST is not supported: only that of a literal to its type is.",
      at: start
    )
    try advance()
    try expect(.openParenthesis, "after CAST")
    // CAST in CAST is not read, so that nothing here calls itself.
    guard token.keyword != .cast, case .operand(let literal) = try side() else { throw refusal }
    try expect(.comma, "between the literal and the type")
    guard case .string(let type) = token.kind else {
      throw error(.syntax, "Expected the name of a type, in quotes.", at: token.start)
    }
    try advance()
    try expect(.closeParenthesis, "after the type")
    guard let content = LiteralCast.convert(literal.content, to: type) else { throw refusal }
    return PredicateOperand(content, at: location(start))
  }

  // MARK: Arguments

  private mutating func argument(for placeholder: FormatPlaceholder) throws(QueryError) -> Node {
    let place = location(token.start)
    if placeholder == .keyPath {
      let names = try keyPathArgument()
      try advance()
      return .operand(try path(names, names.isEmpty ? [place.offset] : names.map { _ in place.offset }))
    }
    let node: Node
    do {
      switch placeholder {
      case .integer(let conversion):
        node = .operand(PredicateOperand(.value(try arguments.nextInteger(for: conversion)), at: place))
      case .floating(let conversion):
        node = .operand(PredicateOperand(.value(try arguments.nextFloating(for: conversion)), at: place))
      case .value, .keyPath:
        node = try Self.node(for: try arguments.next(), at: place)
      }
    } catch {
      throw error.at(place)
    }
    try advance()
    return node
  }

  /// The names that stand for the `%K` at hand.
  private mutating func keyPathArgument() throws(QueryError) -> [String] {
    do throws(QueryError) {
      return try arguments.nextKeyPath()
    } catch {
      throw error.at(location(token.start))
    }
  }

  private static func node(for argument: FormatArgument, at place: SourceLocation) throws(QueryError) -> Node
  {
    switch argument {
    case .value(let value): return .operand(PredicateOperand(.value(value), at: place))
    case .object(let object): return .operand(PredicateOperand(.reference(object), at: place))
    case .objectWithoutID: throw .objectWithoutID
    case .range(let lower, let upper):
      return .range(PredicateOperand(.value(lower), at: place), PredicateOperand(.value(upper), at: place))
    case .list(let elements):
      var operands: [PredicateOperand] = []
      operands.reserveCapacity(elements.count)
      for element in elements {
        guard case .operand(let operand) = try node(for: element, at: place) else {
          throw QueryError(.arguments, "A list in a list is not supported.")
        }
        operands.append(operand)
      }
      return .list(operands)
    }
  }
}
