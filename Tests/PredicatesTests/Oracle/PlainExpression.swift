import Foundation

/// What is calculated for an object, as the oracle knows it.
indirect enum PlainExpression {
  case literal(Plain)
  case path([String])
  case call(PlainFunction, [PlainExpression])
  case either(PlainPredicate, PlainExpression, PlainExpression)
  case aggregate(PlainAggregate, PlainCollection)

  func value(_ scene: PlainScene) -> Plain {
    switch self {
    case .literal(let value): return value
    case .path(let path): return scene.value(path)
    case .call(let function, let arguments): return function.value(of: arguments.map { $0.value(scene) })
    case .either(let condition, let first, let second):
      return condition.holds(scene) ? first.value(scene) : second.value(scene)
    case .aggregate(let aggregate, let collection):
      let elements = scene.elements(collection)
      guard let path = collection.value else { return .whole(Int128(elements.count)) }
      var values = elements.map { $0.value(path) }
      if collection.isDistinct {
        values = values.reduce(into: []) { known, value in
          if !known.contains(where: { Plain.areEqual($0, value) }) { known.append(value) }
        }
      }
      return aggregate.value(of: values)
    }
  }
}

enum PlainFunction: String, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case modulus = "%"
  case negate, absolute = "abs"
  case minimum = "min", maximum = "max"
  case length, lowercase
  case power = "**"
  case bitwiseAnd = "&"
  case bitwiseOr = "|"
  case bitwiseXor = "^"
  case leftShift = "<<"
  case rightShift = ">>"
  case onesComplement = "~"

  /// Of numbers: each as often as the others, and the operators on bits together as often as one of them.
  static let usual: [PlainFunction] = [
    .add, .subtract, .multiply, .divide, .modulus, .negate, .absolute, .minimum, .maximum, .length, .power,
    .bitwiseAnd,
  ]

  static let bits: [PlainFunction] = [
    .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement,
  ]

  /// What the table of what was covered calls it.
  var word: String { Self.bits.contains(self) ? "bits" : rawValue }

  /// Numbers of two kinds meet as the wider of them; what no number of that kind is, is missing.
  func value(of arguments: [Plain]) -> Plain {
    if self == .minimum || self == .maximum { return extreme(arguments.filter(\.isComparable)) }
    if arguments.contains(where: \.isMissing) { return .missing }
    switch (arguments[0], arguments.count > 1 ? arguments[1] : .missing) {
    case (.text(let a), .text(let b)): return .text(a + b)
    case (.text(let text), _): return self == .length ? .whole(Int128(text.count)) : .text(text.lowercased())
    case (let number, .missing): return ofOne(number)
    case (.whole(let a), .whole(let b)) where self != .power: return whole(a, b)
    case (let a, let b):
      if Self.bits.contains(self) { return .missing }
      if self == .divide || self == .modulus, b.nearestDouble == 0 { return .missing }
      if self != .modulus, self != .power, let a = a.exactDecimal, let b = b.exactDecimal {
        return decimal(a, b)
      }
      guard let a = a.nearestDouble, let b = b.nearestDouble else { return .missing }
      return real(a, b)
    }
  }

  private func extreme(_ values: [Plain]) -> Plain {
    var best = values.first ?? .missing
    for value in values where self == .minimum ? Plain.precedes(value, best) : Plain.precedes(best, value) {
      best = value
    }
    return best
  }

  private func ofOne(_ number: Plain) -> Plain {
    switch number {
    case .whole(let value) where self == .onesComplement: Plain.whole(-value - 1).within64Bits
    case _ where self == .onesComplement: .missing
    case .whole(let value): Plain.whole(self == .negate ? -value : value.magnitude.asInt).within64Bits
    case .real(let value): .real(self == .negate ? -value : value.magnitude)
    case .decimal(let value): .decimal(value.isNaN ? .nan : self == .negate ? 0 - value : value.magnitude)
    default: .missing
    }
  }

  private func whole(_ a: Int128, _ b: Int128) -> Plain {
    switch self {
    case .add: return Plain.whole(a + b).within64Bits
    case .subtract: return Plain.whole(a - b).within64Bits
    case .multiply:
      let product = a.multipliedReportingOverflow(by: b)
      return product.overflow ? .missing : Plain.whole(product.partialValue).within64Bits
    case .divide: return b == 0 ? .missing : Plain.whole(a / b).within64Bits
    case .bitwiseAnd: return Plain.whole(a & b).within64Bits
    case .bitwiseOr: return Plain.whole(a | b).within64Bits
    case .bitwiseXor: return Plain.whole(a ^ b).within64Bits
    case .leftShift:
      if b < 0 || b > 63 { return .missing }
      return Plain.whole((0..<b).reduce(a) { value, _ in value * 2 }).within64Bits
    case .rightShift:
      if b < 0 || b > 63 { return .missing }
      return .whole((0..<b).reduce(a) { value, _ in (value - (value % 2 + 2) % 2) / 2 })
    default: return b == 0 ? .missing : .whole(a % b)
    }
  }

  private func decimal(_ a: Decimal, _ b: Decimal) -> Plain {
    if a.isNaN || b.isNaN { return .decimal(.nan) }
    let result =
      switch self {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      default: a / b
      }
    return result.isNaN ? .missing : .decimal(result)
  }

  private func real(_ a: Double, _ b: Double) -> Plain {
    let result =
      switch self {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: a / b
      case .power: pow(a, b)
      default: fmod(a, b)
      }
    return a.isFinite && b.isFinite && !result.isFinite ? .missing : .real(result)
  }
}

extension Plain {
  /// An integer that a record can hold, or nothing.
  var within64Bits: Plain {
    guard case .whole(let value) = self else { return self }
    return (Int128(Int64.min)...Int128(UInt64.max)).contains(value) ? self : .missing
  }

  /// A decimal or an integer.
  fileprivate var exactDecimal: Decimal? {
    switch self {
    case .whole(let value): Decimal(string: "\(value)")
    case .decimal(let value): value
    default: nil
    }
  }

  var nearestDouble: Double? {
    switch self {
    case .whole(let value): Double(value)
    case .real(let value): value
    case .decimal(let value): value.isNaN ? .nan : Double(value.description)
    default: nil
    }
  }
}

extension UInt128 {
  fileprivate var asInt: Int128 { Int128(self) }
}
