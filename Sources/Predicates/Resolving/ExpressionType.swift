/// The type of an expression's value, for comparing and calculating.
enum ExpressionType: Hashable {
  /// The type of nil, whatever nil is compared with.
  case null
  case bool
  case integer
  case real
  case decimal
  case string
  case date
  case uuid
  case data
  case coded
  case external
  /// An object of an entity, which is nil if it isn't known.
  case object(String?)

  init(_ destination: PathResolver.Destination) {
    self =
      switch destination.path.kind {
      case .bool: .bool
      case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: .integer
      case .float, .double: .real
      case .decimal: .decimal
      case .date: .date
      case .uuid: .uuid
      case .string: .string
      case .data, .place: .data
      case .coded: .coded
      case .externalString, .externalData: .external
      case .reference: .object(destination.root)
      }
  }

  init(_ value: AttributeValue) {
    self =
      switch value {
      case .null: .null
      case .bool: .bool
      case .int, .uint: .integer
      case .double: .real
      case .decimal: .decimal
      case .date: .date
      case .uuid: .uuid
      case .string: .string
      case .data: .data
      case .reference: .object(nil)
      }
  }

  var isNumeric: Bool { self == .integer || self == .real || self == .decimal }

  /// True if values of the type have an order.
  var isOrdered: Bool { if case .object = self { false } else { isComparable } }

  /// True if values of the type can be compared for equality.
  var isComparable: Bool { self != .coded && self != .external }

  /// The type in a sentence: “a number”.
  var noun: String {
    switch self {
    case .null: "nil"
    case .bool: "a Bool"
    case .integer, .real, .decimal: "a number"
    case .string: "a string"
    case .date: "a date"
    case .uuid: "a UUID"
    case .data: "data"
    case .coded: "an encoded value"
    case .external: "an externally stored value"
    case .object: "an object"
    }
  }

  /// Returns the common type of the values of both; nil if there is none.
  func common(with other: ExpressionType) -> ExpressionType? {
    switch (self, other) {
    case (.null, let type), (let type, .null): type
    case (.integer, .real), (.real, .integer), (.decimal, .real), (.real, .decimal): .real
    case (.integer, .decimal), (.decimal, .integer): .decimal
    // Equal values may be encoded in two ways; and a condition doesn't read values outside of records.
    case (.coded, .coded), (.external, .external): nil
    case (.object(let first), .object(let second)):
      first == second || second == nil ? self : first == nil ? other : nil
    default: self == other ? self : nil
    }
  }
}

extension PredicateFunction {
  /// Returns the type of the function's value; nil where the function doesn't take such arguments.
  func type(of arguments: [ExpressionType]) -> ExpressionType? {
    let types = arguments.filter { $0 != .null }
    let numeric = types.allSatisfy(\.isNumeric)
    let number = numeric ? types.reduce(ExpressionType.integer) { $0.common(with: $1) ?? .real } : nil
    switch self {
    case .add:
      if !types.isEmpty, types.allSatisfy({ $0 == .string }) { return .string }
      return number
        ?? (Set(types).isSubset(of: [.date, .integer, .real, .decimal]) && types.count { $0 == .date } == 1
          ? .date : nil)
    case .subtract:
      if types == [.date, .date] { return .real }
      return number ?? (types.first == .date && types.dropFirst().allSatisfy(\.isNumeric) ? .date : nil)
    case .multiply, .divide, .modulus, .negate, .floor, .ceiling, .round, .truncate, .absolute, .sum:
      return number
    case .average: return number == .decimal ? .decimal : numeric ? .real : nil
    case .power, .squareRoot, .logarithm, .naturalLogarithm, .exponential: return numeric ? .real : nil
    case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement:
      return types.allSatisfy { $0 == .integer } ? .integer : nil
    case .minimum, .maximum:
      let common = types.reduce(ExpressionType?.some(.null)) { $0?.common(with: $1) }
      return types.allSatisfy(\.isOrdered) ? common : nil
    case .lowercase, .uppercase, .trim: return types.allSatisfy { $0 == .string } ? .string : nil
    case .length: return types.allSatisfy { $0 == .string } ? .integer : nil
    case .now: return .date
    case .year, .month, .day, .hour, .minute, .weekday:
      return types.allSatisfy { $0 == .date } ? .integer : nil
    case .second: return types.allSatisfy { $0 == .date } ? .real : nil
    case .toNumber: return types.allSatisfy { $0.isNumeric || $0 == .string || $0 == .date } ? .real : nil
    case .toText:
      return types.allSatisfy { $0.isOrdered && $0 != .data } ? .string : nil
    case .toDate: return types.allSatisfy { $0.isNumeric || $0 == .string || $0 == .date } ? .date : nil
    }
  }
}

extension PredicateAggregate {
  /// Returns the type of the aggregate of several values of a type; nil if it doesn't accept such values.
  func type(of element: ExpressionType) -> ExpressionType? {
    switch self {
    case .count: .integer
    case .sum: element.isNumeric ? element : nil
    case .average, .median: element == .decimal ? .decimal : element.isNumeric ? .real : nil
    case .standardDeviation: element.isNumeric ? .real : nil
    case .minimum, .maximum: element.isOrdered ? element : nil
    case .mode: element.isComparable ? element : nil
    case .element, .last: element
    }
  }
}
