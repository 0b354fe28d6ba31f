import SwiftDiagnostics
import SwiftParser
import SwiftSyntax

/// Mistakes in the options of `@Attribute`: options that contradict the attribute's type or each other. The macro finds
/// only mistakes that are evident from the spelling; a container reports the others when it is made.
enum AttributeMistakes {
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
    switch name {
    case "unique": return property.isCollection ? .uniqueList : nil
    case "min", "max":
      let isOrdered = accepts(property) { !["Bool", "Data", "UUID", "URL"].contains($0) }
      return isOrdered ? nil : .unorderedRule(name, type.trimmedDescription)
    case "length":
      guard accepts(property, { ["String", "Data", "URL"].contains($0) }) else {
        return .ruleOfText(name, "'String' and 'Data'", type.trimmedDescription)
      }
      return isEmptyRange(option) ? .emptyRule(name) : nil
    case "pattern":
      guard accepts(property, { ["String", "URL"].contains($0) }) else {
        return .ruleOfText(name, "'String'", type.trimmedDescription)
      }
      return option.onlyArgument?.as(StringLiteralExprSyntax.self)?.representedLiteralValue
        .flatMap(PatternMistake.init).map { .pattern($0.text) }
    default: return nil
    }
  }

  /// Returns whether a property can have a rule for single values.
  ///
  /// - Parameter fits: returns whether the rule is for a standard type. The spelling of another type doesn't show what
  ///   the type stores.
  private static func accepts(_ property: PropertyType, _ fits: (_ typeName: String) -> Bool) -> Bool {
    if property.isCollection { return false }
    return property.valueName.map(fits) ?? true
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
