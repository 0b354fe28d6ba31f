/// What an attribute of a record holds.
public enum AttributeKind: UInt8, Sendable, Hashable, Codable, CaseIterable {
  case bool = 1
  case int8 = 2
  case int16 = 3
  case int32 = 4
  case int64 = 5
  case uint8 = 6
  case uint16 = 7
  case uint32 = 8
  case uint64 = 9
  case float = 10
  case double = 11
  /// Seconds since the reference date (1 January 2001 UTC), as the bits of a Double.
  case date = 12
  case uuid = 13
  case string = 14
  case data = 15
  /// A to-one relationship: the destination's object ID.
  case reference = 16
  /// A Foundation `Decimal`: its sign, exponent and mantissa.
  case decimal = 17

  /// Bytes in the record's fixed section, or nil for a kind of variable width.
  public var fixedByteCount: Int? {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double, .date, .reference: 8
    case .uuid: 16
    case .decimal: StoredDecimal.byteCount
    case .string, .data: nil
    }
  }

  public var isInteger: Bool {
    (AttributeKind.int8.rawValue...AttributeKind.uint64.rawValue).contains(rawValue)
  }
  public var isNumeric: Bool { isInteger || self == .float || self == .double || self == .decimal }
}
