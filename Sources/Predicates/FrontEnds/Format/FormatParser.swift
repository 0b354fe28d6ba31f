/// A parser of NSPredicate's language.
///
/// ```
/// condition  := condition ("OR" | "||") condition | condition ("AND" | "&&") condition | ("NOT" | "!") condition
///             | [quantifier] value [operator ["[" options "]"] value] | "(" condition ")"
///             | quantifier "(" condition "AND" condition ")"
/// quantifier := "ANY" | "SOME" | "ALL" | "NONE"
/// value      := value infix value | ("-" | "~") value | value "." name | value "." "@" name | value "[" index "]"
///             | literal | name | "$" name | placeholder | "{" values "}" | function "(" values ")" | "(" value ")"
///             | "SUBQUERY" "(" value "," "$" name "," condition ")" | "TERNARY" "(" condition "," value "," value ")"
/// ```
///
/// The conditions behind a quantifier are a range, such as `a >= 1 AND a < 3`.
///
/// A parenthesis may hold a condition or a value, and only its content shows which. So everything that is read is a
/// ``Node``, and code that needs a condition or a value converts the node.
///
/// Operators are reduced by precedence, from ``Operator/Precedence/or`` to the tightest sign, without recursion:
/// the levels around an open bracket wait in an array of ``Level``s, so that hostile text can't exhaust the stack.
/// The resulting tree is at most ``PredicateTree/maximumDepth`` levels deep, because code that walks trees
/// recurses.
struct FormatParser {
  private(set) var lexer: FormatLexer
  var arguments: FormatArguments
  /// The current token, not consumed yet.
  private(set) var token: FormatToken
  /// The levels of the open brackets; the first is that of the whole text.
  var levels: [Level] = [Level(.text, opening: 0)]

  private init(_ text: String, _ arguments: [FormatArgument]) throws(QueryError) {
    lexer = FormatLexer(text)
    self.arguments = FormatArguments(arguments)
    token = try lexer.next()
  }

  /// Returns the predicate that the text spells.
  ///
  /// - Throws: `syntax`, `arguments` or `tooComplex`, with the column.
  static func parse(_ text: String, _ arguments: [FormatArgument]) throws(QueryError) -> PredicateTree {
    var parser = try FormatParser(text, arguments)
    let node = try parser.wholeText()
    let tree = try parser.condition(node)
    guard tree.depth <= PredicateTree.maximumDepth else {
      throw QueryError.nestedTooDeeply.at(parser.location(node.start))
    }
    try parser.checkThatAllArgumentsAreUsed()
    return tree
  }

  /// Reads values and operators in turn, until nothing is left.
  private mutating func wholeText() throws(QueryError) -> Node {
    while true {
      if try acceptPrefix() { continue }
      switch try acceptOpening() {
      case .opened: continue
      case .nothing: push(try primary())
      case .wholeValue: break
      }
      while true {
        try acceptSuffixes()
        if try acceptInfix() { break }
        if try acceptComma() { break }
        if let node = try endLevel() { return node }
      }
    }
  }

  private func checkThatAllArgumentsAreUsed() throws(QueryError) {
    guard arguments.usedCount != arguments.count else { return }
    let passed = arguments.count == 1 ? "1 argument was" : "\(arguments.count) arguments were"
    let used = arguments.usedCount
    let placeholders = used == 0 ? "no placeholder" : used == 1 ? "1 placeholder" : "\(used) placeholders"
    throw error(.arguments, "\(passed) passed, and the text has \(placeholders).", at: token.start)
  }

  // MARK: Moving on

  func location(_ offset: Int, names: [Int] = []) -> SourceLocation {
    SourceLocation(text: lexer.text, offset: offset, nameOffsets: names)
  }

  func error(_ code: QueryError.Code, _ message: String, at offset: Int) -> QueryError {
    QueryError(code, message).at(location(offset))
  }

  mutating func advance() throws(QueryError) {
    token = try lexer.next()
  }

  /// Returns the token after the current point.
  func peekedAfterDot() throws(QueryError) -> FormatToken.Kind {
    var lexer = lexer
    return try lexer.next().kind
  }

  /// Consumes the symbol if it is next.
  mutating func accept(_ symbol: FormatSymbol) throws(QueryError) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ symbol: FormatSymbol, _ purpose: String) throws(QueryError) {
    guard try accept(symbol) else {
      throw error(.syntax, "Expected “\(symbol.rawValue)” \(purpose).", at: token.start)
    }
  }
}

// MARK: - Nodes

extension FormatParser {
  /// A part of the text.
  struct Node {
    indirect enum Kind {
      case condition(PredicateTree)
      case operand(PredicateOperand)
      /// `{1, 2}`, or an argument that is an array or a set.
      case list([PredicateOperand])
      /// An argument that is a range.
      case range(PredicateOperand, PredicateOperand)
    }

    var kind: Kind
    /// The position at which it starts.
    var start: Int
    /// The number of its levels, as far as they were counted while it was made.
    var depth = 0
  }

  /// Returns a node that is above others.
  ///
  /// - Parameter weight: the number of levels that the node counts.
  /// - Throws: `tooComplex` beyond the limit.
  func node(
    _ kind: Node.Kind,
    at start: Int,
    above parts: [Node],
    weight: Int
  ) throws(QueryError) -> Node {
    let depth = weight + (parts.map(\.depth).max() ?? 0)
    guard depth <= PredicateTree.maximumDepth else { throw QueryError.nestedTooDeeply.at(location(start)) }
    return Node(kind: kind, start: start, depth: depth)
  }

  /// Returns the node as a condition. A path alone asks whether it is true; `TRUE` and `FALSE` alone are conditions
  /// too.
  ///
  /// - Parameter isLast: true if nothing stands between the node and the current token.
  func condition(_ node: Node, isLast: Bool = true) throws(QueryError) -> PredicateTree {
    switch node.kind {
    case .condition(let tree): return tree
    case .operand(let operand):
      switch operand.content {
      case .path, .variable, .conditional:
        return .comparison(operand, .equal, PredicateOperand(.value(.bool(true)), at: operand.location), [])
      case .value(.bool(let value)): return .constant(value)
      default: break
      }
    case .list, .range: break
    }
    if isLast, token.kind == .end {
      throw error(.syntax, "The condition has no operator.", at: token.start)
    }
    throw error(.syntax, "A value alone is no condition.", at: node.start)
  }

  /// Returns the node as a value.
  ///
  /// - Parameter purpose: the purpose, for messages: “after +”.
  func operand(_ node: Node, _ purpose: String) throws(QueryError) -> PredicateOperand {
    if case .operand(let operand) = node.kind { return operand }
    throw error(.syntax, "Expected a value \(purpose).", at: node.start)
  }
}
