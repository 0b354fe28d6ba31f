import Cambium
import CambiumImport

extension ExportFormat where Value: Encodable {
  /// CSV with a row of the columns' names, as ``CambiumImport/ImportInput`` reads it with
  /// `csv(at:delimiter:recordByteLimit:)`. Lines end with a line feed.
  ///
  /// A value that encodes to something else than single values for its keys is an error, and so is a key that is no
  /// column.
  ///
  /// - Parameters:
  ///   - columns: the names of the columns, in order; nil for the keys of the first value, so that a file of no
  ///     values is empty.
  ///   - delimiter: what stands between two fields, an ASCII character.
  public static func csv(columns: [String]? = nil, delimiter: Character = ",") -> ExportFormat {
    ExportFormat(end: { count in
      guard count == 0, let columns else { return Data() }
      _ = try CSVText.delimiterByte(delimiter)
      return Data(CSVText.line(columns, delimiter).utf8)
    }) {
      var columns = columns
      return { value, count in
        _ = try CSVText.delimiterByte(delimiter)
        let encoder = CSVRowEncoder()
        try value.encode(to: encoder)
        if let name = encoder.row.container {
          let message = "\(name) is a list or has parts, but a field of CSV is a single value"
          throw ImportError(.malformedRecord, message, record: count + 1)
        }
        let names = columns ?? encoder.row.names
        if names.isEmpty {
          let message = "the value has no fields, so there are no columns"
          throw ImportError(.malformedRecord, message, record: count + 1)
        }
        columns = names
        var lines = count == 0 ? CSVText.line(names, delimiter) : ""
        if let name = encoder.row.names.first(where: { !names.contains($0) }) {
          throw ImportError(.malformedRecord, "there is no column \(name)", record: count + 1)
        }
        lines += CSVText.line(names.map { encoder.row.fields[$0] ?? "" }, delimiter)
        return Data(lines.utf8)
      }
    }
  }
}

/// CSV as text.
enum CSVText {
  static func line(_ fields: [String], _ delimiter: Character) -> String {
    // A line with nothing in it would be no row.
    if fields == [""] { return "\"\"\n" }
    return fields.map { quoted($0, delimiter) }.joined(separator: String(delimiter)) + "\n"
  }

  private static func quoted(_ field: String, _ delimiter: Character) -> String {
    // By scalars: a reader takes a delimiter for one even if a combining mark follows. It drops spaces before a field
    // that has no quotes.
    let scalars = field.unicodeScalars
    let needsQuotes =
      scalars.first?.properties.isWhitespace == true
      || scalars.contains { Character($0) == delimiter || $0 == "\"" || Character($0).isNewline }
    if !needsQuotes { return field }
    var quoted = String.UnicodeScalarView()
    for scalar in scalars {
      if scalar == "\"" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    return "\"" + String(quoted) + "\""
  }

  /// - Throws: `malformedRecord` for a character that can't separate fields.
  static func delimiterByte(_ delimiter: Character) throws -> UInt8 {
    guard let byte = delimiter.asciiValue, byte != UInt8(ascii: "\""), !delimiter.isNewline else {
      throw ImportError(
        .malformedRecord,
        "\(delimiter) can't separate the fields of CSV: "
          + "it must be an ASCII character, and neither a quote nor a line break"
      )
    }
    return byte
  }
}

/// Gathers the fields of one value.
private final class EncodedRow {
  var names: [String] = []
  var fields: [String: String] = [:]
  /// The key of a value that has asked for a container. It is the only trace of a value that encodes nothing into
  /// the container.
  private(set) var container: String?

  func noteContainer(_ name: String?) { container = container ?? name ?? "the value" }

  func set(_ field: String, for name: String) {
    if fields.updateValue(field, forKey: name) == nil { names.append(name) }
  }
}

private struct CSVRowEncoder: Encoder {
  let row = EncodedRow()
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(FieldsContainer(row: row))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    row.noteContainer(nil)
    return NoContainer<CodingPathKey>(codingPath: [])
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { FieldContainer(row: row, name: nil) }
}

private func notFlat(_ value: Any, _ path: [any CodingKey]) -> EncodingError {
  let message = "a row of CSV has a single value in each column"
  return .invalidValue(value, .init(codingPath: path, debugDescription: message))
}

private struct FieldsContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let row: EncodedRow
  let codingPath: [any CodingKey] = []

  func encodeNil(forKey key: Key) { row.set("", for: key.stringValue) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try FieldContainer(row: row, name: key.stringValue).encode(value)
  }

  private func set<T: Encodable>(_ value: T?, _ key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }

  // A missing value has a column, too. The protocol's own implementations would leave it out, for each of these types.
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try set(value, key) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    row.noteContainer(key.stringValue)
    return KeyedEncodingContainer(NoContainer<Nested>(codingPath: [key]))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    row.noteContainer(key.stringValue)
    return NoContainer<CodingPathKey>(codingPath: [key])
  }

  func superEncoder() -> any Encoder { FieldContainer(row: row, name: nil) }

  func superEncoder(forKey key: Key) -> any Encoder { FieldContainer(row: row, name: nil) }
}

/// Encodes one field; without a name, none.
private struct FieldContainer: Encoder, SingleValueEncodingContainer {
  let row: EncodedRow
  let name: String?
  var codingPath: [any CodingKey] { name.map { [CodingPathKey(stringValue: $0)] } ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    row.noteContainer(name)
    return KeyedEncodingContainer(NoContainer<Key>(codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    row.noteContainer(name)
    return NoContainer<CodingPathKey>(codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() throws { try set("") }

  func encode<T: Encodable>(_ value: T) throws {
    switch value {
    case let text as String: try set(text)
    case let value as any LosslessStringConvertible: try set(value.description)
    case let date as Date:
      guard let text = ISO8601Text.text(date) else {
        let message = "CSV can hold dates of the years 0 to 9999 only"
        // The description of a date that isn't finite traps, so the error has the number.
        let seconds = date.timeIntervalSinceReferenceDate
        throw EncodingError.invalidValue(seconds, .init(codingPath: codingPath, debugDescription: message))
      }
      try set(text)
    case let url as URL: try set(url.absoluteString)
    case let number as Decimal: try set(number.description)
    default: try value.encode(to: self)
    }
  }

  private func set(_ field: String) throws {
    guard let name else { throw notFlat(field, []) }
    row.set(field, for: name)
  }
}

private struct CodingPathKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// Refuses everything: a field has no parts.
private struct NoContainer<Key: CodingKey>: KeyedEncodingContainerProtocol, UnkeyedEncodingContainer, Encoder
{
  let codingPath: [any CodingKey]
  var count: Int { 0 }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func encodeNil(forKey key: Key) throws { throw notFlat(key, codingPath) }
  func encodeNil() throws { throw notFlat("nil", codingPath) }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw notFlat(value, codingPath) }
  func encode<T: Encodable>(_ value: T) throws { throw notFlat(value, codingPath) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { container(keyedBy: type) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { self }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { self }
  func superEncoder(forKey key: Key) -> any Encoder { self }

  func container<Other: CodingKey>(keyedBy type: Other.Type) -> KeyedEncodingContainer<Other> {
    KeyedEncodingContainer(NoContainer<Other>(codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { self }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    FieldContainer(row: EncodedRow(), name: nil)
  }
}
