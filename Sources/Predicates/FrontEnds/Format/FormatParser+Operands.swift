extension FormatParser {
  /// True if an opening parenthesis comes after the token.
  var isFollowedByParenthesis: Bool { lexer.isBeforeParenthesis }

  /// Returns whether the word can be the name of a function.
  func canBeCalled(_ token: FormatToken) -> Bool {
    guard let keyword = token.keyword else { return true }
    return !keyword.isReserved || keyword == .subquery || keyword == .cast
  }

  /// Reads a value without brackets: a literal, a name, a variable, an argument.
  mutating func primary() throws(QueryError) -> Node {
    let start = token
    switch start.kind {
    case .string(let text):
      return try literal(.value(.string(text)))
    case .number(let number):
      return try literal(number)
    case .placeholder(let placeholder):
      return try argument(for: placeholder)
    case .name(let name):
      return try path(.path([name]))
    case .variable(let name):
      return try path(.variable(name, []))
    case .word(let word):
      if let keyword = start.keyword, keyword.isReserved { return try keywordOperand(keyword) }
      return try path(.path([word]))
    case .collectionOperator(let name):
      return try leadingOperator(name)
    case .symbol(.plus):
      throw error(.syntax, "A number can't begin with +.", at: start.start)
    case .symbol, .end:
      throw error(.syntax, "Expected a value or the name of a property.", at: start.start)
    }
  }

  /// Returns the current token as an operand.
  private mutating func literal(_ content: PredicateOperand.Content) throws(QueryError) -> Node {
    let operand = PredicateOperand(content, at: location(token.start))
    let node = Node(kind: .operand(operand), start: token.start)
    try advance()
    return node
  }

  /// Returns the current token as the start of a path.
  private mutating func path(_ content: PredicateOperand.Content) throws(QueryError) -> Node {
    let start = token.start
    let node = Node(
      kind: .operand(PredicateOperand(content, at: location(start, names: [start]))),
      start: start
    )
    try advance()
    if token.kind == .symbol(.openParenthesis) {
      throw error(.syntax, "A function stands before its arguments: name(value).", at: start)
    }
    return node
  }

  private mutating func keywordOperand(_ keyword: FormatKeyword) throws(QueryError) -> Node {
    let start = token.start
    switch keyword {
    case .truePredicate, .falsePredicate:
      try advance()
      return Node(kind: .condition(.constant(keyword == .truePredicate)), start: start)
    case .true, .yes: return try literal(.value(.bool(true)))
    case .false, .no: return try literal(.value(.bool(false)))
    case .nil, .null: return try literal(.value(.null))
    case .self:
      try advance()
      return Node(kind: .operand(PredicateOperand(.object, at: location(start))), start: start)
    case .anyKey:
      throw error(
        .syntax,
        "ANYKEY is not supported. (A property of that name is written #anykey.)",
        at: start
      )
    default:
      throw error(.syntax, "Expected a value or the name of a property, not \(keyword.rawValue).", at: start)
    }
  }

  /// Reads `@sum.songs.seconds`, which means `songs.@sum.seconds` wherever the collection ends.
  private mutating func leadingOperator(_ name: String) throws(QueryError) -> Node {
    let start = token.start
    guard let aggregate = FormatOperator.collectionOperators[name] else {
      throw error(.syntax, "The collection operator @\(name) is not supported.", at: start)
    }
    try advance()
    let (names, offsets) = try suffixNames()
    guard !names.isEmpty else {
      throw error(.syntax, "Expected the name of a collection after @\(name).", at: token.start)
    }
    let content = PredicateOperand.Content.aggregate(aggregate, PredicateCollection(names: names))
    let operand = PredicateOperand(content, at: location(start, names: offsets))
    return Node(kind: .operand(operand), start: start)
  }

  // MARK: Arguments

  private mutating func argument(for placeholder: FormatPlaceholder) throws(QueryError) -> Node {
    let place = location(token.start)
    let kind: Node.Kind
    do throws(QueryError) {
      switch placeholder {
      case .keyPath:
        let names = try arguments.nextKeyPath()
        let offsets = names.map { _ in place.offset }
        let content = names.isEmpty ? PredicateOperand.Content.object : .path(names)
        kind = .operand(PredicateOperand(content, at: location(place.offset, names: offsets)))
      case .integer(let conversion):
        kind = .operand(PredicateOperand(.value(try arguments.nextInteger(for: conversion)), at: place))
      case .floating(let conversion):
        kind = .operand(PredicateOperand(.value(try arguments.nextFloating(for: conversion)), at: place))
      case .value:
        kind = try Self.kind(of: try arguments.next(), at: place)
      }
    } catch {
      throw error.at(place)
    }
    try advance()
    return Node(kind: kind, start: place.offset)
  }

  private static func kind(
    of argument: FormatArgument,
    at place: SourceLocation
  ) throws(QueryError) -> Node.Kind {
    switch argument {
    case .value(let value): return .operand(PredicateOperand(.value(value), at: place))
    case .object(let object): return .operand(PredicateOperand(.reference(object), at: place))
    case .objectWithoutID: throw .objectWithoutID
    case .range(let range):
      guard let lower = range.lower, let upper = range.upper, lower.isIncluded, upper.isIncluded else {
        throw QueryError(.arguments, "A range for a placeholder is a closed one, such as 1...5.")
      }
      return .range(
        PredicateOperand(.value(lower.value), at: place),
        PredicateOperand(.value(upper.value), at: place)
      )
    case .list(let elements):
      var operands: [PredicateOperand] = []
      operands.reserveCapacity(elements.count)
      for element in elements {
        guard case .operand(let operand) = try kind(of: element, at: place) else {
          throw QueryError(.arguments, "A list in a list is not supported.")
        }
        operands.append(operand)
      }
      return .list(operands)
    }
  }
}
