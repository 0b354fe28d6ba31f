import Foundation

// Foundation on Linux has neither of these expressions, but its macro writes calls of functions that would build them.
// The functions here have the names that the macro uses. Without them,
// `#Predicate { $0.title.localizedStandardContains("blue") }` doesn't compile.

extension PredicateExpressions {
  /// An expression that is true if a string contains another one, regardless of the case and the marks of letters, as
  /// in a search by a user.
  public struct LocalizedStandardContains<
    Text: PredicateExpression,
    Part: PredicateExpression
  >: PredicateExpression where Text.Output: StringProtocol, Part.Output: StringProtocol {
    let text: Text
    let part: Part

    /// Returns whether the text contains the part, whatever the case and the accents of their letters. Throws what
    /// the two sides throw.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      ValueComparison.holds(
        .string(String(try text.evaluate(bindings))),
        .contains,
        .string(String(try part.evaluate(bindings))),
        [.caseInsensitive, .diacriticInsensitive]
      )
    }
  }

  /// An expression for the order of two strings, regardless of the case of letters.
  public struct CaseInsensitiveCompare<
    Text: PredicateExpression,
    Other: PredicateExpression
  >: PredicateExpression where Text.Output: StringProtocol, Other.Output: StringProtocol {
    let text: Text
    let other: Other

    /// Returns the order of the two texts, whatever the case of their letters. Throws what the two sides throw.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      let (left, right) = (String(try text.evaluate(bindings)), String(try other.evaluate(bindings)))
      let order = ValueComparison.order(.string(left), .string(right), .caseInsensitive) ?? 0
      return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
    }
  }

  /// Builds the expression that `#Predicate` writes for `localizedStandardContains`.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static func build_localizedStandardContains<Text, Part>(
    _ text: Text,
    _ part: Part
  ) -> LocalizedStandardContains<Text, Part> { LocalizedStandardContains(text: text, part: part) }

  /// Builds the expression that `#Predicate` writes for `caseInsensitiveCompare`.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static func build_caseInsensitiveCompare<Text, Other>(
    _ text: Text,
    _ other: Other
  ) -> CaseInsensitiveCompare<Text, Other> { CaseInsensitiveCompare(text: text, other: other) }
}

extension PredicateExpressions.LocalizedStandardContains: StandardPredicateExpression
where Text: StandardPredicateExpression, Part: StandardPredicateExpression {}
extension PredicateExpressions.LocalizedStandardContains: Codable where Text: Codable, Part: Codable {}
extension PredicateExpressions.LocalizedStandardContains: Sendable where Text: Sendable, Part: Sendable {}

extension PredicateExpressions.CaseInsensitiveCompare: StandardPredicateExpression
where Text: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.CaseInsensitiveCompare: Codable where Text: Codable, Other: Codable {}
extension PredicateExpressions.CaseInsensitiveCompare: Sendable where Text: Sendable, Other: Sendable {}

extension PredicateExpressions.LocalizedStandardContains: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .condition(
      .comparison(
        try conversion.operand(text),
        .contains,
        try conversion.operand(part),
        [.caseInsensitive, .diacriticInsensitive]
      )
    )
  }
}

extension PredicateExpressions.CaseInsensitiveCompare: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .order(try conversion.operand(text), try conversion.operand(other), .caseInsensitive)
  }
}

extension PredicateExpressions.StringContainsRegex: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    guard case .constant(let pattern as PredicateExpressions.PredicateRegex) = try conversion.converted(regex)
    else {
      throw FoundationConversion.unsupported(Self.self)
    }
    let part = PredicateOperand.value(.string("(?s:.*)(?:\(pattern.stringRepresentation))(?s:.*)"))
    return .condition(.comparison(try conversion.operand(subject), .matches, part, []))
  }
}
