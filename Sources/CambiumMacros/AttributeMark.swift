import SwiftDiagnostics
import SwiftSyntax

/// The options of a property's `@Attribute`.
struct AttributeMark {
  /// True for `.unique` and for `.unique(ifExists: .merge)`.
  private(set) var isUnique = false
  /// The expression after `ifExists:`, as written.
  private(set) var ifExists: String?
  /// The rules, such as `.min(0)`, as the model's description has them.
  private(set) var rules: [String] = []
  private(set) var preservesValueOnDeletion = false
  /// True for `.externalStorage`.
  private(set) var isExternal = false
  /// The closure of `.perInsert { UUID() }`, as written.
  private(set) var perInsert: String?
  /// The rule of `.derived("songs.@count")`.
  private(set) var derivation: String?
  /// `.transformed(as: String.self, to: { $0.hex }, from: { Color(hex: $0) })`.
  let transformation: AttributeTransformation?

  /// Reads a mark. Mistakes are added to `diagnostics`.
  ///
  /// - Parameters:
  ///   - mark: nil for a property without it.
  ///   - type: the type of the property.
  init(_ mark: AttributeSyntax?, _ type: TypeSyntax, _ diagnostics: inout [Diagnostic]) {
    transformation = AttributeTransformation(mark, &diagnostics)
    guard let mark else { return }
    let storedType = transformation?.stored ?? type
    let arguments = mark.arguments?.as(LabeledExprListSyntax.self) ?? []
    for argument in arguments where argument.label?.text != "originalName" {
      read(argument.expression, of: mark, storedType, &diagnostics)
    }
    diagnostics += AttributeMistakes.mistakes(in: mark, storedType)
  }

  /// Mistakes in giving the declaration an initial value.
  func mistakes(in initializer: InitializerClauseSyntax?) -> [Diagnostic] {
    guard let initializer else { return [] }
    var mistakes: [Diagnostic] = []
    if perInsert != nil { mistakes.append(ModelDiagnostic.twoInitialValues.at(initializer)) }
    if derivation != nil { mistakes.append(ModelDiagnostic.derivedValue.at(initializer)) }
    return mistakes
  }

  /// Takes what one option says.
  private mutating func read(
    _ option: ExprSyntax,
    of mark: AttributeSyntax,
    _ type: TypeSyntax,
    _ diagnostics: inout [Diagnostic]
  ) {
    let name = option.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    if name == "unique" {
      isUnique = true
    } else if name == "preserveValueOnDeletion" {
      preservesValueOnDeletion = true
    } else if name == "externalStorage" {
      isExternal = true
      if let mistake = Self.mistake(ofExternal: type, mark) { diagnostics.append(mistake.at(option)) }
    } else if let policy = Self.uniquePolicy(option) {
      (isUnique, ifExists) = (true, policy)
    } else if let closure = Self.perInsert(option) {
      perInsert = closure
    } else if Self.calledName(option) == "derived" {
      derivation = Self.rule(ofDerived: option, mark, &diagnostics)
    } else if option.optionName == "transformed" {
      return
    } else if let rule = Self.rule(option, type) {
      rules.append(rule)
    } else if let mistake = ForeignSpelling.mistake(in: option, of: mark) {
      diagnostics.append(mistake)
    } else {
      diagnostics.append(ModelDiagnostic.unknownOption.at(option))
    }
  }
}

// MARK: - Single options

extension AttributeMark {
  private static func calledName(_ option: ExprSyntax) -> String? {
    option.as(FunctionCallExprSyntax.self)?.calledExpression.as(MemberAccessExprSyntax.self)?.declName
      .baseName.text
  }

  /// The text in `.derived("songs.@count")`.
  private static func rule(
    ofDerived option: ExprSyntax,
    _ mark: AttributeSyntax,
    _ diagnostics: inout [Diagnostic]
  ) -> String? {
    let argument = option.as(FunctionCallExprSyntax.self)?.arguments.first?.expression
    guard let literal = argument?.as(StringLiteralExprSyntax.self), literal.segments.count == 1,
      let text = literal.segments.first?.as(StringSegmentSyntax.self)?.content.text, isRule(text)
    else {
      diagnostics.append(ModelDiagnostic.derivation.at(argument ?? option))
      return nil
    }
    for other in mark.arguments?.as(LabeledExprListSyntax.self) ?? [] {
      let name =
        other.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
        ?? calledName(other.expression)
      guard let name, !["derived", "preserveValueOnDeletion"].contains(name) else { continue }
      diagnostics.append(ModelDiagnostic.derivedAnd(name).at(other.expression))
    }
    return text
  }

  /// Returns whether a text has a form that `AttributeDerivation` knows. A schema checks the names in it.
  private static func isRule(_ text: String) -> Bool {
    func isName(_ text: some StringProtocol) -> Bool {
      !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    }
    if text.hasPrefix("canonical:("), text.hasSuffix(")") { return isName(text.dropFirst(11).dropLast()) }
    for folding in ["[c]", "[d]", "[cd]", "[dc]"] where text.hasSuffix(folding) {
      return isName(text.dropLast(folding.count))
    }
    // The name of a part of an embedded value has a point.
    let steps = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    switch steps.count {
    case 2: return isName(steps[0]) && steps[1] == "@count"
    case 3:
      return isName(steps[0]) && ["@sum", "@min", "@max"].contains(String(steps[1])) && isName(steps[2])
    default: return false
    }
  }

  /// Returns the mistake in storing an attribute externally.
  private static func mistake(ofExternal type: TypeSyntax, _ mark: AttributeSyntax) -> ModelDiagnostic? {
    let arguments = mark.arguments?.as(LabeledExprListSyntax.self)
    let options = arguments?.map(\.expression.trimmedDescription) ?? []
    if options.contains(where: { $0.hasPrefix(".unique") }) { return .externalAndUnique }
    if options.contains(".preserveValueOnDeletion") { return .externalAndPreserved }
    if options.contains(where: { $0.hasPrefix(".transformed") }) { return .externalAndTransformed }
    let value =
      switch PropertyType(type) {
      case .single(let type), .optional(let type): type.trimmedDescription
      default: ""
      }
    return ["Data", "String", "Foundation.Data", "Swift.String"].contains(value) ? nil : .externalType
  }

  /// The policy in `.unique(ifExists: .merge)`.
  private static func uniquePolicy(_ option: ExprSyntax) -> String? {
    guard let call = option.as(FunctionCallExprSyntax.self), call.arguments.count == 1,
      let argument = call.arguments.first, argument.label?.text == "ifExists",
      call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "unique"
    else { return nil }
    return argument.expression.trimmedDescription
  }

  /// The closure in `.perInsert { UUID() }`, or the expression instead of it.
  private static func perInsert(_ option: ExprSyntax) -> String? {
    guard let call = option.as(FunctionCallExprSyntax.self),
      call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "perInsert"
    else { return nil }
    return (call.trailingClosure.map(ExprSyntax.init) ?? call.arguments.first?.expression)?.trimmedDescription
  }

  /// `.min(0)` of a property of type `Double` is `.min(0, of: (Double).self)`: the literal is then a value of that
  /// type.
  private static func rule(_ option: ExprSyntax, _ type: TypeSyntax) -> String? {
    guard let call = option.as(FunctionCallExprSyntax.self), call.arguments.count == 1,
      let argument = call.arguments.first?.expression,
      let name = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    else { return nil }
    return switch name {
    case "min", "max": ".\(name)(\(argument.trimmedDescription), of: (\(type.trimmedDescription)).self)"
    case "length", "pattern": ".\(name)(\(argument.trimmedDescription))"
    default: nil
    }
  }
}
