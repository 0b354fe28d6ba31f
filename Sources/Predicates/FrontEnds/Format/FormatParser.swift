/// Reads NSPredicate's language by recursive descent.
///
/// ```
/// disjunction := conjunction (("OR" | "||") conjunction)*
/// conjunction := negation (("AND" | "&&") negation)*
/// negation    := ("NOT" | "!")* comparison
/// comparison  := primary [operator ["[" options "]"] primary]
/// primary     := "(" disjunction ")" | literal | path | list | placeholder | "TRUEPREDICATE" | "FALSEPREDICATE"
/// ```
///
/// A parenthesis may hold a condition or a value; which, shows only inside it. So every rule gives a ``Node``, and what
/// needs a condition asks for one. What the language has and this parser doesn't is recognised and refused by name, at
/// its column. Nesting is limited to ``PredicateTree/maximumDepth``; everything flat is read in loops.
struct FormatParser {
  private var lexer: FormatLexer
  var arguments: FormatArguments
  /// The token at hand, not consumed yet.
  private(set) var token: FormatToken
  private var depth = 0

  /// What a rule has read.
  enum Node {
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
    let start = parser.token
    let node = try parser.disjunction()
    guard parser.token.kind == .end else { throw parser.unexpectedToken() }
    let tree = try parser.condition(node, startingAt: start)
    guard tree.depth <= PredicateTree.maximumDepth else {
      throw QueryError.nestedTooDeeply.at(parser.location(start.start))
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

  /// Runs a rule one level deeper.
  mutating func nested<R>(
    _ rule: (inout FormatParser) throws(QueryError) -> R
  ) throws(QueryError) -> R {
    guard depth < PredicateTree.maximumDepth else {
      throw QueryError.nestedTooDeeply.at(location(token.start))
    }
    depth += 1
    defer { depth -= 1 }
    return try rule(&self)
  }

  // MARK: AND, OR, NOT

  mutating func disjunction() throws(QueryError) -> Node {
    try joined(by: .or, .or, PredicateTree.any) { (parser) throws(QueryError) in try parser.conjunction() }
  }

  private mutating func conjunction() throws(QueryError) -> Node {
    try joined(by: .and, .and, PredicateTree.all) { (parser) throws(QueryError) in try parser.negation() }
  }

  private mutating func joined(
    by keyword: FormatKeyword,
    _ symbol: FormatSymbol,
    _ join: ([PredicateTree]) -> PredicateTree,
    _ rule: (inout FormatParser) throws(QueryError) -> Node
  ) throws(QueryError) -> Node {
    var start = token
    let first = try rule(&self)
    guard token.keyword == keyword || token.kind == .symbol(symbol) else { return first }
    var conditions = [try condition(first, startingAt: start)]
    while token.keyword == keyword || token.kind == .symbol(symbol) {
      try advance()
      start = token
      let node = try rule(&self)
      conditions.append(try condition(node, startingAt: start))
    }
    return .condition(join(conditions))
  }

  private mutating func negation() throws(QueryError) -> Node {
    var count = 0
    while token.keyword == .not || token.kind == .symbol(.not) {
      count += 1
      guard depth + count <= PredicateTree.maximumDepth else {
        throw QueryError.nestedTooDeeply.at(location(token.start))
      }
      try advance()
    }
    let start = token
    guard count > 0 else { return try comparison() }
    depth += count
    defer { depth -= count }
    let node = try comparison()
    var tree = try condition(node, startingAt: start)
    for _ in 0..<count { tree = .not(tree) }
    return .condition(tree)
  }

  /// The node as a condition. A path alone asks whether it is true; `TRUE` and `FALSE` alone are conditions too.
  private func condition(_ node: Node, startingAt start: FormatToken) throws(QueryError) -> PredicateTree {
    switch node {
    case .condition(let tree): return tree
    case .operand(let operand):
      switch operand.content {
      case .path: return .comparison(operand, .equal, .value(.bool(true)), [])
      case .value(.bool(let value)): return .constant(value)
      default: break
      }
    case .list, .range: break
    }
    if token.kind == .end {
      throw error(.syntax, "The condition has no operator.", at: token.start)
    }
    throw error(.syntax, "A value alone is no condition.", at: start.start)
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
