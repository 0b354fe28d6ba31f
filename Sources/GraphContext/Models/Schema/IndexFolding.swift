import Predicates

/// The options by which the strings in the keys of an index are folded: an index without case finds “Carey” for
/// “carey”.
///
/// A folded index serves comparisons with the same options: `[.case, .diacritics]` those with `[cd]`. It holds folded
/// strings, so it serves no sort. In a unique index, strings that fold to the same are the same.
public struct IndexFolding: OptionSet, Sendable, Hashable {
  /// The options as bits, which is how they are stored.
  public let rawValue: UInt8
  /// Makes a set of options from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Letters of different case are equal, as by `[c]`.
  public static let `case` = IndexFolding(rawValue: 1)
  /// Nonspacing marks don't count, as by `[d]`.
  public static let diacritics = IndexFolding(rawValue: 2)
}

extension IndexFolding {
  private static let options: [(letter: Character, folding: IndexFolding, option: StringOptions)] = [
    ("c", .case, .caseInsensitive), ("d", .diacritics, .diacriticInsensitive),
  ]

  /// The options of comparisons that the index serves.
  var stringOptions: StringOptions {
    Self.options.reduce(into: []) { if contains($1.folding) { $0.insert($1.option) } }
  }

  /// The letters of ``stringOptions``, such as `cd`: how the folding is stored.
  fileprivate var letters: String { String(Self.options.filter { contains($0.folding) }.map(\.letter)) }

  fileprivate init?(letters: String) {
    self = []
    for letter in letters {
      guard let option = Self.options.first(where: { $0.letter == letter }) else { return nil }
      insert(option.folding)
    }
  }
}

extension IndexFolding: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let folding = IndexFolding(letters: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "an unknown folding")
    }
    self = folding
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(letters)
  }
}
