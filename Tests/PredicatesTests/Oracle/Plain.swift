import Foundation

/// A value as the oracle knows it: no type of the engine, no rule of the engine.
enum Plain: Hashable {
  case missing
  case flag(Bool)
  /// Wide enough for every integer type.
  case whole(Int128)
  case real(Double)
  /// Boxed: the compiler misaligns an enum that holds a Decimal beside an Int128.
  indirect case decimal(Decimal)
  /// Seconds.
  case moment(Double)
  case text(String)
  case bytes([UInt8])
  case uuid([UInt8])
  /// Another object, or the object itself.
  case link(UInt64)
}

extension Plain {
  var isMissing: Bool { self == .missing }

  /// Where the value stands among those of its attribute when they are sorted: missing, comparable, NaN.
  private var section: Int {
    switch self {
    case .missing: 0
    case .real(let value), .moment(let value): value.isNaN ? 2 : 1
    case .decimal(let value): value.isNaN ? 2 : 1
    default: 1
    }
  }

  /// Whether the value compares with anything.
  var isComparable: Bool { section == 1 }

  /// The order of sorting.
  static func precedes(_ a: Plain, _ b: Plain) -> Bool {
    if a.section != b.section { return a.section < b.section }
    if a.section != 1 { return false }
    switch (a, b) {
    case (.flag(let a), .flag(let b)): return !a && b
    case (.whole(let a), .whole(let b)): return a < b
    case (.real(let a), .real(let b)), (.moment(let a), .moment(let b)): return a < b
    case (.text(let a), .text(let b)):
      return Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8))
    case (.bytes(let a), .bytes(let b)), (.uuid(let a), .uuid(let b)): return a.lexicographicallyPrecedes(b)
    case (.link(let a), .link(let b)): return a < b
    case (.decimal, _), (_, .decimal): return PlainNumber.precedes(decimal: a, b)
    case (.whole(let a), .real(let b)): return PlainNumber.precedes(a, b)
    case (.real(let a), .whole(let b)): return PlainNumber.precedes(a, b)
    default: return false
    }
  }

  /// Equal as a predicate means it; both compare.
  static func areEqual(_ a: Plain, _ b: Plain) -> Bool { !precedes(a, b) && !precedes(b, a) }
}

/// Integers against doubles, without rounding: both as whole numbers of 2⁻¹⁰… is too wide, so by parts. Decimals against
/// others as Foundation's Decimals, which hold all that the oracle's integers and doubles are, the ends apart.
enum PlainNumber {
  static func precedes(_ a: Int128, _ b: Double) -> Bool {
    if b == .infinity || b >= 0x1p100 { return true }
    if b == -.infinity || b <= -0x1p100 { return false }
    let whole = Int128(b.rounded(.down))
    return a < whole || (a == whole && b > b.rounded(.down))
  }

  static func precedes(_ a: Double, _ b: Int128) -> Bool {
    if a == .infinity || a >= 0x1p100 { return false }
    if a == -.infinity || a <= -0x1p100 { return true }
    return Int128(a.rounded(.down)) < b
  }
}

extension PlainNumber {
  /// Two numbers, of which one at least is a decimal.
  static func precedes(decimal a: Plain, _ b: Plain) -> Bool {
    let (left, right) = (place(a), place(b))
    return left.end != right.end ? left.end < right.end : left.value < right.value
  }

  /// The number as a Decimal; those that none is equal to are beyond all others, or beside 0.
  private static func place(_ number: Plain) -> (end: Int, value: Decimal) {
    switch number {
    case .decimal(let value): return (0, value)
    case .whole(let value): return (0, Decimal(string: "\(value)") ?? .nan)
    case .real(let value):
      if value.magnitude > 0x1p100 { return (value < 0 ? -1 : 1, 0) }
      if value != 0, value.magnitude < 0x1p-100 {
        return (0, Decimal(sign: value < 0 ? .minus : .plus, exponent: -126, significand: 1))
      }
      return (0, exact(value))
    default: return (0, .nan)
    }
  }

  /// The digits that the Double stands for, all of them: C knows.
  private static func exact(_ value: Double) -> Decimal {
    Decimal(string: String(format: "%.60f", value)) ?? .nan
  }

  /// What a record holds of a decimal.
  static func parts(of value: Decimal) -> (sign: UInt8, exponent: Int8, mantissa: UInt128) {
    if value.isNaN { return (2, 0, 0) }
    let digits = value.significand.magnitude.description
    return (value < 0 ? 1 : 0, Int8(value.exponent), UInt128(digits) ?? 0)
  }
}
