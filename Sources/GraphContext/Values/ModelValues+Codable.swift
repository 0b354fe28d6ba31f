import Predicates

extension ModelValues {
  /// An object whose keys are the names of the properties; without those that are nil.
  ///
  /// - Throws: `EncodingError.invalidValue` for a provisional ID, and what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var visitor = EncodingVisitor(
      names: Self._$names,
      container: encoder.container(keyedBy: PropertyKey.self)
    )
    visitor.encode(objectID, PropertyKey.objectID)
    _$visit(&visitor)
    if let failure = visitor.failure { throw failure }
  }

  /// - Throws: `DecodingError` where a property that can't be nil is missing, or has a value of another type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: PropertyKey.self)
    var reader = DecodingReader(names: Self._$names, container: container)
    try self.init(_$from: &reader)
  }
}

/// The name of a property as a key.
private struct PropertyKey: CodingKey {
  static let objectID = PropertyKey(stringValue: "objectID")
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

private struct EncodingVisitor: ValuesVisitor {
  let names: [String]
  var container: KeyedEncodingContainer<PropertyKey>
  var failure: (any Error)?
  private var place = 0

  init(names: [String], container: KeyedEncodingContainer<PropertyKey>) {
    (self.names, self.container) = (names, container)
  }

  mutating func visit<Value: AttributeType>(attribute value: Value) {
    let key = next()
    guard !value._attributeValue.isNull else { return }
    encode(EncodedAttribute(value: value), key)
  }

  mutating func visit(toOne id: ManagedObjectID?) { encode(id, next()) }

  /// Encodes a value that isn't nil, unless something has failed.
  mutating func encode(_ value: (some Encodable)?, _ key: PropertyKey) {
    guard failure == nil else { return }
    do { try container.encodeIfPresent(value, forKey: key) } catch { failure = error }
  }

  private mutating func next() -> PropertyKey {
    defer { place += 1 }
    return PropertyKey(stringValue: names[place])
  }
}

private struct DecodingReader: ValuesReader {
  let names: [String]
  let container: KeyedDecodingContainer<PropertyKey>
  private var place = 0

  init(names: [String], container: KeyedDecodingContainer<PropertyKey>) {
    (self.names, self.container) = (names, container)
  }

  mutating func objectID() throws -> ManagedObjectID? {
    try container.decodeIfPresent(ManagedObjectID.self, forKey: .objectID)
  }

  mutating func attribute<Value: AttributeType>() throws -> Value {
    let key = next()
    if Value._isOptionalAttribute, try !container.contains(key) || container.decodeNil(forKey: key),
      let value = Value(_attributeValue: .null)
    {
      return value
    }
    return try container.decode(DecodedAttribute<Value>.self, forKey: key).value
  }

  mutating func toOne() throws -> ManagedObjectID? {
    try container.decodeIfPresent(ManagedObjectID.self, forKey: next())
  }

  mutating func requiredToOne() throws -> ManagedObjectID {
    try container.decode(ManagedObjectID.self, forKey: next())
  }

  private mutating func next() -> PropertyKey {
    defer { place += 1 }
    return PropertyKey(stringValue: names[place])
  }
}
