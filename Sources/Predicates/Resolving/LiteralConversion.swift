import Foundation

/// A literal converted to an attribute's type.
///
/// Literals are rounded to floating-point types and placed exactly among integers: `month < 2.5` is `month <= 2`, and
/// `month < 1000` holds for every Int8.
enum ConvertedLiteral {
  case null
  /// A value of the type.
  case value(AttributeValue)
  /// A literal that no value of the type equals; the greatest value below it is this.
  case above(AttributeValue)
  /// A literal greater than every value of the type.
  case aboveAll
  /// A literal less than every value of the type.
  case belowAll
  /// NaN: equal to nothing, in no order with anything.
  case unordered
}

/// A conversion of literals to the type of the attribute that they are compared with.
struct LiteralConversion {
  let path: ResolvedPath
  /// The root of the hierarchy of the entity that the path leads to, if it ends at an object.
  let root: String?

  init(to destination: PathResolver.Destination) {
    path = destination.path
    root = destination.root
  }

  /// Converts a literal to the type.
  ///
  /// - Throws: `typeMismatch`, with the path and the literal's column.
  func convert(_ literal: PredicateOperand) throws(QueryError) -> ConvertedLiteral {
    switch literal.content {
    case .value(.null): return .null
    case .value(let value):
      if let converted = try convert(value, of: literal) { return converted }
    case .digits(let digits):
      if let converted = convert(digits) { return converted }
    case .reference(let object):
      guard path.kind == .reference else { break }
      guard object.entity == root else {
        let message = "\(path.name) leads to \(root ?? "an object"), never to \(object.entity)."
        throw mismatch(message, literal)
      }
      return .value(.reference(object.number))
    default: break
    }
    throw mismatch("\(path.name) is \(path.kind.noun); it can't be compared with \(literal.noun).", literal)
  }

  private func convert(
    _ value: AttributeValue,
    of literal: PredicateOperand
  ) throws(QueryError) -> ConvertedLiteral? {
    switch (path.kind, value) {
    case (.bool, .bool), (.string, .string), (.data, .data), (.date, .date), (.uuid, .uuid),
      (.reference, .reference):
      return .value(value)
    case (.bool, .int(0)): return .value(.bool(false))
    case (.bool, .int(1)): return .value(.bool(true))
    case (.date, .string(let text)):
      guard let date = ISO8601Text.date(text) else {
        throw mismatch("\(path.name) is a date; “\(text)” is no ISO 8601 date.", literal)
      }
      return .value(.date(date))
    case (.uuid, .string(let text)):
      guard let uuid = UUID(uuidString: text) else {
        throw mismatch("\(path.name) is a UUID; “\(text)” is not one.", literal)
      }
      return .value(.uuid(uuid))
    case (let kind, .int), (let kind, .uint), (let kind, .double), (let kind, .decimal):
      return kind.isNumeric ? convert(number: value, to: kind) : nil
    default:
      return nil
    }
  }

  private func mismatch(_ message: String, _ literal: PredicateOperand) -> QueryError {
    QueryError(.typeMismatch, message, keyPath: path.name).at(literal.location)
  }
}

// MARK: - Numbers

extension LiteralConversion {
  private func convert(number: AttributeValue, to kind: AttributeKind) -> ConvertedLiteral {
    switch number {
    case .decimal(let value) where kind == .decimal: return value.isNaN ? .unordered : .value(number)
    case .decimal: return number.decimalDigits.flatMap(convert) ?? .unordered
    case .int(let value) where kind == .decimal: return .value(.decimal(Decimal(value)))
    case .uint(let value) where kind == .decimal: return .value(.decimal(Decimal(value)))
    case .int(let value) where kind == .float: return .value(.double(Double(Float(value))))
    case .uint(let value) where kind == .float: return .value(.double(Double(Float(value))))
    case .int(let value) where kind == .double: return .value(.double(Double(value)))
    case .uint(let value) where kind == .double: return .value(.double(Double(value)))
    case .int, .uint: return place(number, isExact: true, in: kind)
    case .double(let value):
      if value.isNaN { return .unordered }
      switch kind {
      case .double: return .value(number)
      case .float: return rounded(Float(value), isFinite: value.isFinite, isNegative: value < 0)
      case .decimal: return number.decimalDigits.flatMap(convert) ?? (value < 0 ? .belowAll : .aboveAll)
      default: return place(value, in: kind)
      }
    default: return .unordered
    }
  }

