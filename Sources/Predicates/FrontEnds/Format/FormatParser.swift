/// Reads NSPredicate's language.
///
/// ```
/// disjunction := conjunction (("OR" | "||") conjunction)*
/// conjunction := term (("AND" | "&&") term)*
/// term        := ("NOT" | "!")* side [operator ["[" options "]"] side]
/// side        := "(" disjunction ")" | literal | path | list | placeholder | "TRUEPREDICATE" | "FALSEPREDICATE"
/// ```
///
/// A parenthesis may hold a condition or a value; which, shows only inside it. So the rules give a ``Node``,
/// and what needs a condition asks for one. What the language has and this parser doesn't is recognised and
/// refused by name, at its column.
///
/// There is a function for each rule but no recursion: what surrounds an open parenthesis waits in an array,
/// so that hostile text can't exhaust the stack. The tree that comes out is at most
/// ``PredicateTree/maximumDepth`` levels deep, because what walks trees recurses.
struct FormatParser {
  private var lexer: FormatLexer
  var arguments: FormatArguments
  /// The token at hand, not consumed yet.
  private(set) var token: FormatToken

  /// What a rule has read.
  indirect enum Node {
    case condition(PredicateTree)
    case operand(PredicateOperand)
    /// `{1, 2}`, or an argument that is an array or a set.
    case list([PredicateOperand])
    /// An argument that is a range.
    case range(PredicateOperand, PredicateOperand)
  }

  private init(_ text: String, _ arguments: [FormatArgument]) throws(QueryError) {
    lexer = FormatLexer(text)
    self.arguments = FormatArguments(arguments)
    token = try lexer.next()
  }

  /// The predicate that the text spells.
  ///
  /// - Throws: `syntax`, `arguments` or `tooComplex`, with the column.
  static func parse(_ text: String, _ arguments: [FormatArgument]) throws(QueryError) -> PredicateTree {
    var parser = try FormatParser(text, arguments)
    let start = parser.token.start
    let node = try parser.disjunction()
    guard parser.token.kind == .end else { throw parser.unexpectedToken() }
    let tree = try parser.condition(node, startingAt: start)
    guard tree.depth <= PredicateTree.maximumDepth else {
      throw QueryError.nestedTooDeeply.at(parser.location(start))
    }
    guard parser.arguments.usedCount == parser.arguments.count else {
      let (used, count) = (parser.arguments.usedCount, parser.arguments.count)
      throw parser.error(
        .arguments,
        "\(count) arguments were passed, and the text has placeholders for \(used).",
        at: parser.token.start
      )
    }
    return tree
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

  // MARK: AND, OR, NOT, parentheses

  /// What is read so far between two parentheses, or of the whole text.
  private struct Level {
    /// Where the parenthesis was opened.
    let opening: Int
    /// Of `OR`.
    var alternatives: [PredicateTree] = []
    /// Of the `AND` at hand.
    var conjuncts: [PredicateTree] = []
    /// How many `NOT`s precede the term at hand, and where it starts after them.
    var negations = 0
    var termStart = 0
  }

  private mutating func disjunction() throws(QueryError) -> Node {
    var outer: [Level] = []
    var level = Level(opening: token.start)
    var depth = 0
    while true {
      level.negations = try acceptNegations(at: depth)
      level.termStart = token.start
      depth += level.negations
      if token.kind == .symbol(.openParenthesis) {
        depth += 1
        try checkDepth(depth)
        outer.append(level)
        level = Level(opening: token.start)
        try advance()
        continue
      }
      var node = try comparison(after: try side())
      depth -= level.negations
      while let whole = try end(node, of: &level) {
        guard let surrounding = outer.popLast() else { return whole }
        try close(level.opening)
        level = surrounding
        node = try comparison(after: whole)
        depth -= 1 + level.negations
      }
    }
  }

  /// Ends a term and, unless another is joined to it, the level: gives what the level holds. A level of a
  /// single term may be a value in parentheses.
  private mutating func end(_ term: Node, of level: inout Level) throws(QueryError) -> Node? {
    let joint = joint
    if joint == nil, level.negations == 0, level.alternatives.isEmpty, level.conjuncts.isEmpty { return term }
    var tree = try condition(term, startingAt: level.termStart)
    for _ in 0..<level.negations { tree = .not(tree) }
    level.conjuncts.append(tree)
    if joint != .and {
      level.alternatives.append(.all(level.conjuncts))
      level.conjuncts = []
    }
    if joint == nil { return .condition(.any(level.alternatives)) }
    try advance()
    return nil
  }

  /// `and` or `or` if the token is one, in either spelling.
  private var joint: FormatKeyword? {
    switch (token.kind, token.keyword) {
    case (.symbol(.and), _), (_, .and): .and
    case (.symbol(.or), _), (_, .or): .or
    default: nil
    }
  }

  private mutating func acceptNegations(at depth: Int) throws(QueryError) -> Int {
    var count = 0
    while token.kind == .symbol(.not) || token.keyword == .not {
      count += 1
      try checkDepth(depth + count)
      try advance()
    }
    return count
  }

  /// Consumes the parenthesis that closes the one at an offset.
  mutating func close(_ start: Int) throws(QueryError) {
    if token.kind == .symbol(.closeParenthesis) { return try advance() }
    if let refusal = refusal(ofInfix: token) { throw refusal }
    let column = location(start).column
    throw error(.syntax, "Expected “)” to close the parenthesis at column \(column).", at: token.start)
  }

  private func checkDepth(_ depth: Int) throws(QueryError) {
    if depth > PredicateTree.maximumDepth { throw QueryError.nestedTooDeeply.at(location(token.start)) }
  }

  /// The node as a condition. A path alone asks whether it is true; `TRUE` and `FALSE` alone are conditions
  /// too.
  private func condition(_ node: Node, startingAt start: Int) throws(QueryError) -> PredicateTree {
    switch node {
    case .condition(let tree): return tree
    case .operand(let operand):
      switch operand.content {
      case .path:
        return .comparison(operand, .equal, PredicateOperand(.value(.bool(true)), at: operand.location), [])
      case .value(.bool(let value)): return .constant(value)
      default: break
      }
    case .list, .range: break
    }
    if token.kind == .end {
      throw error(.syntax, "The condition has no operator.", at: token.start)
    }
    throw error(.syntax, "A value alone is no condition.", at: start)
  }

  func unexpectedToken() -> QueryError {
    if let refusal = refusal(ofInfix: token) { return refusal }
    switch token.kind {
    case .end:
      return error(.syntax, "The text ends where something is still expected.", at: token.start)
    case .symbol(let symbol) where symbol.comparison != nil:
      return error(.syntax, "Comparisons don't chain; join them with AND.", at: token.start)
    case .symbol(.closeParenthesis):
      return error(.syntax, "Nothing was opened that this “)” could close.", at: token.start)
    default:
      return error(.syntax, "Expected AND, OR or the end.", at: token.start)
    }
  }
}
