/// The folding of strings before they are compared.
///
/// With any of the options, canonically equivalent strings are equal: “é” in one scalar and in two. Nothing depends
/// on a locale.
public struct StringOptions: OptionSet, Sendable, Hashable, Codable {
  /// The options as bits.
  public let rawValue: UInt8
  /// Makes a set of options of its bits.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]`: letters of different case are equal, by Unicode's full case folding.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// `[d]`: nonspacing marks don't count, such as the accent of “é”.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)
  /// `[n]`: canonically equivalent strings are equal, and nothing else is. The other options imply it.
  public static let normalized = StringOptions(rawValue: 4)
}

extension StringOptions {
  /// The folding in a unique form: options that ``caseInsensitive`` and ``diacriticInsensitive`` imply are left out.
  var folding: StringOptions { self == .normalized ? self : subtracting(.normalized) }

  /// The letters in which format strings write the options.
  static let letters: [(letter: Character, option: StringOptions)] = [
    ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized),
  ]

  /// `[cd]`, or nothing.
  package var formatText: String {
    let letters = Self.letters.filter { contains($0.option) }.map(\.letter)
    return letters.isEmpty ? "" : "[\(String(letters))]"
  }
}
