/// A word of a format string.
struct FormatToken {
  enum Kind: Equatable {
    /// A word: a keyword or a name, depending on its position.
    case word(String)
    /// `#name`, or a name between backticks: never a keyword.
    case name(String)
    /// `@count` and the like.
    case collectionOperator(String)
    /// `$NAME`
    case variable(String)
    case string(String)
    case number(PredicateOperand.Content)
    case placeholder(FormatPlaceholder)
    case symbol(FormatSymbol)
    case end
  }

  let kind: Kind
  /// The keyword that the token spells, if it does.
  let keyword: FormatKeyword?
  /// UTF-8 bytes before the token, and before what follows it.
  let start: Int
  let end: Int

  init(_ kind: Kind, start: Int, end: Int) {
    self.kind = kind
    keyword = if case .word(let text) = kind { FormatKeyword(text) } else { nil }
    self.start = start
    self.end = end
  }
}

/// A placeholder for an argument.
enum FormatPlaceholder: Equatable {
  /// `%@`
  case value
  /// `%K`
  case keyPath
  /// `%d` and the other conversions to an integer.
  case integer(String)
  /// `%f` and the other conversions to a floating-point number.
  case floating(String)
}

/// Punctuation, longest spelling first where one begins another.
enum FormatSymbol: String, CaseIterable {
  case power = "**"
  case and = "&&"
  case or = "||"
  case equalEqual = "=="
  case notEqual = "!="
  case unequal = "<>"
  case lessOrEqual = "<="
  case equalLess = "=<"
  case greaterOrEqual = ">="
  case equalGreater = "=>"
  case shiftLeft = "<<"
  case shiftRight = ">>"
  case assign = ":="
  case openParenthesis = "("
  case closeParenthesis = ")"
  case openBrace = "{"
  case closeBrace = "}"
  case openBracket = "["
  case closeBracket = "]"
  case comma = ","
  case dot = "."
  case equal = "="
  case less = "<"
  case greater = ">"
  case not = "!"
  case plus = "+"
  case minus = "-"
  case times = "*"
  case divide = "/"
  case percent = "%%"
  case bitAnd = "&"
  case bitOr = "|"
  case bitXor = "^"
  case bitNot = "~"

  /// The comparison that the symbol spells.
  var comparison: ComparisonOperator? {
    switch self {
    case .equal, .equalEqual: .equal
    case .notEqual, .unequal: .notEqual
    case .less: .less
    case .lessOrEqual, .equalLess: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual, .equalGreater: .greaterOrEqual
    default: nil
    }
  }
}
