extension PredicateOperand: CustomStringConvertible {
  /// The operand as it is written in a format string.
  public var description: String { formatText }

  /// The operand as it is written in a format string.
  var formatText: String { text(inside: .loosest) }

  private func text(inside outer: OperandPrecedence) -> String {
    switch content {
    case .path([]), .object: "SELF"
    case .path(let names): names.formatPath
    case .variable(let name, let names):
      (["$" + name] + names.map(FormatKeyword.escapedIdentifier)).joined(separator: ".")
    case .value(let value): value.formatText
    case .digits(let digits): digits.description
    case .reference(let object): LiteralCast.text(of: object)
    case .function(let function, let arguments): Self.text(function, arguments, inside: outer)
    case .conditional(let condition, let first, let second):
      "TERNARY(\(condition), \(first.formatText), \(second.formatText))"
    case .collection(let collection): collection.formatText
    case .aggregate(let aggregate, let collection): collection.formatText(aggregate)
    }
  }

  private static func text(
    _ function: PredicateFunction,
    _ arguments: [PredicateOperand],
    inside outer: OperandPrecedence
  ) -> String {
    if let prefix = FormatOperator.prefixes[function], arguments.count == 1 {
      // A sign before digits would be read as a part of the number.
      let argument = arguments[0].text(inside: .unary)
      return arguments[0].isLiteral ? "\(prefix)(\(argument))" : prefix + argument
    }
    guard let infix = FormatOperator.infixes[function], arguments.count == 2 else {
      let list = arguments.map(\.formatText).joined(separator: ", ")
      // Of a single argument without braces, `min` would be read as the aggregate of a collection.
      let takesBraces = arguments.count == 1 && FormatOperator.collectionFunctions[function.rawValue] != nil
      return takesBraces ? "\(function.rawValue)({\(list)})" : "\(function.rawValue)(\(list))"
    }
    // Operators of a precedence are read from the left.
    let text =
      arguments[0].text(inside: infix.precedence) + " \(infix.spelling) "
      + arguments[1].text(inside: infix.precedence.tighter)
    return outer > infix.precedence ? "(\(text))" : text
  }
}

extension PredicateCollection {
  /// The collection as it is written in a format string, without its aggregate.
  var formatText: String {
    isDistinct
      ? "\(source).@distinctUnionOfObjects\(element.formatSuffix)" : source + element.formatSuffix
  }

  func formatText(_ aggregate: PredicateAggregate) -> String {
    switch aggregate {
    case .element(let index): return "\(source)[\(index == 0 ? "FIRST" : "\(index)")]\(element.formatSuffix)"
    case .last: return "\(source)[LAST]\(element.formatSuffix)"
    default: break
    }
    let name = FormatOperator.collectionOperators.first { $0.value == aggregate }?.key ?? ""
    if isDistinct { return "\(formatText).@\(name)" }
    if aggregate == .count, !element.isEmpty {
      return "\(source).@unionOfObjects\(element.formatSuffix).@count"
    }
    return "\(source).@\(name)\(element.formatSuffix)"
  }

  /// The elements.
  private var source: String {
    let path = (variable.map { ["$" + $0] } ?? []) + names.map(FormatKeyword.escapedIdentifier)
    let text = path.joined(separator: ".")
    guard let filter else { return text }
    return "SUBQUERY(\(text), $\(filter.variable), \(filter.condition))"
  }
}

extension [String] {
  /// The names as a path.
  var formatPath: String { map(FormatKeyword.escapedIdentifier).joined(separator: ".") }

  /// The names as the continuation of a path.
  fileprivate var formatSuffix: String { map { "." + FormatKeyword.escapedIdentifier($0) }.joined() }
}
