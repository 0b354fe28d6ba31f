extension PredicateResolver {
  mutating func resolve(
    _ side: Side,
    _ operand: PredicateOperand,
    in elements: [PredicateOperand],
    _ options: StringOptions,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    guard case .path(let destination) = side, destination.classTest == nil else {
      return try anyEqual(side, operand, elements, options, depth)
    }
    try Self.check(destination, .equal, options, at: operand.location)
    var literals: [PredicateOperand] = []
    literals.reserveCapacity(elements.count)
    var others: [PredicateOperand] = []
    for element in elements {
      if case .literal(let literal) = try self.side(element, depth) {
        literals.append(literal)
      } else {
        others.append(element)
      }
    }
    let among = try Self.among(destination, literals, options)
    if others.isEmpty { return among }
    return .or([among, try anyEqual(side, operand, others, options, depth)])
  }

  /// Returns the predicate that a path's value is one of some literals.
  static func among(
    _ destination: PathResolver.Destination,
    _ literals: [PredicateOperand],
    _ options: StringOptions
  ) throws(QueryError) -> ResolvedPredicate {
    let conversion = LiteralConversion(to: destination)
    var values: [AttributeValue] = []
    values.reserveCapacity(literals.count)
    var includesNull = false
    for literal in literals {
      switch try conversion.convert(literal) {
      case .null: includesNull = true
      case .value(let value): if !value.isNaN { values.append(value) }
      // These literals equal no value of the attribute's type.
      case .above, .aboveAll, .belowAll, .unordered: break
      }
    }
    return .among(destination.path, values, includesNull: includesNull, options)
  }

  private mutating func anyEqual(
    _ side: Side,
    _ operand: PredicateOperand,
    _ elements: [PredicateOperand],
    _ options: StringOptions,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    var alternatives: [ResolvedPredicate] = []
    for element in elements {
      let other = try self.side(element, depth)
      alternatives.append(
        try compare(side, .equal, other, options, at: (operand.location, element.location))
      )
    }
    return .or(alternatives)
  }

  mutating func resolve(
    _ side: Side,
    _ operand: PredicateOperand,
    from lower: PredicateOperand,
    to upper: PredicateOperand,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    let bounds = (try self.side(lower, depth), try self.side(upper, depth))
    guard case .path(let destination) = side, destination.classTest == nil,
      case .literal(let lower) = bounds.0,
      case .literal(let upper) = bounds.1
    else {
      return .and([
        try compare(side, .greaterOrEqual, bounds.0, [], at: (operand.location, lower.location)),
        try compare(side, .lessOrEqual, bounds.1, [], at: (operand.location, upper.location)),
      ])
    }
    try Self.check(destination, .lessOrEqual, [], at: operand.location)
    return try Self.between(destination, lower, upper)
  }

  /// Returns the predicate that a path's value is between two literals.
  static func between(
    _ destination: PathResolver.Destination,
    _ lower: PredicateOperand,
    _ upper: PredicateOperand
  ) throws(QueryError) -> ResolvedPredicate {
    let path = destination.path
    let conversion = LiteralConversion(to: destination)
    var range = ValueRange(lower: nil, upper: nil)
    let (low, high) = (try conversion.convert(lower), try conversion.convert(upper))
    switch low {
    case .value(let value) where !value.isNaN: range.lower = .init(value, isIncluded: true)
    case .above(let floor): range.lower = .init(floor, isIncluded: false)
    case .belowAll: break
    case .null, .value, .aboveAll, .unordered: return .constant(false)
    }
    switch high {
    case .value(let value) where !value.isNaN: range.upper = .init(value, isIncluded: true)
    case .above(let floor): range.upper = .init(floor, isIncluded: true)
    case .aboveAll: break
    case .null, .value, .belowAll, .unordered: return .constant(false)
    }
    return range.lower == nil && range.upper == nil ? path.isComparable : .within(path, range)
  }
}
