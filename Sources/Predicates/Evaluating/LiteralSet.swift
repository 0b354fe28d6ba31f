/// The literals of which a calculated value has to equal one.
struct LiteralSet: Sendable {
  /// The strings, folded, and nil.
  private let texts: ValueSet
  private let others: [AttributeValue]

  /// Makes the set. O(n log n).
  init(_ literals: [AttributeValue], folding: StringOptions) {
    var (strings, others, hasNil) = ([AttributeValue](), [AttributeValue](), false)
    for literal in literals {
      switch literal {
      case .string: strings.append(literal.folded(by: folding))
      case .null: hasNil = true
      default: others.append(literal)
      }
    }
    let texts = ValueSet(.string, anyOf: strings)
    self.texts = (hasNil ? texts.union(.null(.string)) : texts).folding(folding)
    self.others = others
  }

  /// Returns whether the value equals a literal, as ``ValueComparison`` says. A string is folded once, and found in
  /// O(log n).
  func contains(_ value: AttributeValue) -> Bool {
    switch value {
    case .string, .null: texts.contains(value.folded(by: texts.folding))
    default: others.contains { ValueComparison.areEqual(value, $0) }
    }
  }
}
