/// The unit that a pattern of `MATCHES` treats as a character: a Unicode scalar, or a grapheme cluster where
/// options ask for it.
protocol RegexUnit: Hashable, Sendable {
  associatedtype View: BidirectionalCollection where View.Element == Self, View.Index == String.Index

  /// The semantic level of the library's `Regex` for this unit.
  static var semantics: RegexSemanticLevel { get }
  static func view(of text: String) -> View

  var text: String { get }
  var scalars: [Unicode.Scalar] { get }
}

extension RegexUnit {
  /// Returns the units that scalars in a row make.
  static func units(of scalars: [Unicode.Scalar]) -> [Self] {
    Array(view(of: String(String.UnicodeScalarView(scalars))))
  }
}

extension Unicode.Scalar: RegexUnit {
  static var semantics: RegexSemanticLevel { .unicodeScalar }
  static func view(of text: String) -> String.UnicodeScalarView { text.unicodeScalars }

  var text: String { String(Character(self)) }
  var scalars: [Unicode.Scalar] { [self] }
}

extension Character: RegexUnit {
  static var semantics: RegexSemanticLevel { .graphemeCluster }
  static func view(of text: String) -> String { text }

  var text: String { String(self) }
  var scalars: [Unicode.Scalar] { Array(unicodeScalars) }
}
