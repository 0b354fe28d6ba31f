import Predicates

/// A rule for the values of an attribute. Every save checks it for values that are new or changed; nil breaks no rule.
///
/// A model declares rules as `@Attribute(.min(0), .max(5)) var rating: Int`. They belong to the program and are not
/// stored: objects that were saved without a rule may break it until they are changed.
public struct AttributeRule: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case minimum(AttributeValue)
    case maximum(AttributeValue)
    case length(Range<Int>)
    case pattern(String)
  }
  let kind: Kind

  /// Makes the rule that the value is at least this.
  ///
  /// - Parameters:
  ///   - value: the least value.
  ///   - type: the attribute's type.
  public static func min<Value: AttributeType>(
    _ value: Value,
    of type: Value.Type = Value.self
  ) -> AttributeRule {
    AttributeRule(kind: .minimum(value._attributeValue))
  }

  /// Makes the rule that the value is at most this.
  ///
  /// - Parameters:
  ///   - value: the greatest value.
  ///   - type: the attribute's type.
  public static func max<Value: AttributeType>(
    _ value: Value,
    of type: Value.Type = Value.self
  ) -> AttributeRule {
    AttributeRule(kind: .maximum(value._attributeValue))
  }

  /// Makes the rule that the number of characters of a string, or of bytes of data, is in a range: `.length(1...80)`,
  /// `.length(1...)`.
  public static func length(_ range: some RangeExpression<Int>) -> AttributeRule {
    // Nothing is as long as the greatest integer, and no range can end behind it.
    let lengths =
      switch range {
      case let range as ClosedRange<Int> where range.upperBound == .max: range.lowerBound..<Int.max
      case let range as PartialRangeThrough<Int> where range.upperBound == .max: 0..<Int.max
      default: range.relative(to: 0..<Int.max)
      }
    return AttributeRule(kind: .length(lengths))
  }

  /// Makes the rule that a string fits a regular expression as a whole, in the syntax of the operator `MATCHES`.
  public static func pattern(_ pattern: String) -> AttributeRule { AttributeRule(kind: .pattern(pattern)) }
}

extension AttributeRule: CustomStringConvertible {
  /// The rule, as the end of a sentence: “must be at least 0”.
  public var description: String {
    switch kind {
    case .minimum(let value): "must be at least \(value)"
    case .maximum(let value): "must be at most \(value)"
    case .length(let range) where range.upperBound == .max:
      "must have a length of at least \(range.lowerBound)"
    case .length(let range) where range.count == 1: "must have a length of \(range.lowerBound)"
    case .length(let range): "must have a length from \(range.lowerBound) to \(range.upperBound - 1)"
    case .pattern(let pattern): "must fit the pattern “\(pattern)”"
    }
  }
}

extension AttributeRule {
  /// Returns why an attribute of this kind can't have the rule; nil if it can.
  func problem(for kind: AttributeKind) -> String? {
    switch self.kind {
    case .minimum(let value), .maximum(let value):
      return !value.isNull && kind.holds(value) ? nil : "a limit that is no \(kind)"
    case .length(let range):
      if kind.inline != .string && kind.inline != .data {
        return "a rule for its length, and is neither a string nor data"
      }
      return range.isEmpty ? "a rule with an empty range of lengths" : nil
    case .pattern(let pattern):
      if kind.inline != .string { return "a pattern, and is not a string" }
      do throws(QueryError) { _ = try RegexPattern(pattern, []) } catch {
        return "a pattern with a mistake: \(error.message)"
      }
      return nil
    }
  }
}

extension AttributeKind {
  /// Returns whether a record can hold a value in a slot of this kind; nil in each.
  func holds(_ value: AttributeValue) -> Bool {
    var encoder = RecordEncoder(layout: RecordLayout(kinds: [self]), blockByteCount: 64)
    encoder.begin()
    return encoder.set(value, at: 0)
  }
}

/// The rules of one attribute, ready to be applied.
struct AttributeChecks: Sendable {
  let slot: Int
  private let checks: [(rule: AttributeRule, pattern: RegexPattern?)]

  /// - Parameter rules: without mistakes, as a ``Schema`` makes sure.
  init(slot: Int, _ rules: [AttributeRule]) {
    self.slot = slot
    checks = rules.map { rule in
      guard case .pattern(let pattern) = rule.kind else { return (rule, nil) }
      return (rule, try? RegexPattern(pattern, []))
    }
  }

  /// Returns the rules that a value breaks.
  func broken(by value: AttributeValue) -> [AttributeRule] {
    if value.isNull { return [] }
    return checks.filter { !accepts(value, $0.rule, $0.pattern) }.map(\.rule)
  }

  private func accepts(_ value: AttributeValue, _ rule: AttributeRule, _ pattern: RegexPattern?) -> Bool {
    switch (rule.kind, value) {
    case (.minimum(let limit), _): (ValueComparison.order(value, limit) ?? -1) >= 0
    case (.maximum(let limit), _): (ValueComparison.order(value, limit) ?? 1) <= 0
    case (.length(let range), .string(let text)): range.contains(text.count)
    case (.length(let range), .data(let data)): range.contains(data.count)
    case (.pattern, .string(let text)): pattern?.matches(text) ?? false
    default: true
    }
  }
}
