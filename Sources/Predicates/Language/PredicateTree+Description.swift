import Foundation

extension PredicateTree: CustomStringConvertible {
  /// The predicate as a format string, which parses to the same tree again if the tree is in canonical form.
  public var description: String {
    var text = ""
    write(to: &text, inside: .disjunction)
    return text
  }

  /// The precedence of a construct, from loose to tight.
  private enum Precedence: Int {
    case disjunction, conjunction, negation
  }

  private func write(to text: inout String, inside outer: Precedence) {
    switch self {
    case .constant(let value):
      text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let left, let comparison, let right, let options):
      text += "\(left.formatText) \(comparison.rawValue)\(options.formatText) \(right.formatText)"
    case .membership(let operand, let elements, let options):
      text += "\(operand.formatText) IN\(options.formatText) \(Self.list(elements))"
    case .between(let operand, let lower, let upper):
      let variable = VariableRange(lower: lower, upper: upper).map { "$" + $0.variable }
      text += "\(operand.formatText) BETWEEN \(variable ?? Self.list([lower, upper]))"
    case .quantified(let quantifier, let child):
      text += quantifier.rawValue + " "
      child.write(to: &text, inside: .negation)
    case .not(let child):
      text += "NOT "
      child.write(to: &text, inside: .negation)
    case .and(let children):
      Self.write(children, joinedBy: " AND ", as: .conjunction, if: true, to: &text, inside: outer)
    case .or(let children):
      Self.write(children, joinedBy: " OR ", as: .disjunction, if: false, to: &text, inside: outer)
    }
  }

  private static func write(
    _ children: [PredicateTree],
    joinedBy separator: String,
    as own: Precedence,
    if empty: Bool,
    to text: inout String,
    inside outer: Precedence
  ) {
    guard children.count > 1 else {
      (children.first ?? .constant(empty)).write(to: &text, inside: outer)
      return
    }
    let needsParentheses = outer.rawValue > own.rawValue
    if needsParentheses { text += "(" }
    for (index, child) in children.enumerated() {
      if index > 0 { text += separator }
      child.write(to: &text, inside: own)
    }
    if needsParentheses { text += ")" }
  }

  private static func list(_ elements: [PredicateOperand]) -> String {
    "{" + elements.map(\.formatText).joined(separator: ", ") + "}"
  }
}

extension AttributeValue {
  /// The value as it is written in a format string: a literal, or `CAST` of one for a value without a literal
  /// of its own.
  var formatText: String {
    switch self {
    case .null: "nil"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .int(let value): value.description
    case .uint(let value): value.description
    case .double(let value): value.isFinite ? value.description : LiteralCast.text(of: value)
    case .decimal(let value): LiteralCast.text(of: value)
    case .string(let value): value.formatLiteral
    case .date(let value): LiteralCast.text(of: value)
    case .uuid(let value): LiteralCast.text(of: value)
    case .data(let value): LiteralCast.text(of: value)
    case .reference(let number): LiteralCast.text(ofReference: number)
    }
  }
}

extension String {
  /// The string between quotes, with escapes for quotes, backslashes and control characters.
  var formatLiteral: String {
    var text = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.properties.generalCategory == .control:
        let hex = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
