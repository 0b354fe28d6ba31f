/// Regular expressions of letters, `.`, sets of letters, `*`, `+`, `?` and alternatives without brackets, matched by
/// trying all possibilities.
enum PlainPattern {
  typealias Scalars = ArraySlice<Unicode.Scalar>

  static func matches(_ text: String, _ pattern: String) -> Bool {
    let alternatives = Array(pattern.unicodeScalars).split(separator: "|", omittingEmptySubsequences: false)
    return alternatives.contains { fits(Array(text.unicodeScalars)[...], $0) }
  }

  private static func fits(_ text: Scalars, _ pattern: Scalars) -> Bool {
    guard !pattern.isEmpty else { return text.isEmpty }
    let (element, rest) = firstElement(of: pattern)
    let isMet = text.first.map { holds(element, $0) } ?? false
    switch rest.first {
    case "*": return fits(text, rest.dropFirst()) || (isMet && fits(text.dropFirst(), pattern))
    case "+":
      return isMet && (fits(text.dropFirst(), rest.dropFirst()) || fits(text.dropFirst(), pattern))
    case "?": return fits(text, rest.dropFirst()) || (isMet && fits(text.dropFirst(), rest.dropFirst()))
    default: return isMet && fits(text.dropFirst(), rest)
    }
  }

  /// A letter, a dot, or a set with its brackets.
  private static func firstElement(of pattern: Scalars) -> (Scalars, rest: Scalars) {
    let end = pattern.first == "[" ? pattern.firstIndex(of: "]") ?? pattern.startIndex : pattern.startIndex
    return (pattern[...end], pattern[(end + 1)...])
  }

  private static func holds(_ element: Scalars, _ scalar: Unicode.Scalar) -> Bool {
    if element == ["."] { return true }
    guard element.first == "[" else { return element.first == scalar }
    let members = element.dropFirst().dropLast()
    return members.first == "^" ? !members.contains(scalar) : members.contains(scalar)
  }
}
