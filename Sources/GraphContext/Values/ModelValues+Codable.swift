import Predicates

extension ModelValues {
  /// Encodes an object whose keys are the names of the properties, without those that are nil.
  ///
  /// - Throws: `EncodingError.invalidValue` for a provisional ID, and what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var visitor = EncodingVisitor(
      names: ValuesNames(Self._$names),
      container: encoder.container(keyedBy: PropertyKey.self)
    )
    visitor.encode(objectID, PropertyKey.objectID)
    _$visit(&visitor)
    if let failure = visitor.failure { throw failure }
  }

  /// - Throws: `DecodingError` where a property that can't be nil is missing, or has a value of another type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: PropertyKey.self)
    var reader = DecodingReader(names: ValuesNames(Self._$names), container: container)
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
  private let names: ValuesNames
  private var container: KeyedEncodingContainer<PropertyKey>
  /// The containers of the embedded values whose parts come, by their paths; none for a value that is nil.
  private var parts: [ArraySlice<String>: KeyedEncodingContainer<PropertyKey>] = [:]
  private(set) var failure: (any Error)?
  private var place = 0

  init(names: ValuesNames, container: KeyedEncodingContainer<PropertyKey>) {
    (self.names, self.container) = (names, container)
  }

  mutating func visit<Value: AttributeType>(attribute value: Value) {
    defer { place += 1 }
    let name = names[place]
    if names.beginsEmbedded(at: place) {
      let isNil = !name.isPart && value._attributeValue.isNull
      parts = [:]
      if !isNil { makeContainer(of: name.path.prefix(1)) }
    }
    if names.isFlag(at: place) || value._attributeValue.isNull || failure != nil { return }
    let encoded = EncodedAttribute(value: value)
    let key = PropertyKey(stringValue: name.last)
    do {
      if name.isPart {
        makeContainer(of: name.owners)
        try parts[name.owners]?.encode(encoded, forKey: key)
      } else {
        try container.encode(encoded, forKey: key)
      }
    } catch { failure = error }
  }

  /// Makes the object that has the parts of an embedded value, unless it is there.
  private mutating func makeContainer(of owners: ArraySlice<String>) {
    guard parts[owners] == nil, let last = owners.last else { return }
    let key = PropertyKey(stringValue: last)
    let above = owners.dropLast()
    if above.isEmpty {
      parts[owners] = container.nestedContainer(keyedBy: PropertyKey.self, forKey: key)
    } else {
      makeContainer(of: above)
      parts[owners] = parts[above]?.nestedContainer(keyedBy: PropertyKey.self, forKey: key)
    }
  }

  mutating func visit(toOne id: ManagedObjectID?) {
    encode(id, PropertyKey(stringValue: names[place].property))
    place += 1
  }

  /// Encodes an ID that isn't nil, unless something has failed.
  mutating func encode(_ id: ManagedObjectID?, _ key: PropertyKey) {
    guard failure == nil else { return }
    do { try container.encodeIfPresent(id, forKey: key) } catch { failure = error }
  }
}

private struct DecodingReader: ValuesReader {
  private let names: ValuesNames
  private let container: KeyedDecodingContainer<PropertyKey>
  /// The container of the embedded value whose parts come; nil for a value that is nil.
  private var parts: KeyedDecodingContainer<PropertyKey>?
  private var place = 0

  init(names: ValuesNames, container: KeyedDecodingContainer<PropertyKey>) {
    (self.names, self.container) = (names, container)
  }

  mutating func objectID() throws -> ManagedObjectID? {
    try container.decodeIfPresent(ManagedObjectID.self, forKey: .objectID)
  }

  mutating func attribute<Value: AttributeType>() throws -> Value {
    defer { place += 1 }
    let name = names[place]
    let property = PropertyKey(stringValue: name.property)
    if names.beginsEmbedded(at: place) {
      let isNil = try !name.isPart && Self.isNil(property, container)
      parts = isNil ? nil : try container.nestedContainer(keyedBy: PropertyKey.self, forKey: property)
    }
    if names.isFlag(at: place), let flag = Value(_attributeValue: parts == nil ? .null : .bool(true)) {
      return flag
    }
    guard name.isPart, var owner = parts else { return try Self.value(at: property, in: container) }
    for inner in name.owners.dropFirst() {
      let key = PropertyKey(stringValue: inner)
      // It is left out where all of its parts are nil.
      if Value._isOptionalAttribute, try Self.isNil(key, owner), let value = Value(_attributeValue: .null) {
        return value
      }
      owner = try owner.nestedContainer(keyedBy: PropertyKey.self, forKey: key)
    }
    return try Self.value(at: PropertyKey(stringValue: name.last), in: owner)
  }

  mutating func toOne() throws -> ManagedObjectID? {
    try container.decodeIfPresent(ManagedObjectID.self, forKey: next())
  }

  mutating func requiredToOne() throws -> ManagedObjectID {
    try container.decode(ManagedObjectID.self, forKey: next())
  }

  mutating func skip() { place += 1 }

  private static func value<Value: AttributeType>(
    at key: PropertyKey,
    in container: KeyedDecodingContainer<PropertyKey>
  ) throws -> Value {
    if Value._isOptionalAttribute, try isNil(key, container), let value = Value(_attributeValue: .null) {
      return value
    }
    return try container.decode(DecodedAttribute<Value>.self, forKey: key).value
  }

  private static func isNil(
    _ key: PropertyKey,
    _ container: KeyedDecodingContainer<PropertyKey>
  ) throws -> Bool {
    try !container.contains(key) || container.decodeNil(forKey: key)
  }

  private mutating func next() -> PropertyKey {
    defer { place += 1 }
    return PropertyKey(stringValue: names[place].property)
  }
}
