extension PredicateResolver {
  mutating func compare(
    _ left: Side,
    _ comparison: ComparisonOperator,
    _ right: Side,
    _ options: StringOptions,
    at locations: (left: SourceLocation?, right: SourceLocation?)
  ) throws(QueryError) -> ResolvedPredicate {
    let left = comparison == .contains ? elements(of: left) : left
    if comparison.takesPattern { try checkPattern(left, comparison, right, options, at: locations.right) }
    switch (left, right) {
    case (.path(let destination), .literal(let literal)):
      return try Self.compare(destination, comparison, literal, options)
    case (.literal(let literal), .path(let destination)):
      guard let mirrored = comparison.mirrored else {
        return try compareExpressions(left, comparison, right, options, at: locations)
      }
      return try Self.compare(destination, mirrored, literal, options)
    case (.path(let first), .path(let second)):
      try first.checkIsValue(at: locations.left)
      try second.checkIsValue(at: locations.right)
      try Self.check(first, comparison, options, at: locations.left)
      guard Self.areComparable(first, second) else {
        let (one, two) = (first.path, second.path)
        let message =
          "\(one.name) is \(first.noun) and \(two.name) is \(second.noun): they can't be compared."
        throw QueryError(.typeMismatch, message, keyPath: two.name).at(locations.right)
      }
      return .comparePaths(first.path, comparison, second.path, options)
    case (.literal(let first), .literal(let second)):
      return .constant(try LiteralComparison.holds(first, comparison, second, options))
    case (.collection(let collection, let value), _) where comparison == .contains:
      let inner = try compare(.path(value), .equal, right, options, at: locations)
      return .exists(in: collection, where: inner)
    case (.collection(let collection, _), _):
      throw Self.severalValues(collection, at: locations.left)
    case (_, .collection(let collection, _)):
      throw Self.severalValues(collection, at: locations.right)
    case (.expression, _), (_, .expression):
      return try compareExpressions(left, comparison, right, options, at: locations)
    }
  }

  /// Checks that the right side is a pattern.
  private func checkPattern(
    _ left: Side,
    _ comparison: ComparisonOperator,
    _ right: Side,
    _ options: StringOptions,
    at location: SourceLocation?
  ) throws(QueryError) {
    var keyPath: String?
    if case .path(let destination) = left { keyPath = destination.path.name }
    guard case .literal(let literal) = right else {
      let message = "The pattern of \(comparison.rawValue) must be a literal or an argument."
      throw QueryError(.typeMismatch, message, keyPath: keyPath).at(location)
    }
    guard comparison == .matches, case .string(let pattern) = literal.literalValue else { return }
    do throws(QueryError) {
      _ = try RegexPattern(pattern, options)
    } catch {
      var error = error.at(location)
      error.keyPath = keyPath
      throw error
    }
  }

  private static func severalValues(
    _ collection: ResolvedCollection,
    at location: SourceLocation?
  ) -> QueryError {
    let message =
      "\(collection.name) leads to many objects, not to one value: say ANY, ALL or NONE, or make one value of them (@count, @sum, …)."
    return QueryError(.typeMismatch, message, keyPath: collection.name).at(location)
  }

  /// Compares a path's value with a literal.
  static func compare(
    _ destination: PathResolver.Destination,
    _ comparison: ComparisonOperator,
    _ literal: PredicateOperand,
    _ options: StringOptions
  ) throws(QueryError) -> ResolvedPredicate {
    let path = destination.path
    if let test = destination.classTest { return try test.resolved(path, comparison, literal) }
    try check(destination, comparison, options, at: literal.location)
    switch try LiteralConversion(to: destination).convert(literal) {
    case .null:
      switch comparison {
      case .equal: return .isNull(path)
      case .notEqual: return .not(.isNull(path))
      default: return .constant(false)
      }
    case .value(let value):
      if value.isNaN { return .constant(comparison == .notEqual) }
      return .compare(path, comparison, value, options)
    case .above(let floor):
      switch comparison {
      case .less, .lessOrEqual: return .compare(path, .lessOrEqual, floor, options)
      case .greater, .greaterOrEqual: return .compare(path, .greater, floor, options)
      default: return .constant(comparison == .notEqual)
      }
    case .aboveAll:
      let isBelow = comparison == .less || comparison == .lessOrEqual
      return isBelow ? path.isComparable : .constant(comparison == .notEqual)
    case .belowAll:
      let isAbove = comparison == .greater || comparison == .greaterOrEqual
      return isAbove ? path.isComparable : .constant(comparison == .notEqual)
    case .unordered:
      return .constant(comparison == .notEqual)
    }
  }

  /// Checks that the operator and the options fit the attribute's type.
  static func check(
    _ destination: PathResolver.Destination,
    _ comparison: ComparisonOperator,
    _ options: StringOptions,
    at location: SourceLocation?
  ) throws(QueryError) {
    let path = destination.path
    if comparison == .contains, path.kind != .string {
      var error = nothingToLookInto("\(path.name), \(path.kind.noun),")
      error.keyPath = path.name
      throw error.at(location)
    }
    if comparison.isStringOperator, path.kind != .string {
      let message = "\(path.name) is \(path.kind.noun); \(comparison.rawValue) goes with strings."
      throw QueryError(.typeMismatch, message, keyPath: path.name).at(location)
    }
    if !options.isEmpty, path.kind != .string {
      let message = "\(path.name) is \(path.kind.noun); \(options.formatText) goes with strings."
      throw QueryError(.typeMismatch, message, keyPath: path.name).at(location)
    }
    if comparison.isOrdering, path.kind == .reference {
      let message =
        "\(path.name) is an object; objects have no order, so \(comparison.rawValue) can't compare them."
      throw QueryError(.typeMismatch, message, keyPath: path.name).at(location)
    }
  }

  /// Returns the error for a left side of CONTAINS, or a right side of IN, that contains no values.
  static func nothingToLookInto(_ noun: String) -> QueryError {
    let message = "\(noun) is no list, no range and no string: IN and CONTAINS search only these."
    return QueryError(.typeMismatch, message)
  }

  private static func areComparable(
    _ first: PathResolver.Destination,
    _ second: PathResolver.Destination
  ) -> Bool {
    let (one, two) = (first.path.kind, second.path.kind)
    if one.isNumeric && two.isNumeric { return true }
    return one == two && one.isComparable && first.root == second.root
  }
}

extension PathResolver.Destination {
  /// The value of the path in a sentence: “a string”, “an object (Flight)”.
  fileprivate var noun: String { path.kind.noun + (entity.map { " (\($0))" } ?? "") }
}