  /// Converts digits; nil where the attribute holds no numbers.
  private func convert(_ digits: DecimalDigits) -> ConvertedLiteral? {
    switch path.kind {
    case .float: return rounded(digits.nearestFloat, isFinite: true, isNegative: digits.isNegative)
    case .double: return rounded(digits.nearestDouble, isFinite: true, isNegative: digits.isNegative)
    case .decimal:
      guard let value = digits.nearestDecimal else { return digits.isNegative ? .belowAll : .aboveAll }
      return .value(.decimal(value))
    case let kind where kind.isInteger:
      guard let (floor, isExact) = digits.floor else { return digits.isNegative ? .belowAll : .aboveAll }
      return place(floor, isExact: isExact, in: kind)
    default: return nil
    }
  }

  /// Converts a rounded literal. A finite literal that rounds to an infinity lies between the infinity and the greatest
  /// finite value.
  private func rounded<T: BinaryFloatingPoint>(
    _ value: T,
    isFinite: Bool,
    isNegative: Bool
  ) -> ConvertedLiteral {
    guard value.isInfinite, isFinite else { return .value(.double(Double(value))) }
    return .above(.double(isNegative ? -.infinity : Double(T.greatestFiniteMagnitude)))
  }

  private func place(_ value: Double, in kind: AttributeKind) -> ConvertedLiteral {
    let floor = value.rounded(.down)
    if let integer = Int64(exactly: floor) { return place(.int(integer), isExact: floor == value, in: kind) }
    if let integer = UInt64(exactly: floor) { return place(.unsigned(integer), isExact: true, in: kind) }
    return value < 0 ? .belowAll : .aboveAll
  }

  private func place(_ floor: AttributeValue, isExact: Bool, in kind: AttributeKind) -> ConvertedLiteral {
    guard let (least, greatest) = kind.integerBounds else { return .unordered }
    if ValueComparison.precedes(floor, least) { return .belowAll }
    if ValueComparison.precedes(greatest, floor) || (!isExact && floor == greatest) { return .aboveAll }
    return isExact ? .value(floor) : .above(floor)
  }
}

extension AttributeKind {
  /// The least and the greatest integer of the kind; nil for other kinds.
  var integerBounds: (least: AttributeValue, greatest: AttributeValue)? {
    func bounds<T: FixedWidthInteger & AttributeType>(_ type: T.Type) -> (AttributeValue, AttributeValue) {
      (T.min._attributeValue, T.max._attributeValue)
    }
    return switch self {
    case .int8: bounds(Int8.self)
    case .int16: bounds(Int16.self)
    case .int32: bounds(Int32.self)
    case .int64: bounds(Int64.self)
    case .uint8: bounds(UInt8.self)
    case .uint16: bounds(UInt16.self)
    case .uint32: bounds(UInt32.self)
    case .uint64: bounds(UInt64.self)
    case .bool, .float, .double, .decimal, .date, .uuid, .string, .data, .coded, .place, .externalString,
      .externalData,
      .reference:
      nil
    }
  }
}

extension PredicateOperand {
  /// The operand in a sentence: “the number 5”.
  var noun: String {
    switch content {
    case .path(let names): names.joined(separator: ".")
    case .variable, .function, .conditional, .collection, .aggregate: formatText
    case .object: "the object itself"
    case .value(let value):
      switch value {
      case .null: "nil"
      case .bool: "a Bool"
      case .int, .uint, .double: "the number \(formatText)"
      case .decimal(let value): "the number \(value)"
      case .string: "the string \(formatText)"
      case .date: "a date"
      case .uuid: "a UUID"
      case .data: "data"
      case .reference: "an object"
      }
    case .digits(let digits): "the number \(digits)"
    case .reference(let object): "an object (\(object.entity))"
    }
  }
}
