import SwiftDiagnostics
import SwiftParser
import SwiftSyntax

/// Checks options of an attribute that contradict its type or each other. The macro finds only mistakes that are
/// evident from the spelling; a container reports the others when it is made.
enum AttributeOptions {
  static func mistakes(in attribute: AttributeSyntax, _ type: TypeSyntax) -> [Diagnostic] {
    guard let arguments = attribute.arguments?.as(LabeledExprListSyntax.self) else { return [] }
    var mistakes: [Diagnostic] = []
    var names: Set<String> = []
    for argument in arguments where argument.label == nil {
      guard let name = argument.expression.optionName else { continue }
      if !names.insert(name).inserted {
        mistakes.append(ModelDiagnostic.repeatedOption(name).at(argument.expression))
      } else if let mistake = mistake(in: argument.expression, name, type) {
        mistakes.append(mistake.at(argument.expression))
      }
    }
    return mistakes + bounds(arguments)
  }

  private static func mistake(
    in option: ExprSyntax,
    _ name: String,
    _ type: TypeSyntax
  ) -> ModelDiagnostic? {
    let property = PropertyType(type)
    let value = property.valueName
    switch name {
    case "unique": return property.isCollection ? .uniqueList : nil
    case "min", "max":
      let isOrdered = value.map { !["Bool", "Data", "UUID", "URL"].contains($0) } ?? true
      return isOrdered && !property.isCollection ? nil : .unorderedRule(name, type.trimmedDescription)
    case "length":
      if property.isCollection || value.map({ !["String", "Data", "URL"].contains($0) }) ?? false {
        return .ruleOfText(name, "'String' and 'Data'", type.trimmedDescription)
      }
      return isEmptyRange(option) ? .emptyRule(name) : nil
    case "pattern":
      if property.isCollection || value.map({ !["String", "URL"].contains($0) }) ?? false {
        return .ruleOfText(name, "'String'", type.trimmedDescription)
      }
      return option.onlyArgument?.as(StringLiteralExprSyntax.self)?.representedLiteralValue
        .flatMap(PatternMistake.init).map { .pattern($0.text) }
    default: return nil
    }
  }

  /// `.min(5), .max(3)`.
  private static func bounds(_ arguments: LabeledExprListSyntax) -> [Diagnostic] {
    func bound(_ name: String) -> (ExprSyntax, Double)? {
      for argument in arguments where argument.expression.optionName == name {
        return argument.expression.onlyArgument?.number.map { (argument.expression, $0) }
      }
      return nil
    }
    guard let (_, least) = bound("min"), let (place, greatest) = bound("max"), least > greatest else {
      return []
    }
    return [ModelDiagnostic.emptyRule("min").at(place)]
  }

  /// `.length(5...3)`, of which no range can be made.
  private static func isEmptyRange(_ option: ExprSyntax) -> Bool {
    guard let elements = option.onlyArgument?.as(SequenceExprSyntax.self)?.elements, elements.count == 3,
      let operation = elements.dropFirst().first?.as(BinaryOperatorExprSyntax.self)?.operator.text,
      let lower = elements.first?.number, let upper = elements.last?.number
    else { return false }
    return operation == "..." ? lower > upper : operation == "..<" && lower >= upper
  }
}

extension ExprSyntax {
  /// `unique` of `.unique` and of `.unique(ifExists: .merge)`.
  var optionName: String? {
    let called = self.as(FunctionCallExprSyntax.self)?.calledExpression ?? self
    return called.as(MemberAccessExprSyntax.self)?.declName.baseName.text
  }

  /// The argument of a call that has one.
  fileprivate var onlyArgument: ExprSyntax? {
    self.as(FunctionCallExprSyntax.self).flatMap {
      $0.arguments.count == 1 ? $0.arguments.first?.expression : nil
    }
  }

  /// The value of a literal.
  var number: Double? {
    if let prefixed = self.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "-" {
      return prefixed.expression.number.map(-)
    }
    let text =
      self.as(IntegerLiteralExprSyntax.self)?.literal.text
      ?? self.as(FloatLiteralExprSyntax.self)?.literal.text
    return text.flatMap { Double($0.filter { $0 != "_" }) }
  }
}

/// A mistake in a regular expression in any syntax: a group or a set that isn't closed, a backslash at the end, a
/// repetition of nothing.
private struct PatternMistake {
  let text: String

  init?(_ pattern: String) {
    guard let text = Self.mistake(in: Array(pattern)) else { return nil }
    self.text = text
  }

  private static func mistake(in pattern: [Character]) -> String? {
    var (depth, setStart, isRepeatable, position) = (0, nil as Int?, false, 0)
    while position < pattern.count {
      let character = pattern[position]
      if character == "\\" {
        if position + 1 == pattern.count { return "it ends with a backslash" }
        position += 1
        isRepeatable = true
      } else if let start = setStart {
        // A closing bracket at the start of a set is one of its characters.
        let first = pattern[start + 1] == "^" ? start + 2 : start + 1
        if character == "]", position > first { (setStart, isRepeatable) = (nil, true) }
      } else {
        switch character {
        case "[": setStart = position
        case "(":
          depth += 1
          isRepeatable = false
          if position + 1 < pattern.count, pattern[position + 1] == "?" { position += 1 }
        case ")":
          if depth == 0 { return "')' closes no group" }
          depth -= 1
          isRepeatable = true
        case "|": isRepeatable = false
        case "*", "+", "?":
          if !isRepeatable { return "'\(character)' repeats nothing" }
        default: isRepeatable = true
        }
      }
      position += 1
    }
    if setStart != nil { return "'[' is not closed" }
    return depth > 0 ? "'(' is not closed" : nil
  }
}
