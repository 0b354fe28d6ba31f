/// A lexer that cuts a format string into tokens, one at a time, from the left. Linear in the text.
struct FormatLexer {
  let text: String
  let bytes: [UInt8]
  var position = 0

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  /// Returns the byte at this distance; nil past the end.
  func peek(_ distance: Int = 0) -> UInt8? {
    let index = position + distance
    return index < bytes.count ? bytes[index] : nil
  }

  func error(_ message: String, at offset: Int) -> QueryError {
    QueryError(.syntax, message).at(SourceLocation(text: text, offset: offset))
  }

  /// Returns the next token; at the end `end`, and again at every further call.
  ///
  /// - Throws: `syntax` where no token begins.
  mutating func next() throws(QueryError) -> FormatToken {
    while let byte = peek(), Self.isBlank(byte) { position += 1 }
    let start = position
    let kind = try scan()
    return FormatToken(kind, start: start, end: position)
  }

  private mutating func scan() throws(QueryError) -> FormatToken.Kind {
    guard let byte = peek() else { return .end }
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      return .string(try scanString(quote: byte))
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      return .number(try scanNumber())
    case UInt8(ascii: ".") where peek(1).map(Self.isDigit) == true:
      return .number(try scanNumber())
    case UInt8(ascii: "%"):
      return try scanPlaceholder()
    case UInt8(ascii: "#"):
      return .name(try scanWord(after: 1, of: "# stands before a name that is spelled like a keyword."))
    case UInt8(ascii: "@"):
      return .collectionOperator(
        try scanWord(after: 1, of: "@ stands before the name of a collection operator.")
      )
    case UInt8(ascii: "$"):
      return .variable(try scanWord(after: 1, of: "$ stands before the name of a variable."))
    case UInt8(ascii: "`"):
      return .name(try scanQuotedName())
    default:
      if let word = scanIdentifier() { return .word(scanSelector(after: hyphenated(word))) }
      if let symbol = scanSymbol() { return .symbol(symbol) }
      throw unexpected(character(at: position))
    }
  }

  /// The quotation marks of text programs, which stand around pasted strings.
  private static let typographicQuotes: Set<Character> = [
    "“", "”", "„", "‟", "‘", "’", "‚", "‛", "«", "»", "‹", "›",
  ]

  /// Returns the error for a character with which no token begins.
  private func unexpected(_ character: Character) -> QueryError {
    let message =
      Self.typographicQuotes.contains(character)
      ? "Unexpected quotation mark \(character): use ' or \" around a string."
      : "Unexpected character “\(character)”."
    return error(message, at: position)
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private func character(at offset: Int) -> Character {
    let index = text.utf8.index(text.startIndex, offsetBy: offset)
    return text[index...].first ?? " "
  }

  // MARK: Words

  private mutating func scanWord(after prefix: Int, of complaint: String) throws(QueryError) -> String {
    let start = position
    position += prefix
    guard let word = scanIdentifier() else { throw error(complaint, at: start) }
    return word
  }

  /// Scans a name in letters of any script; nil, and nothing is consumed, where none starts.
  private mutating func scanIdentifier() -> String? {
    let start = position
    while let scalar = scalarAtPosition(),
      position == start ? FormatIdentifier.isStart(scalar) : FormatIdentifier.isContinuation(scalar)
    {
      position += UTF8.width(scalar)
    }
    return position == start ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private func scalarAtPosition() -> Unicode.Scalar? {
    guard let first = peek() else { return nil }
    if first < 0x80 { return Unicode.Scalar(first) }
    let index = text.utf8.index(text.startIndex, offsetBy: position)
    return text.unicodeScalars[index]
  }

  /// Scans the rest of a word with hyphens. `UTI-CONFORMS-TO` and `UTI-EQUALS` are the only words with hyphens.
  private mutating func hyphenated(_ word: String) -> String {
    guard word.uppercased() == "UTI" else { return word }
    for keyword in [FormatKeyword.conformsTo, .equalsUTI] {
      let rest = Array(keyword.rawValue.utf8.dropFirst(word.utf8.count))
      let candidate = bytes[position...].prefix(rest.count)
      guard String(decoding: candidate, as: UTF8.self).uppercased().utf8.elementsEqual(rest) else { continue }
      position += rest.count
      return keyword.rawValue
    }
    return word
  }

  /// Scans a name between backticks, in which a backslash keeps the next character from ending it.
  private mutating func scanQuotedName() throws(QueryError) -> String {
    let start = position
    var name: [UInt8] = []
    position += 1
    while let byte = peek() {
      position += 1
      if byte == UInt8(ascii: "`") { return String(decoding: name, as: UTF8.self) }
      if byte == UInt8(ascii: "\\"), let next = peek() {
        position += 1
        name.append(next)
      } else {
        name.append(byte)
      }
    }
    throw error("The name has no closing backtick.", at: start)
  }

  /// Scans the rest of a function's name that is a selector: `multiply:by:`, right before its parenthesis.
  private mutating func scanSelector(after word: String) -> String {
    var selector = word
    let start = position
    while peek() == UInt8(ascii: ":"), peek(1) != UInt8(ascii: "=") {
      position += 1
      selector += ":" + (scanIdentifier() ?? "")
    }
    if position > start, selector.utf8.last == UInt8(ascii: ":"), peek() == UInt8(ascii: "(") {
      return selector
    }
    position = start
    return word
  }

  /// True if an opening parenthesis is next.
  var isBeforeParenthesis: Bool {
    let next = bytes[position...].first { !Self.isBlank($0) }
    return next == UInt8(ascii: "(")
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private mutating func scanSymbol() -> FormatSymbol? {
    for symbol in FormatSymbol.allCases where bytes[position...].starts(with: symbol.rawValue.utf8) {
      position += symbol.rawValue.utf8.count
      return symbol
    }
    return nil
  }

  // MARK: Placeholders

  /// Scans `%@`, `%K`, or a conversion of printf. Length modifiers are ignored, because the argument has a type.
  private mutating func scanPlaceholder() throws(QueryError) -> FormatToken.Kind {
    let start = position
    position += 1
    let modifiers: [UInt8] = Array("hlqztjL".utf8)
    while let byte = peek(), modifiers.contains(byte) { position += 1 }
    let isPlain = position == start + 1
    guard let conversion = peek() else { throw error("% is followed by nothing.", at: start) }
    position += 1
    let spelling = String(decoding: bytes[start..<position], as: UTF8.self)
    switch Unicode.Scalar(conversion) {
    case "@" where isPlain: return .placeholder(.value)
    case "K" where isPlain: return .placeholder(.keyPath)
    case "%" where isPlain: return .symbol(.percent)
    case "d", "D", "i", "u", "U", "x", "X", "o", "O": return .placeholder(.integer(spelling))
    case "f", "F", "e", "E", "g", "G", "a", "A": return .placeholder(.floating(spelling))
    case "s", "S", "c", "C", "p":
      throw error("\(spelling) is not supported; pass a String for %@.", at: start)
    default:
      throw error("% is followed by no known conversion, such as %@, %K, %d or %f.", at: start)
    }
  }
}
