/// A decoder that decodes everything as zeros, empty strings, empty lists and nil, to make any value of a type.
struct PlaceholderDecoder: Decoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(PlaceholderFields(decoder: self))
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer { PlaceholderList(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { PlaceholderScalar(decoder: self) }

  /// The nesting depth of the values decoded so far.
  private(set) var depth = 0
  /// The greatest depth. A type that contains itself without a list or an optional between has no value.
  private static let maximumDepth = 64

  fileprivate func nested() throws -> PlaceholderDecoder {
    guard depth < Self.maximumDepth else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a value within itself"))
    }
    var nested = self
    nested.depth += 1
    return nested
  }

  /// Returns a value of a type. Where the type refuses placeholders, it is the value whose bytes are zero, if the type
  /// is made of plain bytes.
  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let attribute = type as? any AttributeType.Type, !(attribute is any CodableAttribute.Type),
      let value = attribute.tracerValue as? Value
    {
      return value
    }
    do {
      return try Value(from: nested())
    } catch {
      guard let value = zeroBytes(of: type) else { throw error }
      return value
    }
  }
}

private struct PlaceholderFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: PlaceholderDecoder
  let codingPath: [any CodingKey] = []
  let allKeys: [Key] = []

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder.value(type)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder.nested().container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder.unkeyedContainer() }
  func superDecoder() throws -> any Decoder { try decoder.nested() }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.nested() }
}

/// A list without elements.
private struct PlaceholderList: UnkeyedDecodingContainer {
  let decoder: PlaceholderDecoder
  let codingPath: [any CodingKey] = []
  let count: Int? = 0
  let isAtEnd = true
  let currentIndex = 0

  func decodeNil() -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type) }
  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
  {
    try decoder.nested().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
  func superDecoder() throws -> any Decoder { try decoder.nested() }
}

private struct PlaceholderScalar: SingleValueDecodingContainer {
  let decoder: PlaceholderDecoder
  let codingPath: [any CodingKey] = []

  func decodeNil() -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type) }
}
