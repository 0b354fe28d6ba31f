import Foundation

/// The values that begin with a prefix, as a range: byte order keeps them together.
enum PrefixRange {
  /// Returns the values of `kind` that begin with `prefix`. Nil for a kind that has no prefixes.
  static func values(_ kind: AttributeKind, beginningWith prefix: AttributeValue) -> ValueSet? {
    guard let end = end(of: prefix) else { return nil }
    return ValueSet(kind, from: .before(prefix), to: end)
  }

  /// Returns the prefix whose values the segment holds exactly. Nil for every other segment, and for the empty prefix.
  static func prefix(of segment: ValueSet.Segment) -> AttributeValue? {
    guard case .before(let prefix) = segment.lower, segment.point == nil, let end = end(of: prefix),
      end == segment.upper
    else { return nil }
    return prefix
  }

  /// Returns the cut just above the last value that begins with `prefix`.
  private static func end(of prefix: AttributeValue) -> ValueCut? {
    switch prefix {
    case .string(let text): successor(of: text).map { .before(.string($0)) } ?? .highest
    case .data(let bytes): successor(of: bytes).map { .before(.data($0)) } ?? .highest
    default: nil
    }
  }

  /// Returns the least string above every string that begins with `prefix`: its last scalar raised by one. The order of
  /// UTF-8 bytes is the order of scalars, so this is a string, where a raised byte might not be.
  private static func successor(of prefix: String) -> String? {
    var scalars = prefix.unicodeScalars
    while let last = scalars.popLast() {
      // Surrogates are no scalars: U+D7FF is followed by U+E000.
      if let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) {
        scalars.append(next)
        return String(scalars)
      }
    }
    return nil
  }

  private static func successor(of prefix: Data) -> Data? {
    var bytes = prefix
    while let last = bytes.popLast() {
      if last < 0xFF {
        bytes.append(last + 1)
        return bytes
      }
    }
    return nil
  }
}
