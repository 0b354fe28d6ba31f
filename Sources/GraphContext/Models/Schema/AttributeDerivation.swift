import Predicates

/// The rule by which the store keeps the value of an attribute: it is made of other values, and no program sets it.
///
/// A rule is a text of one of three forms:
/// - `songs.@count`: how many members a to-many relationship has.
/// - `songs.@sum.seconds`, `songs.@min.seconds`, `songs.@max.seconds`: an aggregate over an attribute of the members,
///   as predicates have it.
/// - `title[c]`, `title[d]` or `title[cd]`: a string of the object itself, folded as a comparison with these options
///   folds it. `canonical:(title)` is another spelling of the last.
///
/// A ``Schema`` refuses a text of no form, and a rule that doesn't fit the entity.
public struct AttributeDerivation: Sendable, Hashable {
  /// The rule, in the first spelling of its form.
  public let text: String
  /// The form of the text; nil for a text of no form.
  let form: Form?

  /// The source of an attribute's value.
  enum Form: Sendable, Hashable {
    case count(of: String)
    case aggregate(Function, over: String, of: String)
    case folded(String, IndexFolding)
  }

  /// An aggregate over an attribute of the members of a relationship.
  enum Function: String, Sendable, Hashable, Codable, CaseIterable {
    case sum, min, max

    var aggregate: PredicateAggregate {
      switch self {
      case .sum: .sum
      case .min: .minimum
      case .max: .maximum
      }
    }
  }

  /// Makes a rule of a text.
  public init(_ text: String) {
    form = Form(text)
    self.text = form?.description ?? text
  }

  init(_ form: Form) {
    self.form = form
    text = form.description
  }
}

extension AttributeDerivation: ExpressibleByStringLiteral {
  /// Makes a rule of a text.
  public init(stringLiteral text: String) { self.init(text) }
}

extension AttributeDerivation: CustomStringConvertible {
  /// The rule, in the first spelling of its form.
  public var description: String { text }
}

extension AttributeDerivation: Codable {
  /// Reads the text.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension AttributeDerivation.Form {
  private static let foldings: [(suffix: String, folding: IndexFolding)] = [
    ("[c]", .case), ("[d]", .diacritics), ("[cd]", [.case, .diacritics]), ("[dc]", [.case, .diacritics]),
  ]

  /// Reads the form of a text; nil for a text of no form.
  init?(_ text: String) {
    let canonical = (prefix: "canonical:(", suffix: ")")
    if text.hasPrefix(canonical.prefix), text.hasSuffix(canonical.suffix) {
      let name = text.dropFirst(canonical.prefix.count).dropLast(canonical.suffix.count)
      self = .folded(String(name), [.case, .diacritics])
    } else if let (suffix, folding) = Self.foldings.first(where: { text.hasSuffix($0.suffix) }) {
      self = .folded(String(text.dropLast(suffix.count)), folding)
    } else {
      // The name of a part of an embedded value has a point.
      let steps = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      switch (steps.count, steps.count > 1 ? steps[1] : "") {
      case (2, "@count"): self = .count(of: steps[0])
      case (3, let step) where step.hasPrefix("@"):
        guard let function = AttributeDerivation.Function(rawValue: String(step.dropFirst())) else {
          return nil
        }
        self = .aggregate(function, over: steps[0], of: steps[2])
      default: return nil
      }
    }
  }

  fileprivate var description: String {
    switch self {
    case .count(let relationship): "\(relationship).@count"
    case .aggregate(let function, let relationship, let attribute):
      "\(relationship).@\(function.rawValue).\(attribute)"
    case .folded(let attribute, let folding): attribute + folding.stringOptions.formatText
    }
  }

  /// The property of the object itself that the attribute is made of.
  var ownProperty: String {
    switch self {
    case .count(let name), .aggregate(_, let name, _), .folded(let name, _): name
    }
  }

  /// The relationship, if the attribute is an aggregate.
  var relationship: String? {
    switch self {
    case .count(let relationship), .aggregate(_, let relationship, _): relationship
    case .folded: nil
    }
  }
}
