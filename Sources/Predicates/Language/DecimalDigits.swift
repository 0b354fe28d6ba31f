/// A decimal number by its digits, for literals that a `Double` would round: 0.digits × 10^exponent.
///
/// A literal is rounded only once, to the type of the attribute it is compared with; going by way of Double
/// could round twice and land beside the nearest Float.
public struct DecimalDigits: Sendable, Hashable {
  /// True if the number is below 0.
  public let isNegative: Bool
  /// Significant digits, without zeros at either end; empty for zero.
  public let digits: String
  /// The position of the point: before the first digit for 0, after it for 1.
  public let exponent: Int

  /// The exponents of readable numbers. The text of such a number is readable, too.
  private static let exponents = -99_999...99_999

  /// Reads `123`, `1.5`, `.5`, `1.`, `9.2e-5`. Nil for anything else, or an ``exponent`` beyond ±99,999.
  public init?(_ text: String) {
    var rest = text.utf8[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    var digits: [UInt8] = []
    var pointPosition: Int?
    var exponent = 0
    scan: while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits.append(byte)
      case UInt8(ascii: ".") where pointPosition == nil:
        pointPosition = digits.count
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        guard let value = Int(String(rest) ?? ""), Self.exponents.contains(value) else { return nil }
        exponent = value
        break scan
      default:
        return nil
      }
    }
    guard !digits.isEmpty else { return nil }
    let zero = UInt8(ascii: "0")
    let leadingZeros = digits.prefix { $0 == zero }.count
    let significant = digits.dropFirst(leadingZeros).reversed().drop { $0 == zero }.reversed()
    let point = significant.isEmpty ? 0 : exponent + (pointPosition ?? digits.count) - leadingZeros
    guard Self.exponents.contains(point) else { return nil }
    self.isNegative = isNegative
    self.digits = String(decoding: Array(significant), as: UTF8.self)
    self.exponent = point
  }

  /// Makes the shortest digits that name this Double and no other. Nil for infinities and NaN.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    self.init(value.description)
  }

  /// Makes the exact product of two numbers.
  init?(productOf left: DecimalParts, _ right: DecimalParts) {
    let sign = left.isNegative != right.isNegative ? "-" : ""
    self.init("\(sign)\(Self.product(left.mantissa, right.mantissa))e\(left.exponent + right.exponent)")
  }

  /// Returns the digits of a product, which may have zeros before them.
  private static func product(_ left: UInt128, _ right: UInt128) -> String {
    // Three limbs hold 39 digits, as 128 bits do, and three products of limbs are far from 128 bits.
    let (limbDigits, base) = (13, DecimalParts.powersOfTen[13])
    func limbs(_ value: UInt128) -> [UInt128] { [value % base, value / base % base, value / base / base] }
    var sums = [UInt128](repeating: 0, count: 6)
    for (place, a) in limbs(left).enumerated() {
      for (other, b) in limbs(right).enumerated() { sums[place + other] += a * b }
    }
    var digits = ""
    var carry: UInt128 = 0
    for sum in sums {
      let limb = String((sum + carry) % base)
      carry = (sum + carry) / base
      digits = String(repeating: "0", count: limbDigits - limb.count) + limb + digits
    }
    return digits
  }

  private init(isNegative: Bool, digits: String, exponent: Int) {
    self.isNegative = isNegative
    self.digits = digits
    self.exponent = exponent
  }

  /// The digits with the other sign.
  var negated: DecimalDigits { DecimalDigits(isNegative: !isNegative, digits: digits, exponent: exponent) }

  /// Text that the initialisers of Double and Float read, which round correctly.
  private var text: String { (isNegative ? "-0." : "0.") + (digits.isEmpty ? "0" : digits) + "e\(exponent)" }

  /// The nearest Double; an infinity beyond the greatest.
  public var nearestDouble: Double { Double(text) ?? .nan }
  /// The nearest Float; an infinity beyond the greatest.
  public var nearestFloat: Float { Float(text) ?? .nan }

  /// The greatest integer that is not above the number, and a flag that is true if nothing was cut off; nil where no
  /// Int64 or UInt64 holds it.
  var floor: (value: AttributeValue, isExact: Bool)? {
    guard exponent <= 20 else { return nil }
    let whole = exponent > 0 ? digits.prefix(exponent) : ""
    let padding = String(repeating: "0", count: max(0, exponent - whole.count))
    guard let magnitude = UInt64("0" + whole + padding) else { return nil }
    let isExact = digits.count <= max(0, exponent)
    guard isNegative else { return (.unsigned(magnitude), isExact) }
    let (lowered, overflow) = magnitude.addingReportingOverflow(isExact ? 0 : 1)
    guard !overflow, lowered <= Int64.min.magnitude else { return nil }
    return (.int(Int64(truncatingIfNeeded: 0 &- lowered)), isExact)
  }
}

extension AttributeValue {
  /// The digits of a number; of a Double the shortest that name it. Nil for infinities, NaN and values that are
  /// no numbers.
  var decimalDigits: DecimalDigits? {
    switch self {
    case .int(let value): DecimalDigits("\(value)")
    case .uint(let value): DecimalDigits("\(value)")
    case .double(let value): DecimalDigits(value)
    case .decimal(let value): DecimalDigits(value)
    default: nil
    }
  }
}

extension DecimalDigits: CustomStringConvertible {
  /// Text that ``init(_:)-(String)`` reads back, always with a point: `1.25`, `0.5e-40`.
  public var description: String {
    let sign = isNegative ? "-" : ""
    if digits.isEmpty { return sign + "0.0" }
    guard (-4...40).contains(exponent) else { return text }
    if exponent <= 0 { return sign + "0." + String(repeating: "0", count: -exponent) + digits }
    let whole = digits.prefix(exponent) + String(repeating: "0", count: max(0, exponent - digits.count))
    let fraction = digits.dropFirst(exponent)
    return sign + whole + "." + (fraction.isEmpty ? "0" : fraction)
  }
}

extension DecimalDigits: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let digits = DecimalDigits(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a decimal number.")
    }
    self = digits
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
