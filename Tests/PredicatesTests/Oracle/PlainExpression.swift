import Foundation

/// An expression that the oracle calculates for an object.
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
      return aggregate.value(of: values, collection.kind)
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
  case length, lowercase, uppercase, trim
  case power = "**"
  case bitwiseAnd = "&"
  case bitwiseOr = "|"
  case bitwiseXor = "^"
  case leftShift = "<<"
  case rightShift = ">>"
  case onesComplement = "~"
  case floor, ceiling, round, truncate
  case squareRoot, logarithm, naturalLogarithm, exponential
  /// A date and seconds.
  case later, earlier
  /// The seconds between two dates.
  case elapsed
  case year, month, day, hour, minute, second, weekday

  /// Families of functions with numeric values, with their names in the table of coverage. A random choice picks a
  /// whole family as often as one of the other functions.
  static let families: [(word: String, members: [PlainFunction])] = [
    ("bits", [.bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement]),
    ("rounding", [.floor, .ceiling, .round, .truncate]),
    ("root or logarithm", [.squareRoot, .logarithm, .naturalLogarithm, .exponential]),
    ("part of a date", [.year, .month, .day, .hour, .minute, .second, .weekday]),
  ]
  private static let others: [PlainFunction] = [
    .add, .subtract, .multiply, .divide, .modulus, .negate, .absolute, .minimum, .maximum, .length, .power,
    .elapsed,
  ]
  /// The functions with numeric values, in lists. A random choice picks each list equally often, and then one of its
  /// functions.
  static let ofNumbers = families.map(\.members) + others.map { [$0] }
  static let ofTexts: [PlainFunction] = [.lowercase, .uppercase, .trim]

  /// The name in the table of coverage.
  var word: String {
    switch self {
    case .later, .earlier, .elapsed: "seconds between dates"
    case .lowercase, .uppercase, .trim: "text of a text"
    default: Self.families.first { $0.members.contains(self) }?.word ?? rawValue
    }
  }

  /// Returns the value for the arguments. Numbers of two kinds are converted to the wider kind; a result that this
  /// kind can't hold is missing.
  func value(of arguments: [Plain]) -> Plain {
    if self == .minimum || self == .maximum { return extreme(arguments.filter(\.isComparable)) }
    if arguments.contains(where: \.isMissing) { return .missing }
    switch (arguments[0], arguments.count > 1 ? arguments[1] : .missing) {
    case (.text(let a), .text(let b)): return .text(a + b)
    case (.text(let text), _): return ofText(text)
    case (.moment(let moment), .missing): return part(of: moment)
    case (.moment(let a), let b): return seconds(a, b)
    case (let number, .missing): return ofOne(number)
    case (.whole(let a), .whole(let b)) where self != .power: return whole(a, b)
    case (let a, let b):
      if word == "bits" { return .missing }
      if self == .divide || self == .modulus, b.nearestDouble == 0 { return .missing }
      if self != .modulus, self != .power, let a = a.exactDecimal, let b = b.exactDecimal {
        return decimal(a, b)
      }
      guard let a = a.nearestDouble, let b = b.nearestDouble else { return .missing }
      return real(a, b)
    }
  }

  private func rounded(_ value: Double) -> Double {
    switch self {
    case .floor: Foundation.floor(value)
    case .ceiling: ceil(value)
    case .round: Foundation.round(value)
    default: trunc(value)
    }
  }

  /// Returns true if a number that isn't whole is rounded away from zero.
  private func isAwayFromZero(isHalfOrMore: Bool, isNegative: Bool) -> Bool {
    switch self {
    case .floor: isNegative
    case .ceiling: !isNegative
    case .round: isHalfOrMore
    default: false
    }
  }

  private func root(_ value: Double) -> Plain {
    let result =
      switch self {
      case .squareRoot: sqrt(value)
      case .logarithm: log10(value)
      case .naturalLogarithm: log(value)
      default: exp(value)
      }
    return value.isFinite && !result.isFinite ? .missing : .real(result)
  }

  private func extreme(_ values: [Plain]) -> Plain {
    var best = values.first ?? .missing
    for value in values where self == .minimum ? Plain.precedes(value, best) : Plain.precedes(best, value) {
      best = value
    }
    return best
  }

  private func ofText(_ text: String) -> Plain {
    switch self {
    case .length: return .whole(Int128(text.count))
    case .lowercase: return .text(text.lowercased())
    case .uppercase: return .text(text.uppercased())
    default:
      let start = Array(text.unicodeScalars).drop { $0 == " " }
      var scalars = String.UnicodeScalarView()
      scalars.append(contentsOf: start.reversed().drop { $0 == " " }.reversed())
      return .text(String(scalars))
    }
  }

  /// Of a date.
  private func part(of moment: Double) -> Plain {
    guard let calendar = PlainCalendar(secondsSince2001: moment) else { return .missing }
    switch self {
    case .year: return .whole(Int128(calendar.year))
    case .month: return .whole(Int128(calendar.month))
    case .day: return .whole(Int128(calendar.day))
    case .hour: return .whole(Int128(calendar.hour))
    case .minute: return .whole(Int128(calendar.minute))
    case .second: return .real(calendar.second)
    default: return .whole(Int128(calendar.weekday))
    }
  }

  /// Two dates, or a date and seconds.
  private func seconds(_ moment: Double, _ other: Plain) -> Plain {
    if case .moment(let start) = other { return Self.subtract.real(moment, start) }
    guard let seconds = other.nearestDouble else { return .missing }
    guard case .real(let value) = Self.add.real(moment, self == .later ? seconds : -seconds) else {
      return .missing
    }
    return .moment(value)
  }

  private func ofOne(_ number: Plain) -> Plain {
    switch number {
    case .whole(let value) where self == .onesComplement: Plain.whole(-value - 1).within64Bits
    case _ where self == .onesComplement: .missing
    case _ where word == "root or logarithm": number.nearestDouble.map(root) ?? .missing
    case .whole where word == "rounding": number
    case .real(let value) where word == "rounding": .real(rounded(value))
    case .decimal(let value) where word == "rounding":
      value.isNaN ? number : PlainNumber.rounded(value, isAwayFromZero)
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
    return switch self {
    case .add: PlainDecimals(sumOf: [a, b]).divided(by: 1)
    case .subtract: PlainDecimals(sumOf: [a, 0 - b]).divided(by: 1)
    case .multiply: PlainDecimals.product(a, b)
    default: PlainDecimals.quotient(a, b)
    }
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
