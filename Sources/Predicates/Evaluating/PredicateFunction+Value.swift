import Foundation

extension PredicateFunction {
  /// Returns the function's value for arguments of types that it takes; nil (`null`) with a nil among the arguments,
  /// beyond what 64 bits hold, and for a division by zero.
  func value(of arguments: some RandomAccessCollection<AttributeValue>) -> AttributeValue {
    switch self {
    case .minimum, .maximum, .sum, .average: return ofSeveral(arguments)
    case .now: return .date(Date())
    default: break
    }
    if arguments.contains(where: \.isNull) { return .null }
    guard let first = arguments.first else { return .null }
    if arguments.count == 2, let second = arguments.last { return Self.value(self, first, second) }
    return Self.value(self, first)
  }

  private func ofSeveral(_ arguments: some RandomAccessCollection<AttributeValue>) -> AttributeValue {
    let aggregate: PredicateAggregate =
      switch self {
      case .minimum: .minimum
      case .maximum: .maximum
      case .average: .average
      default: .sum
      }
    var accumulator = Accumulator()
    for argument in arguments { accumulator.add(argument, to: aggregate) }
    return accumulator.value(of: aggregate, .ofNumbers(arguments))
  }

  // MARK: Two arguments

  private static func value(
    _ function: PredicateFunction,
    _ left: AttributeValue,
    _ right: AttributeValue
  ) -> AttributeValue {
    switch (left, right) {
    case (.string(let a), .string(let b)): return .string(a + b)
    case (.date(let a), .date(let b)):
      return real(.subtract, a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
    case (.date(let date), let number), (let number, .date(let date)):
      guard let seconds = number.real else { return .null }
      let moment = real(function, date.timeIntervalSinceReferenceDate, seconds)
      return moment.real.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
    default: break
    }
    if function != .power, let a = left.integer, let b = right.integer { return whole(function, a, b) }
    if let a = left.exactDecimal, let b = right.exactDecimal, let result = decimal(function, a, b) {
      return result
    }
    guard let a = left.real, let b = right.real else { return .null }
    return real(function, a, b)
  }

  private static func whole(_ function: PredicateFunction, _ a: Int128, _ b: Int128) -> AttributeValue {
    switch function {
    // Two integers of 64 bits: only their product can be wider than 128.
    case .add: .integer(a + b)
    case .subtract: .integer(a - b)
    case .multiply:
      {
        let (product, overflow) = a.multipliedReportingOverflow(by: b);
        return overflow ? .null : .integer(product)
      }()
    case .divide: b == 0 ? .null : .integer(a / b)
    case .modulus: b == 0 ? .null : .integer(a % b)
    case .bitwiseAnd: .integer(a & b)
    case .bitwiseOr: .integer(a | b)
    case .bitwiseXor: .integer(a ^ b)
    case .leftShift: (0..<64).contains(b) ? .integer(a << b) : .null
    case .rightShift: (0..<64).contains(b) ? .integer(a >> b) : .null
    default: .null
    }
  }

  private static func real(_ function: PredicateFunction, _ a: Double, _ b: Double) -> AttributeValue {
    let result: Double
    switch function {
    case .divide where b == 0, .modulus where b == 0: return .null
    case .add: result = a + b
    case .subtract: result = a - b
    case .multiply: result = a * b
    case .divide: result = a / b
    case .modulus: result = a.truncatingRemainder(dividingBy: b)
    case .power: result = pow(a, b)
    default: return .null
    }
    return .real(result, isFinite: a.isFinite && b.isFinite)
  }

  // MARK: One argument

  private static func value(_ function: PredicateFunction, _ argument: AttributeValue) -> AttributeValue {
    switch argument {
    case .string(let text): ofText(function, text)
    case .date(let date): ofDate(function, date)
    case .int, .uint, .double, .decimal: ofNumber(function, argument)
    case .bool(let value): function == .toText ? .string(value ? "TRUE" : "FALSE") : .null
    case .uuid(let value): function == .toText ? .string(value.uuidString) : .null
    case .null, .data, .reference: .null
    }
  }

  private static func ofText(_ function: PredicateFunction, _ text: String) -> AttributeValue {
    switch function {
    case .lowercase: .string(text.lowercased())
    case .uppercase: .string(text.uppercased())
    case .length: .int(Int64(text.count))
    case .trim: .string(text.trimmingCharacters(in: .whitespacesAndNewlines))
    case .toNumber: Double(text).map { .double($0) } ?? .null
    case .toText: .string(text)
    case .toDate: ISO8601Text.date(text).map { .date($0) } ?? .null
    default: .null
    }
  }

  private static func ofDate(_ function: PredicateFunction, _ date: Date) -> AttributeValue {
    switch function {
    case .toDate: return .date(date)
    case .toNumber: return .double(date.timeIntervalSinceReferenceDate)
    case .toText: return ISO8601Text.text(date).map { .string($0) } ?? .null
    default: break
    }
    guard let parts = CalendarParts(date) else { return .null }
    switch function {
    case .year: return .int(Int64(parts.year))
    case .month: return .int(Int64(parts.month))
    case .day: return .int(Int64(parts.day))
    case .hour: return .int(Int64(parts.hour))
    case .minute: return .int(Int64(parts.minute))
    case .second: return .double(parts.second)
    case .weekday: return .int(Int64(parts.weekday))
    default: return .null
    }
  }

  private static func ofNumber(_ function: PredicateFunction, _ number: AttributeValue) -> AttributeValue {
    switch function {
    case .toText: return .string(number.digitText)
    case .toNumber: return number.real.map { .double($0) } ?? .null
    case .toDate: return number.real.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
    default: break
    }
    if let integer = number.integer {
      switch function {
      case .negate: return .integer(-integer)
      case .absolute: return .integer(abs(integer))
      case .floor, .ceiling, .round, .truncate: return number
      case .onesComplement: return .integer(~integer)
      default: break
      }
    }
    if case .decimal(let value) = number, let result = decimal(function, value) { return result }
    return number.real.map { real(function, $0) } ?? .null
  }

  private static func real(_ function: PredicateFunction, _ number: Double) -> AttributeValue {
    let result: Double
    switch function {
    case .negate: result = -number
    case .absolute: result = number.magnitude
    case .floor: result = number.rounded(.down)
    case .ceiling: result = number.rounded(.up)
    case .round: result = number.rounded(.toNearestOrAwayFromZero)
    case .truncate: result = number.rounded(.towardZero)
    case .squareRoot: result = number.squareRoot()
    case .logarithm: result = log10(number)
    case .naturalLogarithm: result = log(number)
    case .exponential: result = exp(number)
    default: return .null
    }
    return .real(result, isFinite: number.isFinite)
  }
}

extension AttributeValue {
  /// An integer's value; nil for everything else.
  var integer: Int128? {
    switch self {
    case .int(let value): Int128(value)
    case .uint(let value): Int128(value)
    default: nil
    }
  }

  /// A number's value, rounded where a Double can't hold it; nil for everything else.
  var real: Double? {
    switch self {
    case .int(let value): Double(value)
    case .uint(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): DecimalDigits(value)?.nearestDouble ?? .nan
    default: nil
    }
  }

  /// Returns the integer; nil beyond 64 bits.
  static func integer(_ value: Int128) -> AttributeValue {
    Int64(exactly: value).map(AttributeValue.int) ?? UInt64(exactly: value).map(AttributeValue.uint) ?? .null
  }

  /// Returns the number; nil if finite arguments gave a result that isn't finite.
  static func real(_ value: Double, isFinite: Bool) -> AttributeValue {
    value.isFinite || !isFinite ? .double(value) : .null
  }
}

extension AttributeKind {
  /// Returns the kind of the sum of several numbers: Double if there is a Double among them, else Decimal if there is a
  /// Decimal, else that of the integers whose sum may have any 64 bits.
  fileprivate static func ofNumbers(_ values: some Collection<AttributeValue>) -> AttributeKind {
    var kind = AttributeKind.uint64
    for value in values {
      if case .double = value { return .double }
      if case .decimal = value { kind = .decimal }
    }
    return kind
  }
}
