extension FormatParser {
  /// The state of parsing since a bracket was opened.
  struct Level {
    enum Bracket: Equatable {
      /// No bracket: the text as a whole.
      case text
      case parenthesis
      case list
      /// The arguments of a function by its name.
      case call(String)
    }

    let bracket: Bracket
    /// The position of the opening bracket; for a function, that of its name.
    let opening: Int
    /// Complete arguments or elements before the current one.
    var finished: [Node] = []
    /// Values of the current one that wait for their operators.
    var nodes: [Node] = []
    /// Operators that wait for their right side, or for a looser one to come.
    var operators: [Operator] = []

    init(_ bracket: Bracket, opening: Int) {
      self.bracket = bracket
      self.opening = opening
    }
  }

  var level: Level {
    get { levels[levels.count - 1] }
    _modify { yield &levels[levels.count - 1] }
  }

  mutating func push(_ node: Node) { level.nodes.append(node) }

  mutating func popNode() -> Node { level.nodes.removeLast() }

  enum Opening {
    /// There is no bracket.
    case nothing
    /// The bracket is open, and its content is read next.
    case opened
    /// The bracket was closed at once, and its value was pushed.
    case wholeValue
  }

  /// Consumes the opening of a bracket, with the name before it for a function's.
  mutating func acceptOpening() throws(QueryError) -> Opening {
    let start = token.start
    switch token.kind {
    case .symbol(.openParenthesis):
      try open(.parenthesis, at: start)
    case .symbol(.openBrace):
      if level.bracket == .list {
        throw error(.syntax, "A list holds values and paths only.", at: start)
      }
      try open(.list, at: start)
    case .word(let name) where isFollowedByParenthesis && canBeCalled(token):
      try advance()
      try open(.call(name), at: start)
    default:
      return .nothing
    }
    return try endIfEmpty() ? .wholeValue : .opened
  }

  /// Consumes the bracket itself.
  private mutating func open(_ bracket: Level.Bracket, at start: Int) throws(QueryError) {
    guard levels.count <= PredicateTree.maximumDepth else {
      throw QueryError.nestedTooDeeply.at(location(token.start))
    }
    try advance()
    levels.append(Level(bracket, opening: start))
  }

  /// Consumes the closing bracket of `{}` and `now()`, with nothing between the brackets.
  private mutating func endIfEmpty() throws(QueryError) -> Bool {
    switch (level.bracket, token.kind) {
    case (.list, .symbol(.closeBrace)), (.call, .symbol(.closeParenthesis)): break
    default: return false
    }
    let empty = levels.removeLast()
    try advance()
    push(try close(empty))
    return true
  }

  /// Consumes the comma after an argument or an element.
  mutating func acceptComma() throws(QueryError) -> Bool {
    guard token.kind == .symbol(.comma) else { return false }
    switch level.bracket {
    case .text, .parenthesis: return false
    case .list, .call: break
    }
    let node = try reduceLevel()
    level.finished.append(node)
    try advance()
    return true
  }

  /// Ends the level at its closing bracket, and pushes its node to the enclosing level; at the end of the text,
  /// returns the whole node.
  mutating func endLevel() throws(QueryError) -> Node? {
    let opening = level.opening
    switch level.bracket {
    case .text:
      guard token.kind == .end else { throw unexpectedToken() }
      return try reduceLevel()
    case .parenthesis, .call:
      guard token.kind == .symbol(.closeParenthesis) else {
        if let refusal = refusal(ofInfix: token) { throw refusal }
        let column = location(opening).column
        throw error(.syntax, "Expected “)” to close the parenthesis at column \(column).", at: token.start)
      }
    case .list:
      guard token.kind == .symbol(.closeBrace) else {
        if let refusal = refusal(ofInfix: token) { throw refusal }
        throw error(.syntax, "Expected “}” or “,” in the list.", at: token.start)
      }
    }
    let last = try reduceLevel()
    var ended = levels.removeLast()
    ended.finished.append(last)
    try advance()
    push(try close(ended))
    return nil
  }

  /// Returns the node of the finished level.
  private mutating func close(_ level: Level) throws(QueryError) -> Node {
    switch level.bracket {
    case .text, .parenthesis:
      var node = level.finished[0]
      node.start = level.opening
      return node
    case .list:
      var elements: [PredicateOperand] = []
      for node in level.finished {
        guard case .operand(let element) = node.kind else {
          throw error(.syntax, "A list holds values and paths only.", at: node.start)
        }
        elements.append(element)
      }
      let depth = level.finished.map(\.depth).max() ?? 0
      return Node(kind: .list(elements), start: level.opening, depth: depth)
    case .call(let name):
      return try call(name, level.finished, at: level.opening)
    }
  }

  private func unexpectedToken() -> QueryError {
    if let refusal = refusal(ofInfix: token) { return refusal }
    switch token.kind {
    case .end:
      return error(.syntax, "The text ends where something is still expected.", at: token.start)
    case .symbol(.closeParenthesis):
      return error(.syntax, "This “)” has no matching “(”.", at: token.start)
    default:
      return error(.syntax, "Expected AND, OR or the end.", at: token.start)
    }
  }
}
