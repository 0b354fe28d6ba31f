import Foundation

/// The JSON of a list of values, as an attribute stores it: `["jazz","live"]`.
///
/// Each element is the JSON value for its kind: a Boolean, a number, a string. Dates are seconds since the
/// reference date, UUIDs, data (in Base64) and numbers that are infinite or not a number are strings, and elements
/// of the kind `coded` are their own JSON. nil is `null`.
package enum ListText {
  /// Returns the JSON of the values, all of the kind or nil.
  package static func json(of values: some Sequence<AttributeValue>, _ kind: AttributeKind) -> String {
    var text = "["
    for value in values {
      if text.utf8.count > 1 { text += "," }
      append(value, kind, to: &text)
    }
    return text + "]"
  }

  private static func append(_ value: AttributeValue, _ kind: AttributeKind, to text: inout String) {
    switch value {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .int(let value): text += value.description
    case .uint(let value): text += value.description
    case .double(let value): append(number: value, to: &text)
    case .date(let value): append(number: value.timeIntervalSinceReferenceDate, to: &text)
    case .decimal(let value):
      value.isNaN ? append(quoted: notANumber, to: &text) : (text += value.description)
    case .uuid(let value): append(quoted: value.uuidString, to: &text)
    case .data(let value): append(quoted: value.base64EncodedString(), to: &text)
    case .string(let value): kind == .coded ? (text += value) : append(quoted: value, to: &text)
    case .reference(let value): text += value.rawValue.description
    }
  }

  private static func append(number: Double, to text: inout String) {
    number.isFinite ? (text += number.description) : append(quoted: special(number), to: &text)
  }

  private static func append(quoted string: String, to text: inout String) {
    JSONString.append(string, to: &text, hasShortEscapes: false)
  }

  fileprivate static let notANumber = "NaN"
  fileprivate static let digits = Set("0123456789+-.eE".utf8)

  private static func special(_ number: Double) -> String {
    number.isNaN ? notANumber : number < 0 ? "-Infinity" : "Infinity"
  }
}

// MARK: - Reading

/// A reader of the elements of a list's JSON, one after the other.
///
/// It is a special reader, because a scan goes through the lists of all rows: it makes only the current element.
package struct ListElements {
  private let bytes: UnsafeRawBufferPointer
  private let kind: AttributeKind
  private var position = 0
  private var place = Place.start

  private enum Place { case start, inside, end }

  /// The error for bytes that are no list of elements of the kind.
  package struct Damage: Error {}

  /// Makes a reader of a list.
  ///
  /// - Parameters:
  ///   - bytes: the JSON in UTF-8. The bytes stay valid while the elements are read.
  ///   - kind: the kind of each element.
  package init(_ bytes: UnsafeRawBufferPointer, of kind: AttributeKind) {
    self.bytes = bytes
    self.kind = kind
  }

  /// Returns all elements of a list. O(length).
  package static func values(
    of json: String,
    _ kind: AttributeKind
  ) throws(Damage) -> [AttributeValue] {
    var json = json
    let result = json.withUTF8 { utf8 in
      Result { () throws(Damage) in
        var values: [AttributeValue] = []
        var elements = ListElements(UnsafeRawBufferPointer(utf8), of: kind)
        while let value = try elements.next() { values.append(value) }
        return values
      }
    }
    return try result.get()
  }

  /// Returns the next element, `null` for nil; nil after the last one.
  package mutating func next() throws(Damage) -> AttributeValue? {
    skipSpace()
    switch place {
    case .end: return nil
    case .start:
      try take("[")
      skipSpace()
      if peek == UInt8(ascii: "]") { return try finish() }
    case .inside:
      if peek == UInt8(ascii: "]") { return try finish() }
      try take(",")
      skipSpace()
    }
    place = .inside
    return try element()
  }

  private mutating func finish() throws(Damage) -> AttributeValue? {
    position += 1
    skipSpace()
    guard position == bytes.count else { throw Damage() }
    place = .end
    return nil
  }

  private mutating func element() throws(Damage) -> AttributeValue {
    let start = position
    try skipElement()
    let text = UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    let value =
      kind == .coded
      ? .string(String(decoding: text, as: UTF8.self))
      : text.first == UInt8(ascii: "\"")
        ? try Self.string(text).value(as: kind)
        : Self.value(of: String(decoding: text, as: UTF8.self), as: kind)
    guard let value else { throw Damage() }
    return value
  }

  /// Returns the value of a word without quotation marks.
  private static func value(of word: String, as kind: AttributeKind) -> AttributeValue? {
    if word == "null" { return .null }
    switch kind {
    case .bool: return Bool(word).map(AttributeValue.bool)
    case .float, .double: return Double(word).map(AttributeValue.double)
    case .date: return Double(word).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .decimal:
      // The initialiser reads a number at the start of a text and ignores the rest.
      guard word.utf8.allSatisfy({ ListText.digits.contains($0) }) else { return nil }
      return Decimal(string: word).map(AttributeValue.decimal)
    case .uint64: return UInt64(word).map(AttributeValue.unsigned)
    case _ where kind.isInteger: return Int64(word).map(AttributeValue.int)
    default: return nil
    }
  }

  /// Returns the content of quotation marks.
  private static func string(_ text: UnsafeRawBufferPointer) throws(Damage) -> String {
    if !text.contains(UInt8(ascii: "\\")) {
      return String(decoding: text.dropFirst().dropLast(), as: UTF8.self)
    }
    guard let string = try? JSONDecoder().decode(String.self, from: Data(text)) else { throw Damage() }
    return string
  }

  // MARK: Characters

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ character: Unicode.Scalar) throws(Damage) {
    guard peek == UInt8(ascii: character) else { throw Damage() }
    position += 1
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
  }

  /// Moves behind a value: to the comma or bracket that isn't inside it.
  private mutating func skipElement() throws(Damage) {
    let start = position
    var depth = 0
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""): try skipString()
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        position += 1
      case UInt8(ascii: "]") where depth == 0, UInt8(ascii: ",") where depth == 0:
        return try checkMoved(from: start)
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        position += 1
      case 0x20 where depth == 0, 0x09...0x0D where depth == 0: return try checkMoved(from: start)
      default: position += 1
      }
    }
    throw Damage()
  }

  private func checkMoved(from start: Int) throws(Damage) {
    if position == start { throw Damage() }
  }

  private mutating func skipString() throws(Damage) {
    position += 1
    while let byte = peek, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
    try take("\"")
  }
}

extension String {
  /// Returns the value of a list's element that is a string in the JSON.
  fileprivate func value(as kind: AttributeKind) -> AttributeValue? {
    switch kind {
    case .string: .string(self)
    case .uuid: UUID(uuidString: self).map(AttributeValue.uuid)
    case .data: Data(base64Encoded: self).map(AttributeValue.data)
    case .float, .double: special.map(AttributeValue.double)
    case .date: special.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .decimal: self == ListText.notANumber ? .decimal(.nan) : nil
    default: nil
    }
  }

  /// The number that JSON has no digits for.
  private var special: Double? {
    switch self {
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    case ListText.notANumber: .nan
    default: nil
    }
  }
}
