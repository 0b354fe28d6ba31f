/// The precedence of an operator between values, from loose to tight.
enum OperandPrecedence: Int, Comparable {
  case loosest, or, exclusiveOr, and, shift, sum, product, power, unary

  static func < (left: OperandPrecedence, right: OperandPrecedence) -> Bool { left.rawValue < right.rawValue }

  /// The next tighter precedence.
  var tighter: OperandPrecedence { OperandPrecedence(rawValue: rawValue + 1) ?? .unary }
}

/// Functions that are written with symbols, and collection operators, for the parser and the printer.
enum FormatOperator {
  struct Infix {
    let spelling: String
    let precedence: OperandPrecedence
  }

  static let infixes: [PredicateFunction: Infix] = [
    .bitwiseOr: Infix(spelling: "|", precedence: .or),
    .bitwiseXor: Infix(spelling: "^", precedence: .exclusiveOr),
    .bitwiseAnd: Infix(spelling: "&", precedence: .and),
    .leftShift: Infix(spelling: "<<", precedence: .shift),
    .rightShift: Infix(spelling: ">>", precedence: .shift),
    .add: Infix(spelling: "+", precedence: .sum), .subtract: Infix(spelling: "-", precedence: .sum),
    .multiply: Infix(spelling: "*", precedence: .product),
    .divide: Infix(spelling: "/", precedence: .product),
    .modulus: Infix(spelling: "%%", precedence: .product), .power: Infix(spelling: "**", precedence: .power),
  ]

  static let prefixes: [PredicateFunction: String] = [.negate: "-", .onesComplement: "~"]

  /// Returns the function that a symbol between two values stands for.
  static func function(
    _ symbol: FormatSymbol
  ) -> (function: PredicateFunction, precedence: OperandPrecedence)? {
    infixesBySpelling[symbol.rawValue]
  }

  private static let infixesBySpelling = Dictionary(
    uniqueKeysWithValues: infixes.map { ($1.spelling, (function: $0, precedence: $1.precedence)) }
  )

  /// The aggregates, by the `name` of `@name` after a collection.
  static let collectionOperators: [String: PredicateAggregate] = [
    "count": .count, "sum": .sum, "avg": .average, "min": .minimum, "max": .maximum, "median": .median,
    "mode": .mode, "stddev": .standardDeviation,
  ]

  /// The names of `@name` after a collection for the values of a property; true where equal values count once.
  /// Collections of collections are one collection anyway.
  static let unions: [String: Bool] = [
    "unionOfObjects": false, "unionOfArrays": false, "unionOfSets": false, "distinctUnionOfObjects": true,
    "distinctUnionOfArrays": true, "distinctUnionOfSets": true,
  ]

  /// Functions by the names of NSExpression and its selectors, where these differ from the functions' own
  /// names.
  static let selectors: [String: PredicateFunction] = [
    "add:to:": .add, "from:subtract:": .subtract, "multiply:by:": .multiply, "divide:by:": .divide,
    "modulus:by:": .modulus, "raise:toPower:": .power, "bitwiseAnd:with:": .bitwiseAnd,
    "bitwiseOr:with:": .bitwiseOr, "bitwiseXor:with:": .bitwiseXor, "leftshift:by:": .leftShift,
    "rightshift:by:": .rightShift, "onesComplement:": .onesComplement, "sqrt:": .squareRoot,
    "log:": .logarithm,
    "ln:": .naturalLogarithm, "exp:": .exponential, "floor:": .floor, "ceiling:": .ceiling, "abs:": .absolute,
    "trunc:": .truncate, "uppercase:": .uppercase, "lowercase:": .lowercase, "length:": .length, "now": .now,
    "uppercaseString": .uppercase, "lowercaseString": .lowercase,
  ]

  /// Functions of a collection.
  static let collectionFunctions: [String: PredicateAggregate] = [
    "count": .count, "sum": .sum, "average": .average, "min": .minimum, "max": .maximum, "median": .median,
    "mode": .mode, "stddev": .standardDeviation,
  ]
}
