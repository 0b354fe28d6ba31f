import Cambium
import CambiumImport

/// Finds the rows of a text and the fields of each row, in one pass over the bytes.
///
/// It reads bytes and not characters: a combining mark after a delimiter or a quote would make one character of both.
/// All bytes that have a meaning here are ASCII, which UTF-8 never uses within the bytes of another character.
struct CSVSplitter: RecordSplitter {
  typealias Record = [String]

  let delimiter: UInt8
  var start: Int?
  private var state = State.fieldStart
  /// The complete fields of the current row, and at most one more than there may be columns.
  private var fields: [Field] = []
  /// The count of fields of the first row, which has the names of the columns; nil before its end.
  private var columnCount: Int?
  /// The position of the current field's first byte, from the start of the row; nil before it.
  private var contentStart: Int?
  /// The position of the quote that may close the current field; nil before it.
  private var contentEnd: Int?
  private var hasPairs = false

  private enum State {
    /// Before the first byte of a field; spaces may have come.
    case fieldStart
    /// Within a field that has no quotes around it.
    case plain
    /// After a quote within such a field: a second one must follow.
    case plainQuote
    /// Between quotes.
    case quoted
    /// After a quote between quotes: it closes the field, unless a second one follows.
    case quote
    /// After the closing quote and a space.
    case afterQuotes
  }

  private struct Field {
    /// The field's bytes, counted from the start of the row.
    let range: Range<Int>
    /// True if the field has quotes, each written as two.
    let hasPairs: Bool
  }

  init(delimiter: UInt8) { self.delimiter = delimiter }

  mutating func next(
    in bytes: UnsafeRawBufferPointer,
    _ position: inout Int,
    isAtEnd: Bool
  ) throws -> Range<Int>? {
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      let isBreak = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
      if isBreak, state != .quoted {
        guard let begin = start else { continue }
        return try endRow(begin..<position - 1)
      }
      // Spaces before a field belong to none, and a line of spaces is no row.
      if start == nil, isBlank(byte) { continue }
      let begin = start ?? position - 1
      start = begin
      try take(byte, at: position - 1 - begin)
    }
    guard isAtEnd, let begin = start else { return nil }
    if state == .quoted { throw ImportError(.truncated, "the text ends within quotes") }
    return try endRow(begin..<bytes.count)
  }

  /// Takes a byte of the row that ends no row.
  private mutating func take(_ byte: UInt8, at place: Int) throws {
    let isQuote = byte == UInt8(ascii: "\"")
    switch state {
    case .quoted:
      if isQuote { (state, contentEnd) = (.quote, place) }
    case .quote where isQuote: (state, hasPairs) = (.quoted, true)
    case .plainQuote where isQuote: (state, hasPairs) = (.plain, true)
    case .plainQuote: throw Self.singleQuote
    case _ where byte == delimiter: try endField(at: place)
    case .plain:
      if isQuote { state = .plainQuote }
    case .fieldStart:
      if isBlank(byte) { return }
      contentStart = isQuote ? place + 1 : place
      state = isQuote ? .quoted : .plain
    case .quote, .afterQuotes:
      guard isBlank(byte) else {
        throw ImportError(
          .malformedRecord,
          "the row is no CSV: something follows the closing quote of a field"
        )
      }
      state = .afterQuotes
    }
  }

  private func isBlank(_ byte: UInt8) -> Bool {
    byte != delimiter && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t"))
  }

  private mutating func endRow(_ row: Range<Int>) throws -> Range<Int> {
    try endField(at: row.count)
    start = nil
    return row
  }

  private mutating func endField(at place: Int) throws {
    if state == .plainQuote { throw Self.singleQuote }
    if fields.count <= columnCount ?? CSVRow.maximumColumnCount {
      fields.append(Field(range: (contentStart ?? place)..<(contentEnd ?? place), hasPairs: hasPairs))
    }
    (state, contentStart, contentEnd, hasPairs) = (.fieldStart, nil, nil, false)
  }

  private static var singleQuote: ImportError {
    ImportError(.malformedRecord, "the row is no CSV: a field without quotes around it has a single quote")
  }

  mutating func record(of bytes: UnsafeRawBufferPointer) throws -> [String] {
    defer { fields.removeAll(keepingCapacity: true) }
    if self.columnCount == nil, fields.count > CSVRow.maximumColumnCount {
      throw ImportError(.recordTooLong, "the text has more than \(CSVRow.maximumColumnCount) columns")
    }
    let columnCount = columnCount ?? fields.count
    self.columnCount = columnCount
    if fields.count > columnCount {
      throw ImportError(.malformedRecord, "the row has more fields than the \(columnCount) columns")
    }
    return try fields.map { try Self.text(of: $0, in: bytes) }
  }

  private static func text(of field: Field, in row: UnsafeRawBufferPointer) throws -> String {
    let bytes = UnsafeRawBufferPointer(rebasing: row[field.range])
    let text =
      if field.hasPairs {
        String(validating: withoutPairs(bytes), as: UTF8.self)
      } else {
        String(validating: bytes, as: UTF8.self)
      }
    guard let text else { throw ImportError(.malformedRecord, "the text is not UTF-8") }
    return text
  }

  /// Returns the bytes without every second quote: all quotes within a field come in pairs.
  private static func withoutPairs(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var isSecond = false
    return bytes.filter { byte in
      guard byte == UInt8(ascii: "\"") else { return true }
      defer { isSecond.toggle() }
      return !isSecond
    }
  }
}
