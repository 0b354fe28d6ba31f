import Cambium

/// Decodes a value from the fields of a row, by the names of its columns.
struct CSVRowDecoder: Decoder {
  let row: CSVRow
  let positions: CSVColumnPositions
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(_ row: CSVRow, _ positions: CSVColumnPositions) { (self.row, self.positions) = (row, positions) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(FieldsContainer(row: row, positions: positions))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.notFlat(codingPath) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.notFlat(codingPath) }

  static func notFlat(_ path: [any CodingKey]) -> DecodingError {
    let message = "a row of CSV has a single value in each column"
    return .typeMismatch(CSVRow.self, .init(codingPath: path, debugDescription: message))
  }
}

/// The positions of the columns by their names, which all rows of a text share: a search through the names for each
/// field would cost O(columns²) for each row.
struct CSVColumnPositions {
  private let positions: [String: Int]

  init(_ columns: [String]) {
    // Of several columns with one name, the first counts.
    positions = Dictionary(zip(columns, columns.indices), uniquingKeysWith: { first, _ in first })
  }

  /// Returns the field of a column; nil if there is no such column.
  func field(_ column: String, of row: CSVRow) -> String? { positions[column].map(row.field(at:)) }
}

private struct FieldsContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: CSVRow
  let positions: CSVColumnPositions
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { row.columns.compactMap(Key.init(stringValue:)) }

  private func field(_ key: Key) -> String? { positions.field(key.stringValue, of: row) }

  func contains(_ key: Key) -> Bool { field(key) != nil }

  func decodeNil(forKey key: Key) -> Bool { field(key).map(\.isEmpty) ?? true }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    guard let field = field(key) else {
      throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "there is no such column"))
    }
    return try FieldDecoder(field: field, codingPath: [key]).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw CSVRowDecoder.notFlat([key]) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw CSVRowDecoder.notFlat([key])
  }

  func superDecoder() throws -> any Decoder { throw CSVRowDecoder.notFlat([]) }

  func superDecoder(forKey key: Key) throws -> any Decoder { throw CSVRowDecoder.notFlat([key]) }
}

/// Decodes one field.
private struct FieldDecoder: Decoder, SingleValueDecodingContainer {
  let field: String
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw CSVRowDecoder.notFlat(codingPath)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw CSVRowDecoder.notFlat(codingPath) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { field.isEmpty }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value: Any? =
      switch type {
      case is String.Type: field
      case is Bool.Type: bool
      case let type as any (LosslessStringConvertible & Decodable).Type: type.init(field)
      case is Date.Type: date
      case is URL.Type: URL(string: field)
      case is Decimal.Type: decimal
      default: try T(from: self)
      }
    if let value = value as? T { return value }
    let message = "\u{201C}\(field)\u{201D} is no \(type)"
    throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: message))
  }

  private var bool: Bool? {
    switch field.lowercased() {
    case "true", "1": true
    case "false", "0": false
    default: nil
    }
  }

  /// Foundation reads a number at the start of a text and ignores the rest, so the whole text is checked.
  private var decimal: Decimal? {
    guard field.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), Double(field) != nil else {
      return nil
    }
    return Decimal(string: field, locale: Locale(identifier: "en_US_POSIX"))
  }

  private var date: Date? {
    // A day without a time is refused, because it may be a day of any time zone.
    field.contains("T") ? ISO8601Text.date(field) : nil
  }
}
