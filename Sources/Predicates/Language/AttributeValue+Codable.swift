import Foundation

extension AttributeValue: Codable {
  /// Encodes the value as one string, which every coder keeps: the case, a colon, the value. Decoding gives exactly the
  /// same value.
  ///
  /// | case | text |
  /// |---|---|
  /// | `null` | `null` |
  /// | `bool` | `bool:true`, `bool:false` |
  /// | `int`, `uint`, `reference` | decimal: `int:-5`, `uint:18446744073709551615`, `reference:42` |
  /// | `double`, `date` | the Double's bits, of a date those of the seconds since 2001, as 16 hexadecimal digits: `double:3ff0000000000000` |
  /// | `decimal` | mantissa, `e`, exponent of ten: `decimal:-125e-2`; `decimal:nan` |
  /// | `uuid` | `uuid:01020304-0506-0708-090A-0B0C0D0E0FFF` |
  /// | `string` | itself: `string:Blue` |
  /// | `data` | Base64: `data:AQI=` |
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(codedText)
  }

  /// Decodes a value from its text.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for any other text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = AttributeValue(codedText: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "Not the value of an attribute."
      )
    }
    self = value
  }
}

// MARK: - Text

extension AttributeValue {
  /// The text that ``encode(to:)`` writes.
  package var codedText: String {
    switch self {
    case .null: "null"
    case .bool(let value): "bool:\(value)"
    case .int(let value): "int:\(value)"
    case .uint(let value): "uint:\(value)"
    case .double(let value): "double:\(Self.text(ofBits: value.bitPattern))"
    case .decimal(let value): "decimal:\(Self.text(of: value))"
    case .date(let value): "date:\(Self.text(ofBits: value.timeIntervalSinceReferenceDate.bitPattern))"
    case .uuid(let value): "uuid:\(value.uuidString)"
    case .string(let value): "string:\(value)"
    case .data(let value): "data:\(value.base64EncodedString())"
    case .reference(let value): "reference:\(value.rawValue)"
    }
  }

  /// Reads ``codedText``; nil for any other text.
  package init?(codedText: String) {
    // By scalars: a string may begin with one that joins the colon in one character.
    let scalars = codedText.unicodeScalars
    let colon = scalars.firstIndex(of: ":") ?? scalars.endIndex
    let text = String(scalars[colon...].dropFirst())
    let value: AttributeValue? =
      switch String(scalars[..<colon]) {
      case "null": codedText == "null" ? .null : nil
      case "bool": Bool(text).map(AttributeValue.bool)
      case "int": Int64(text).map(AttributeValue.int)
      case "uint": UInt64(text).map(AttributeValue.unsigned)
      case "double": Self.bits(text).map { .double(Double(bitPattern: $0)) }
      case "decimal": Self.decimal(text).map(AttributeValue.decimal)
      case "date":
        Self.bits(text).map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
      case "uuid": UUID(uuidString: text).map(AttributeValue.uuid)
      case "string": colon == scalars.endIndex ? nil : .string(text)
      case "data": colon == scalars.endIndex ? nil : Data(base64Encoded: text).map(AttributeValue.data)
      case "reference": UInt64(text).map { .reference(ObjectNumber(rawValue: $0)) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }

  private static func text(ofBits bits: UInt64) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  private static func bits(_ text: String) -> UInt64? {
    text.utf8.count == 16 && text.utf8.first != UInt8(ascii: "+") ? UInt64(text, radix: 16) : nil
  }

  private static func text(of value: Decimal) -> String {
    guard let parts = DecimalParts(value) else { return "nan" }
    return "\(parts.isNegative ? "-" : "")\(parts.mantissa)e\(parts.exponent)"
  }

  private static func decimal(_ text: String) -> Decimal? {
    if text == "nan" { return .nan }
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let halves = text.utf8.dropFirst(isNegative ? 1 : 0).split(
      separator: UInt8(ascii: "e"),
      omittingEmptySubsequences: false
    )
    guard halves.count == 2, let mantissa = UInt128(String(halves[0]) ?? ""),
      let exponent = Int8(String(halves[1]) ?? "")
    else { return nil }
    return DecimalParts(isNegative: isNegative, mantissa: mantissa, exponent: Int(exponent)).decimal
  }
}
