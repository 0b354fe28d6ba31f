extension FormatParser {
  /// The operator between the two sides of a comparison.
  enum Infix {
    case comparison(ComparisonOperator)
    case membership
    case between
  }

  func infix(_ token: FormatToken) -> Infix? {
    switch token.keyword {
    case .in: return .membership
    case .between: return .between
    case .beginsWith: return .comparison(.beginsWith)
    case .endsWith: return .comparison(.endsWith)
    case .contains: return .comparison(.contains)
    case .like: return .comparison(.like)
    case .matches: return .comparison(.matches)
    default:
      guard case .symbol(let symbol) = token.kind else { return nil }
      return symbol.comparison.map(Infix.comparison)
    }
  }

  /// Returns the condition that a comparison of two nodes makes.
  func comparison(
    _ left: Node,
    _ infix: Infix,
    _ right: Node,
    _ options: StringOptions,
    at token: FormatToken
  ) throws(QueryError) -> PredicateTree {
    if case .condition = right.kind {
      throw error(.syntax, "A condition can't be compared.", at: right.start)
    }
    switch infix {
    case .comparison(.contains):
      // A collection on the left: the mirror image of IN.
      if case .operand = left.kind { break }
      return try membership(right, in: left, options, at: token)
    case .membership:
      return try membership(left, in: right, options, at: token)
    case .between:
      guard options.isEmpty else {
        throw error(.syntax, "\(options.formatText) is not supported after BETWEEN.", at: token.start)
      }
      return try between(left, right, at: token)
    case .comparison: break
    }
    guard case .comparison(let comparison) = infix, case .operand(let first) = left.kind,
      case .operand(let second) = right.kind
    else {
      throw error(.syntax, "A list goes with IN and BETWEEN only.", at: token.start)
    }
    return .comparison(first, comparison, second, options)
  }

  /// Consumes `[c]`, `[d]`, `[n]` or several of the letters after an operator.
  mutating func acceptOptions() throws(QueryError) -> StringOptions {
    guard try accept(.openBracket) else { return [] }
    let start = token.start
    guard case .word(let letters) = token.kind else {
      throw error(.syntax, "Expected an option (c, d or n) between the brackets.", at: start)
    }
    var options: StringOptions = []
    for (index, letter) in letters.enumerated() {
      let small = letter.lowercased()
      if let known = StringOptions.letters.first(where: { String($0.letter) == small }) {
        options.insert(known.option)
      } else if small == "l" {
        throw error(
          .syntax,
          "The option [\(letter)] is not supported: comparisons use no locale. Use [c], [d] or [n].",
          at: start + index
        )
      } else {
        throw error(.syntax, "There is no option [\(letter)].", at: start + index)
      }
    }
    try advance()
    try expect(.closeBracket, "after the options")
    return options
  }

  /// Returns the condition `left IN right`: one of a list, within a range, or a part of a string.
  private func membership(
    _ left: Node,
    in right: Node,
    _ options: StringOptions,
    at operatorToken: FormatToken
  ) throws(QueryError) -> PredicateTree {
    guard case .operand(let operand) = left.kind else {
      throw error(.syntax, "A list in a list is not supported.", at: operatorToken.start)
    }
    switch right.kind {
    case .list(let elements):
      return .membership(operand, elements, options)
    case .range(let lower, let upper):
      guard options.isEmpty else {
        let message = "\(options.formatText) is not supported with a range."
        throw error(.syntax, message, at: operatorToken.start)
      }
      return .between(operand, lower, upper)
    case .operand(let text):
      return .comparison(text, .contains, operand, options)
    case .condition:
      throw error(.syntax, "Expected a list such as {1, 2}.", at: right.start)
    }
  }

  private func between(
    _ left: Node,
    _ right: Node,
    at operatorToken: FormatToken
  ) throws(QueryError) -> PredicateTree {
    guard case .operand(let operand) = left.kind else {
      throw error(.syntax, "A list goes on the right of BETWEEN.", at: operatorToken.start)
    }
    switch right.kind {
    case .range(let lower, let upper):
      return .between(operand, lower, upper)
    case .list(let bounds) where bounds.count == 2:
      return .between(operand, bounds[0], bounds[1])
    case .operand(let bounds):
      guard let range = VariableRange(bounds) else { break }
      return .between(operand, range.lower, range.upper)
    case .list, .condition: break
    }
    throw error(.syntax, "BETWEEN takes two bounds, such as {1, 5}.", at: right.start)
  }

  /// Returns the reason for refusing a token that could follow a value in NSPredicate's language; nil for a
  /// token that is accepted, or has no meaning.
  func refusal(ofInfix token: FormatToken) -> QueryError? {
    switch token.kind {
    case .symbol(.assign):
      return error(.syntax, "Assignment (:=) is not supported.", at: token.start)
    case .word(let word) where ["UNION", "INTERSECT", "MINUS"].contains(word.uppercased()):
      return error(.syntax, "The set operator \(word.uppercased()) is not supported.", at: token.start)
    default:
      break
    }
    switch token.keyword {
    case .conformsTo, .equalsUTI:
      return error(.syntax, "\(token.keyword?.rawValue ?? "") is not supported.", at: token.start)
    default:
      return nil
    }
  }
}
