/// Escaping of text that may come from a file: characters that control a terminal, change the order in which other
/// text is shown, or are invisible are escaped. ``StandardOutput`` and ``Failure`` escape everything that the tool
/// prints.
enum EscapedText {
  /// As a line: line breaks and all other dangerous characters are escaped: `\u{1b}`.
  static func line(_ text: String) -> String { escaped(text, keeping: [], spelled) }

  /// As several lines, for a message with line breaks.
  static func lines(_ text: String) -> String { escaped(text, keeping: ["\n"], spelled) }

  /// As a record of comma-separated values, whose fields may have lines and tabs.
  static func csv(_ text: String) -> String { escaped(text, keeping: ["\n", "\t"], spelled) }

  /// As JSON: outside strings there is nothing to escape, inside it is escaped as JSON does, by UTF-16 code units
  /// (RFC 8259).
  static func json(_ text: String) -> String {
    escaped(text, keeping: ["\n"]) { scalar in
      scalar.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }

  private static func spelled(_ scalar: Unicode.Scalar) -> String {
    "\\u{\(String(scalar.value, radix: 16))}"
  }

  private static func escaped(
    _ text: String,
    keeping kept: Set<Unicode.Scalar>,
    _ spelling: (Unicode.Scalar) -> String
  ) -> String {
    guard text.unicodeScalars.contains(where: { $0.isDangerous && !kept.contains($0) }) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if scalar.isDangerous, !kept.contains(scalar) {
        result += spelling(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Unicode.Scalar {
  /// Control characters, separators of lines and paragraphs, and format characters such as those that change the
  /// direction of text. Not the joiners, which make one sign of several in emoji and in Indic and Persian words.
  fileprivate var isDangerous: Bool {
    if (0x20..<0x7F).contains(value) { return false }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    case .format: return self != "\u{200C}" && self != "\u{200D}"
    default: return false
    }
  }
}
