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

  /// The position of the value in a sort of its attribute's values: missing, comparable, NaN.
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

  /// Returns true if the values are equal in the sense of predicates. Both have to be comparable.
  static func areEqual(_ a: Plain, _ b: Plain) -> Bool { !precedes(a, b) && !precedes(b, a) }
}
