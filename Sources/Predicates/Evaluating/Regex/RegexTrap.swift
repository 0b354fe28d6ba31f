/// Sets that the library accepts, but that make it trap when it first matches them by grapheme clusters.
///
/// They are recognised by their text, without parsing it. So some harmless sets are refused, too, but no set that traps
/// is accepted.
enum RegexTrap {
  /// Returns the reason for which a pattern that is matched by grapheme clusters is refused; nil if it isn't refused.
  static func find(in pattern: String) -> String? {
    joinsRange(Array(pattern.unicodeScalars))
      ? "the end of a range in a set can't form one character with what follows it." : nil
  }

  /// Returns whether, after the first `[`, the scalar that follows a range makes one grapheme cluster with the range's
  /// end: `[a-c\u{301}]`.
  private static func joinsRange(_ scalars: [Unicode.Scalar]) -> Bool {
    guard let set = scalars.firstIndex(of: "[") else { return false }
    return scalars.indices[set...].contains { place in
      scalars[place] == "-"
        && members(of: scalars, from: place + 1).contains { bound in
          members(of: scalars, from: bound.end).contains { next in
            String(String.UnicodeScalarView([bound.scalar, next.scalar])).count == 1
          }
        }
    }
  }

  /// A scalar that stands in the text or is spelled by an escape, and the position after it.
  private typealias Member = (scalar: Unicode.Scalar, end: Int)

  /// Returns the scalars that may be the next member of a set.
  private static func members(of scalars: [Unicode.Scalar], from start: Int) -> [Member] {
    guard start < scalars.count else { return [] }
    return escape(scalars, at: start) ?? [(scalars[start], start + 1)]
  }

  /// Returns the scalars that an escape may stand for; nil where no escape begins.
  private static func escape(_ scalars: [Unicode.Scalar], at place: Int) -> [Member]? {
    guard scalars[place] == "\\", place + 1 < scalars.count else { return nil }
    let start = place + 2
    switch scalars[place + 1] {
    case "n": return [("\n", start)]
    case "r": return [("\r", start)]
    case "u": return number(scalars, from: start, count: 4, radix: 16)
    case "U": return number(scalars, from: start, count: 8, radix: 16)
    case "x": return number(scalars, from: start, count: 2, radix: 16)
    case "o": return number(scalars, from: start, count: 0, radix: 8)
    case "0": return (1...4).flatMap { number(scalars, from: place + 1, count: $0, radix: 8) }
    case let other: return [(other, start)]
    }
  }

  /// Returns the scalar whose number is written with at most this many digits, or with any number of digits between
  /// braces.
  private static func number(
    _ scalars: [Unicode.Scalar],
    from start: Int,
    count: Int,
    radix: Int
  ) -> [Member] {
    var digits = scalars[min(start, scalars.count)...].prefix(count).prefix { $0.properties.isASCIIHexDigit }
    var end = digits.endIndex
    if start < scalars.count, scalars[start] == "{" {
      guard let close = scalars[start...].firstIndex(of: "}") else { return [] }
      digits = scalars[start + 1..<close].drop(while: \.properties.isWhitespace).prefix {
        !$0.properties.isWhitespace
      }
      end = close + 1
    }
    let text = String(String.UnicodeScalarView(digits))
    return UInt32(text, radix: radix).flatMap(Unicode.Scalar.init).map { [($0, end)] } ?? []
  }
}
