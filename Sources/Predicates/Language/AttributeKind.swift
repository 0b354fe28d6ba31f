/// The kind of an attribute's values.
public enum AttributeKind: UInt8, Sendable, Hashable, Codable, CaseIterable {
  /// A byte that is 0 or 1.
  case bool = 1
  /// 8 bits with a sign.
  case int8 = 2
  /// 16 bits with a sign.
  case int16 = 3
  /// 32 bits with a sign.
  case int32 = 4
  /// 64 bits with a sign; of `Int` too.
  case int64 = 5
  /// 8 bits without a sign.
  case uint8 = 6
  /// 16 bits without a sign.
  case uint16 = 7
  /// 32 bits without a sign.
  case uint32 = 8
  /// 64 bits without a sign; of `UInt` too.
  case uint64 = 9
  /// A floating-point number of 32 bits.
  case float = 10
  /// A floating-point number of 64 bits.
  case double = 11
  /// Seconds since the reference date (1 January 2001 UTC), as the bits of a Double.
  case date = 12
  /// 128 bits.
  case uuid = 13
  /// Text in UTF-8, of any length.
  case string = 14
  /// Bytes, any number of them.
  case data = 15
  /// A to-one relationship: the destination's object ID.
  case reference = 16
  /// A Foundation `Decimal`: its sign, exponent and mantissa.
  case decimal = 17
  /// A value that its type has encoded, as JSON in UTF-8: ``CodableAttribute``. It can only be compared with nil.
  case coded = 18
  /// The position of an object in an ordered relationship: ``ListPlace``. The values of an object's own attributes
  /// are of the other kinds.
  case place = 19
  /// Text of which long values are stored outside of records. It can only be compared with nil.
  case externalString = 20
  /// Bytes of which long values are stored outside of records. They can only be compared with nil.
  case externalData = 21

  /// Bytes in the record's fixed section, or nil for a kind of variable width.
  public var fixedByteCount: Int? {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double, .date, .reference: 8
    case .uuid: 16
    case .decimal: StoredDecimal.byteCount
    case .string, .data, .coded, .place, .externalString, .externalData: nil
    }
  }

  /// True if the values are integers, of any width.
  public var isInteger: Bool {
    (AttributeKind.int8.rawValue...AttributeKind.uint64.rawValue).contains(rawValue)
  }
  /// True if sums and averages can be made of the values.
  public var isNumeric: Bool { isInteger || self == .float || self == .double || self == .decimal }
  /// True if a list can declare the kind as that of its elements.
  public var isElementKind: Bool { self != .coded && self != .reference && self != .place && !isExternal }
  /// True if two values of the kind can be compared: queries sort and group by values of such kinds, and indexes are of
  /// them.
  public var isComparable: Bool { self != .coded && !isExternal }
}
