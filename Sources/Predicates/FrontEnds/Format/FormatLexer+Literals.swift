extension FormatLexer {
  // MARK: Numbers

  /// Scans a number: C's integers, decimals with exponents, and `0x`, `0o`, `0b`. A sign is not part of the number.
  mutating func scanNumber() throws(QueryError) -> PredicateOperand.Content {
    let start = position
    if peek() == UInt8(ascii: "0"), let radix = peek(1).flatMap(Self.radix) {
      position += 2
      let digits = scanWhile { Self.isLetterOrDigit($0) }
      guard let value = UInt64(digits, radix: radix) else {
        throw error("Not a number in base \(radix) of at most 64 bits.", at: start)
      }
      return .value(.unsigned(value))
    }
    _ = scanWhile(Self.isDigit)
    var isInteger = true
    if peek() == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      _ = scanWhile(Self.isDigit)
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      position += 1
      if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
      guard let digit = peek(), Self.isDigit(digit) else {
        throw error("The exponent has no digits.", at: start)
      }
      _ = scanWhile(Self.isDigit)
    }
    if let byte = peek(), Self.isLetterOrDigit(byte) || byte == UInt8(ascii: "_") || byte >= 0x80 {
      throw error("A number can't run into a name.", at: position)
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let value = UInt64(text) { return .value(.unsigned(value)) }
    guard let digits = DecimalDigits(text) else {
      throw error("The number is out of range.", at: start)
    }
    return .number(digits)
  }

  private mutating func scanWhile(_ isIncluded: (UInt8) -> Bool) -> String {
    let start = position
    while let byte = peek(), isIncluded(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func radix(_ byte: UInt8) -> Int? {
    switch byte | 0x20 {
    case UInt8(ascii: "x"): 16
    case UInt8(ascii: "o"): 8
    case UInt8(ascii: "b"): 2
    default: nil
    }
  }

  // MARK: Strings

  /// Scans the text between two quotes of the same kind. `%` has no meaning in it.
  mutating func scanString(quote: UInt8) throws(QueryError) -> String {
    let start = position
    var content: [UInt8] = []
    position += 1
    while let byte = peek() {
      if byte == quote {
        position += 1
        return String(decoding: content, as: UTF8.self)
      }
      if byte == UInt8(ascii: "\\") {
        content += String(try scanEscape()).utf8
      } else {
        position += 1
        content.append(byte)
      }
    }
    throw error("The string has no closing quote.", at: start)
  }

  /// Scans an escape: `\n \t \r \a \b \f \v \\ \' \"`, `\ooo`, `\xhh` and `\uhhhh` (of which two make a surrogate
  /// pair).
  private mutating func scanEscape() throws(QueryError) -> Unicode.Scalar {
    let start = position
    position += 1
    guard let byte = peek() else { throw error("The string ends in an escape.", at: start) }
    position += 1
    switch Unicode.Scalar(byte) {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "a": return "\u{7}"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "v": return "\u{B}"
    case "\\", "'", "\"": return Unicode.Scalar(byte)
    case "0"..."7":
      position -= 1
      let value = scanDigits(radix: 8, atMost: 3) ?? 0
      return Unicode.Scalar(value & 0xFF) ?? "\u{FFFD}"
    case "x", "X":
      guard let value = scanDigits(radix: 16, atMost: 2), let scalar = Unicode.Scalar(value) else {
        throw error("\\x is followed by one or two hexadecimal digits.", at: start)
      }
      return scalar
    case "u", "U":
      return try scanUTF16Escape(at: start)
    default:
      throw error("Unknown escape.", at: start)
    }
  }

  private mutating func scanUTF16Escape(at start: Int) throws(QueryError) -> Unicode.Scalar {
    guard let first = scanFourDigits() else {
      throw error("\\u is followed by four hexadecimal digits.", at: start)
    }
    if let scalar = Unicode.Scalar(first) { return scalar }
    if UTF16.isLeadSurrogate(UInt16(first)), peek() == UInt8(ascii: "\\"),
      let letter = peek(1), letter | 0x20 == UInt8(ascii: "u")
    {
      position += 2
      if let second = scanFourDigits(), UTF16.isTrailSurrogate(UInt16(second)),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw error("Half of a surrogate pair is no character.", at: start)
  }

  private mutating func scanFourDigits() -> UInt32? {
    let start = position
    let value = scanDigits(radix: 16, atMost: 4)
    return position - start == 4 ? value : nil
  }

  private mutating func scanDigits(radix: Int, atMost limit: Int) -> UInt32? {
    let start = position
    while position - start < limit, let byte = peek(),
      UInt8(String(Unicode.Scalar(byte)), radix: radix) != nil
    {
      position += 1
    }
    return UInt32(String(decoding: bytes[start..<position], as: UTF8.self), radix: radix)
  }
}

extension PredicateOperand.Content {
  /// Returns a number in text: a Double where that loses none of the digits, else the digits themselves.
  static func number(_ digits: DecimalDigits) -> PredicateOperand.Content {
    let nearest = digits.nearestDouble
    return DecimalDigits(nearest) == digits ? .value(.double(nearest)) : .digits(digits)
  }

  /// The number with its sign changed; nil where it is none.
  var negated: PredicateOperand.Content? {
    switch self {
    case .value(.int(let value)):
      let (negative, overflow) = Int64(0).subtractingReportingOverflow(value)
      return .value(overflow ? .uint(value.magnitude) : .int(negative))
    case .value(.uint(let value)):
      if value == Int64.min.magnitude { return .value(.int(.min)) }
      return DecimalDigits("-\(value)").map(PredicateOperand.Content.number)
    case .value(.double(let value)): return .value(.double(-value))
    case .digits(let digits): return .digits(digits.negated)
    default: return nil
    }
  }
}
