extension NormalPredicate: CustomStringConvertible {
  /// The predicate as a format string. NaN, which has no spelling there, is `NAN`; long lists are cut short.
  package var description: String { text(isInside: nil) }

  private func text(isInside outer: Normaliser.Bracket?) -> String {
    switch self {
    case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .values(let path, let set): return set.text(path.name, isInside: outer)
    case .test(let test, let isNegated): return (isNegated ? "NOT " : "") + test.testText
    case .and(let children): return Self.join(children, .all, isInside: outer)
    case .or(let children): return Self.join(children, .any, isInside: outer)
    }
  }

  private static func join(
    _ children: [NormalPredicate],
    _ bracket: Normaliser.Bracket,
    isInside outer: Normaliser.Bracket?
  ) -> String {
    let text = children.map { $0.text(isInside: bracket) }.joined(
      separator: bracket == .all ? " AND " : " OR "
    )
    return outer == .all && bracket == .any ? "(\(text))" : text
  }
}

extension ResolvedPredicate {
  /// The text of a comparison that no set of values expresses.
  fileprivate var testText: String {
    switch self {
    case .compare(let path, let comparison, let value, let options):
      "\(path.name) \(comparison.rawValue)\(options.formatText) \(value.formatText)"
    case .comparePaths(let left, let comparison, let right, let options):
      "\(left.name) \(comparison.rawValue)\(options.formatText) \(right.name)"
    case .among(let path, let values, let includesNull, let options):
      "\(path.name) IN\(options.formatText) \(ValueSet.list(includesNull ? [.null] + values : values))"
    case .compareValues(let left, let comparison, let right, let options):
      "\(left.text) \(comparison.rawValue)\(options.formatText) \(right.text)"
    case .exists(let collection): "SOME \(collection.text)"
    default: "\(Normaliser.normalise(self))"
    }
  }
}

extension ResolvedExpression {
  /// The expression as in a format string, as far as format strings have a spelling for it.
  fileprivate var text: String {
    switch self {
    case .literal(let value): value.formatText
    case .path(let path): path.name
    case .function(let function, let arguments):
      if let infix = FormatOperator.infixes[function], arguments.count == 2 {
        "(\(arguments[0].text) \(infix.spelling) \(arguments[1].text))"
      } else {
        "\(function.rawValue)(\(arguments.map(\.text).joined(separator: ", ")))"
      }
    case .conditional(let condition, let first, let second):
      "TERNARY(\(Normaliser.normalise(condition)), \(first.text), \(second.text))"
    case .aggregate(let aggregate, let collection): "\(aggregate) of \(collection.text)"
    }
  }
}

extension ResolvedCollection {
  /// The collection in words: its path, and the condition on its elements.
  fileprivate var text: String {
    let path =
      (isDistinct ? "distinct " : "") + (value?.name ?? steps.map(\.name).joined(separator: "."))
    return condition == .constant(true) ? path : "\(path) (\(Normaliser.normalise(condition)))"
  }
}

extension ValueSet {
  /// Returns the condition that a value named `name` is in the set.
  func text(_ name: String, isInside outer: Normaliser.Bracket? = nil) -> String {
    if isEmpty { return "FALSEPREDICATE" }
    if isEverything { return "TRUEPREDICATE" }
    if let points = points(atMost: .max), points.count > 1 {
      return "\(name) IN\(folding.formatText) \(Self.list(points))"
    }
    if includesNull, self != .null(kind), let text = complement.negatedText(name) { return text }
    let parts = segments.map { $0.conditions(name, folding) }
    let text = parts.map { $0.text }.joined(separator: " OR ")
    let isAlternative = parts.count > 1 || parts.contains { $0.isAlternative }
    return outer == .all && isAlternative ? "(\(text))" : text
  }

  /// Returns the negation in few words; nil where the negation takes more than one term.
  private func negatedText(_ name: String) -> String? {
    if self == .null(kind) { return "\(name) != nil" }
    let options = folding.formatText
    if let point { return point.isNaN ? nil : "\(name) !=\(options) \(point.formatText)" }
    if let points = points(atMost: .max) { return "NOT \(name) IN\(options) \(Self.list(points))" }
    guard segmentCount == 1, let terms = hull?.conditions(name, folding), !terms.isAlternative else {
      return nil
    }
    return terms.count == 1 ? "NOT \(terms.text)" : "NOT (\(terms.text))"
  }

  static func list(_ values: [AttributeValue]) -> String {
    let shown = values.prefix(8).map(\.formatText).joined(separator: ", ")
    return values.count > 8 ? "{\(shown), … \(values.count - 8) more}" : "{\(shown)}"
  }
}

extension ValueSet.Segment {
  /// A condition in words.
  struct Conditions {
    var text: String
    /// The number of comparisons in the text.
    var count: Int
    /// True if the comparisons are joined by OR.
    var isAlternative: Bool
  }

  /// Returns the condition that a value named `name`, folded so, is in the segment.
  func conditions(_ name: String, _ folding: StringOptions) -> Conditions {
    let options = folding.formatText
    if let point {
      let text = point.isNaN ? "\(name) == NAN" : "\(name) ==\(options) \(point.formatText)"
      return Conditions(text: point.isNull ? "\(name) == nil" : text, count: 1, isAlternative: false)
    }
    if let prefix = PrefixRange.prefix(of: self) {
      let text = "\(name) BEGINSWITH\(options) \(prefix.formatText)"
      return Conditions(text: text, count: 1, isAlternative: false)
    }
    // BETWEEN takes no options.
    if folding.isEmpty, case .before(let low) = lower, case .after(let high) = upper {
      let text = "\(name) BETWEEN {\(low.formatText), \(high.formatText)}"
      return Conditions(text: text, count: 1, isAlternative: false)
    }
    return bounds(name, options)
  }

  private func bounds(_ name: String, _ options: String) -> Conditions {
    var terms: [String] = []
    switch lower {
    case .before(let value): terms.append("\(name) >=\(options) \(value.formatText)")
    case .after(let value) where !value.isNull: terms.append("\(name) >\(options) \(value.formatText)")
    default: break
    }
    switch upper {
    case .after(let value): terms.append("\(name) <=\(options) \(value.formatText)")
    case .before(let value) where !value.isNaN: terms.append("\(name) <\(options) \(value.formatText)")
    default: break
    }
    switch (lower, terms.isEmpty) {
    case (.lowest, true): terms.append(upper == .highest ? "TRUEPREDICATE" : "\(name) != NAN")
    case (.lowest, false):
      let text = "\(name) == nil OR " + terms.joined(separator: " AND ")
      return Conditions(text: text, count: terms.count + 1, isAlternative: true)
    case (_, true): terms.append("\(name) != nil" + (upper == .highest ? "" : " AND \(name) != NAN"))
    default: break
    }
    return Conditions(text: terms.joined(separator: " AND "), count: terms.count, isAlternative: false)
  }
}
