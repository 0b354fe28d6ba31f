import Foundation
import Predicates

// The coded form of an attribute's value. It depends on the attribute's kind, not on its Swift type. A type that is
// `Codable` and is stored as its JSON codes itself.

/// The value of an attribute, not nil, to be encoded.
struct EncodedAttribute<Value: AttributeType>: Encodable {
  let value: Value

  func encode(to encoder: any Encoder) throws {
    let stored = value._attributeValue
    if Value._attributeKind == .coded {
      guard let kind = Value._elementKind, case .string(let json) = stored else {
        return try Self.encode(coded: value, stored, to: encoder)
      }
      var list = encoder.unkeyedContainer()
      for element in try ListElements.values(of: json, kind) { try list.encode(CodedScalar(value: element)) }
    } else {
      try CodedScalar(value: stored).encode(to: encoder)
    }
  }

  /// Encodes a value whose elements queries don't know.
  private static func encode(coded value: Value, _ stored: AttributeValue, to encoder: any Encoder) throws {
    if let value = value as? any Encodable { return try value.encode(to: encoder) }
    try CodedScalar(value: stored).encode(to: encoder)
  }
}

/// The value of an attribute, not nil, as it was decoded.
struct DecodedAttribute<Value: AttributeType>: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    if Value._attributeKind == .coded, Value._elementKind == nil,
      let type = Value._Present.self as? any Decodable.Type
    {
      let decoded: any Decodable = try type.init(from: decoder)
      guard let value = decoded as? Value else { throw Self.mismatch(decoder) }
      self.value = value
      return
    }
    guard let value = Value(_attributeValue: try Self.stored(in: decoder)) else {
      throw Self.mismatch(decoder)
    }
    self.value = value
  }

  private static func stored(in decoder: any Decoder) throws -> AttributeValue {
    guard Value._attributeKind == .coded, let kind = Value._elementKind else {
      return try CodedScalar.value(of: Value._attributeKind, in: decoder.singleValueContainer())
    }
    var list = try decoder.unkeyedContainer()
    var elements: [AttributeValue] = []
    while !list.isAtEnd {
      if try list.decodeNil() {
        elements.append(.null)
      } else {
        let element = try list.superDecoder().singleValueContainer()
        elements.append(try CodedScalar.value(of: kind, in: element))
      }
    }
    return .string(ListText.json(of: elements, kind))
  }

  private static func mismatch(_ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "This is no value of the type \(Value.self).")
    )
  }
}

/// A value that isn't a list.
private struct CodedScalar: Encodable {
  let value: AttributeValue

  /// Numbers that are infinite or not a number.
  private static let specials = ["Infinity": Double.infinity, "-Infinity": -.infinity, "NaN": .nan]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .uint(let value): try container.encode(value)
    case .double(let value): try Self.encode(value, orSpecial: value, in: &container)
    case .decimal(let value): try value.isNaN ? container.encode("NaN") : container.encode(value)
    case .date(let value):
      try Self.encode(value, orSpecial: value.timeIntervalSinceReferenceDate, in: &container)
    case .uuid(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .reference(let value): try container.encode(value.rawValue)
    }
  }

  private static func encode(
    _ value: some Encodable,
    orSpecial number: Double,
    in container: inout any SingleValueEncodingContainer
  ) throws {
    if number.isFinite { return try container.encode(value) }
    try container.encode(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
  }

  static func value(
    of kind: AttributeKind,
    in container: any SingleValueDecodingContainer
  ) throws -> AttributeValue {
    switch kind {
    case .bool: .bool(try container.decode(Bool.self))
    case .int8, .int16, .int32, .int64: .int(try container.decode(Int64.self))
    case .uint8, .uint16, .uint32, .uint64: .unsigned(try container.decode(UInt64.self))
    // The nearest one to a text that no Float equals.
    case .float: .double(try special(in: container) ?? Double(container.decode(Float.self)))
    case .double: .double(try special(in: container) ?? container.decode(Double.self))
    case .decimal: .decimal(try special(in: container) == nil ? container.decode(Decimal.self) : .nan)
    case .date:
      .date(
        try special(in: container).map(Date.init(timeIntervalSinceReferenceDate:))
          ?? container.decode(Date.self)
      )
    case .uuid: .uuid(try container.decode(UUID.self))
    case .string, .externalString, .coded: .string(try container.decode(String.self))
    case .data, .externalData, .place: .data(try container.decode(Data.self))
    case .reference: .reference(ObjectNumber(rawValue: try container.decode(UInt64.self)))
    }
  }

  private static func special(in container: any SingleValueDecodingContainer) -> Double? {
    (try? container.decode(String.self)).flatMap { specials[$0] }
  }
}
