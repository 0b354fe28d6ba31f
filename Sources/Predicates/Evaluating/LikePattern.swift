/// A pattern of `LIKE`: `?` stands for one character, `*` for any run of them, none included, and `\` takes the
/// character after it for itself. A backslash at the end stands for itself.
///
/// A character is a Unicode scalar here, as it is everywhere in the order of strings: “é” in two scalars fits `??`, and
/// `?` once an option has composed it. Matching takes O(text × pattern) at worst, O(text) as a rule, and no memory.
struct LikePattern: Sendable, Hashable {
  private enum Element: Sendable, Hashable {
    case byte(UInt8)
    case anyScalar
    case anyRun
  }

  /// The part of the pattern that a set of strings can express.
  enum Shape {
    /// No wildcards.
    case literal
    /// One wildcard, a `*` at the end.
    case prefix
    case other
  }

  /// The elements; no two runs are neighbours.
  private var elements: [Element] = []
  /// The prefix of every string that fits.
  private(set) var literalPrefix = ""

  /// Makes a pattern of a text: every text is one. The text between its wildcards is folded as the options say, for
  /// texts with an equal folding. O(length).
  init(_ text: String, _ options: StringOptions) {
    var literal = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in text.unicodeScalars {
      switch (scalar, isEscaped) {
      case ("\\", false):
        isEscaped = true
        continue
      case ("*", false): append(.anyRun, after: &literal, options)
      case ("?", false): append(.anyScalar, after: &literal, options)
      default: literal.append(scalar)
      }
      isEscaped = false
    }
    if isEscaped { literal.append("\\") }
    append(literal, options)
  }

  private mutating func append(
    _ wildcard: Element,
    after literal: inout String.UnicodeScalarView,
    _ options: StringOptions
  ) {
    append(literal, options)
    literal = String.UnicodeScalarView()
    if wildcard != .anyRun || elements.last != .anyRun { elements.append(wildcard) }
  }

  private mutating func append(_ literal: String.UnicodeScalarView, _ options: StringOptions) {
    let folded = StringFolding.fold(String(literal), options)
    if elements.isEmpty { literalPrefix = folded }
    elements += folded.utf8.map(Element.byte)
  }

  var shape: Shape {
    let wildcards = elements.dropFirst(literalPrefix.utf8.count)
    return wildcards.isEmpty ? .literal : Array(wildcards) == [.anyRun] ? .prefix : .other
  }

  /// Returns whether the whole text, as UTF-8, fits.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var (place, position) = (0, 0)
    // After the last run: the element that follows it, and the position in the text where the run ends so far. If the
    // rest doesn't fit, the run takes one scalar more; earlier runs never have to.
    var retry: (place: Int, position: Int)?
    while position < text.count {
      if place < elements.count {
        switch elements[place] {
        case .anyRun:
          place += 1
          retry = (place, position)
          continue
        case .anyScalar:
          place += 1
          position = Self.end(ofScalarAt: position, in: text)
          continue
        case .byte(let byte) where byte == text[position]:
          place += 1
          position += 1
          continue
        case .byte: break
        }
      }
      guard let last = retry else { return false }
      position = Self.end(ofScalarAt: last.position, in: text)
      place = last.place
      retry = (place, position)
    }
    return elements[place...].allSatisfy { $0 == .anyRun }
  }

  private static func end(ofScalarAt start: Int, in text: UnsafeRawBufferPointer) -> Int {
    var end = start + 1
    while end < text.count, UTF8.isContinuation(text[end]) { end += 1 }
    return end
  }
}
