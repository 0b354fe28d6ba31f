import Foundation

extension Where where Root: PredicateRoot {
  /// Makes a condition from one of Foundation's `#Predicate`.
  ///
  /// ```swift
  /// let year = 1980
  /// let old = Where(#Predicate<Song> { $0.album?.year ?? 2000 < year && $0.title.contains("blue") })
  /// ```
  ///
  /// Every expression of swift-foundation converts if a query can express it; parts without the predicate's own
  /// variable are calculated at once. An expression that doesn't convert causes an error of code `syntax` that
  /// names it, thrown when the condition is used.
  ///
  /// The condition has the results of Foundation's `evaluate`, with these differences. Where `evaluate` throws,
  /// because a force-unwrapped value is missing or a force-cast object is of another class, the value counts as
  /// nil. Strings compare by their bytes, not by canonical equivalence. A calculation that overflows is nil.
  /// `first`, `last` and `[n]` of a to-many relationship, an ordered one too, follow the order of its objects' IDs.
  public init(_ predicate: Foundation.Predicate<Root>) {
    self.init(
      Result { () throws(QueryError) in
        var conversion = FoundationConversion()
        conversion.variables[predicate.variable.key] = .operand(.object)
        return try conversion.condition(predicate.expression)
      }
    )
  }
}

/// The conversion of Foundation's expressions into trees.
struct FoundationConversion {
  /// The result of converting an expression.
  indirect enum Converted {
    case condition(PredicateTree)
    /// A condition on an optional: nil where the second one doesn't hold.
    case optionalCondition(PredicateTree, isPresent: PredicateTree)
    case operand(PredicateOperand)
    /// An object as another class, or the value of a path from it: nil where the condition doesn't hold.
    case optionalOperand(PredicateOperand, isPresent: PredicateTree)
    /// A constant collection.
    case list([PredicateOperand])
    /// A range, as a function that makes its condition on a value.
    case range((PredicateOperand) -> PredicateTree)
    /// A constant that is none of these, such as the result of a comparison in three ways.
    case constant(Any)
    /// The order of two strings, compared with these options; a comparison of this order with a constant follows.
    case order(PredicateOperand, PredicateOperand, StringOptions)

    /// The condition under which an optional condition has a value; nil for anything but an optional condition.
    var presence: PredicateTree? {
      if case .optionalCondition(_, let isPresent) = self { isPresent } else { nil }
    }
  }

  var variables: [PredicateExpressions.VariableID: Converted] = [:]
  /// The number of enclosing closures.
  var depth = 0

  /// Converts an expression.
  ///
  /// - Throws: `syntax`, naming an expression that has no counterpart.
  mutating func converted(_ expression: any PredicateExpression) throws(QueryError) -> Converted {
    do throws(QueryError) {
      guard let node = expression as? any FoundationExpression else {
        throw Self.unsupported(type(of: expression))
      }
      return try node.converted(by: &self)
    } catch {
      // Foundation calculates only expressions without a counterpart: its arithmetic traps where a query's gives nil.
      guard let constant = Self.constant(expression) else { throw error }
      return try Self.literal(constant)
    }
  }

  /// Returns the value of an expression without variables.
  private static func constant(_ expression: some PredicateExpression) -> Any? {
    try? expression.evaluate(PredicateBindings())
  }

  static func unsupported(_ type: Any.Type) -> QueryError {
    var name = "\(type)"
    if let generics = name.firstIndex(of: "<") { name = String(name[..<generics]) }
    return QueryError(.syntax, "#Predicate's expression \(name) has no counterpart in a query.")
  }

  mutating func condition(_ expression: any PredicateExpression) throws(QueryError) -> PredicateTree {
    try Self.condition(try converted(expression), type(of: expression))
  }

  static func condition(_ converted: Converted, _ type: Any.Type) throws(QueryError) -> PredicateTree {
    switch converted {
    case .condition(let tree): return tree
    case .optionalCondition(let tree, let isPresent): return .all([isPresent, tree])
    case .operand(let operand):
      if case .value(.bool(let value)) = operand.content { return .constant(value) }
      return .comparison(operand, .equal, .value(.bool(true)), [])
    case .optionalOperand(let operand, let isPresent):
      return .all([isPresent, .comparison(operand, .equal, .value(.bool(true)), [])])
    case .list, .range, .constant, .order: throw unsupported(type)
    }
  }

  mutating func operand(_ expression: any PredicateExpression) throws(QueryError) -> PredicateOperand {
    guard let operand = Self.operand(of: try converted(expression)) else {
      throw Self.unsupported(type(of: expression))
    }
    return operand
  }

  /// Returns the value of an operand or of a condition; nil for everything else.
  static func operand(of converted: Converted) -> PredicateOperand? {
    switch converted {
    case .operand(let operand): operand
    case .optionalOperand(let operand, let isPresent):
      PredicateOperand(.conditional(isPresent, operand, .value(.null)))
    case .condition(let tree): truth(of: tree)
    case .optionalCondition(let tree, let isPresent):
      PredicateOperand(.conditional(isPresent, truth(of: tree), .value(.null)))
    case .list, .range, .constant, .order: nil
    }
  }

  static func truth(of tree: PredicateTree) -> PredicateOperand {
    PredicateOperand(.conditional(tree, .value(.bool(true)), .value(.bool(false))))
  }

  mutating func call(
    _ function: PredicateFunction,
    _ arguments: any PredicateExpression...
  ) throws(QueryError) -> Converted {
    var operands: [PredicateOperand] = []
    for argument in arguments { operands.append(try operand(argument)) }
    return .operand(PredicateOperand(.function(function, operands)))
  }

  /// Returns the collection that an expression leads to.
  mutating func collection(_ expression: any PredicateExpression) throws(QueryError) -> PredicateCollection {
    let operand: PredicateOperand? =
      switch try converted(expression) {
      // An object of another class has no elements.
      case .optionalOperand(let operand, _): operand
      case let converted: Self.operand(of: converted)
      }
    guard let collection = operand?.content.asCollection else { throw Self.unsupported(type(of: expression)) }
    return collection
  }

  /// Returns the elements of a collection for which a closure's condition holds.
  mutating func filtered(
    _ sequence: any PredicateExpression,
    _ variable: PredicateExpressions.VariableID,
    _ test: any PredicateExpression,
    isNegated: Bool = false
  ) throws(QueryError) -> PredicateCollection {
    var collection = try collection(sequence)
    depth += 1
    defer { depth -= 1 }
    let name = "e\(depth)"
    variables[variable] = .operand(PredicateOperand(.variable(name, [])))
    var condition = try self.condition(test)
    if isNegated { condition = .not(condition) }
    if let filter = collection.filter { condition = .all([filter.condition, condition]) }
    collection.filter = .init(variable: name, condition: condition)
    return collection
  }

  // MARK: Constants

  static func literal(_ value: Any) throws(QueryError) -> Converted {
    if let value = value as? any OptionalValue, value.isNil { return .operand(.value(.null)) }
    let value = (value as? any OptionalValue)?.unwrapped ?? value
    if let bool = value as? Bool { return .operand(.value(.bool(bool))) }
    if let range = value as? any AttributeRange { return .range(Self.test(range)) }
    if let object = value as? any ObjectReferencing { return .operand(try object.referenceOperand.get()) }
    if let argument = value as? any PredicateArgument, case .list(let elements) = argument._predicateArgument
    {
      var operands: [PredicateOperand] = []
      for element in elements {
        switch element {
        case .value(let value): operands.append(.value(value))
        case .object(let object): operands.append(.reference(object))
        default: throw QueryError(.arguments, "A list in a list is not supported.")
        }
      }
      return .list(operands)
    }
    if let value = value as? any AttributeType { return .operand(value.operand) }
    return .constant(value)
  }

  private static func test<Range: AttributeRange>(_ range: Range) -> (PredicateOperand) -> PredicateTree {
    { operand in
      func bound(
        _ bound: (value: Range.Bound, isIncluded: Bool)?,
        _ comparisons: (ComparisonOperator, ComparisonOperator)
      )
        -> PredicateTree?
      {
        guard let bound, let value = bound.value as? any AttributeType else { return nil }
        return .comparison(operand, bound.isIncluded ? comparisons.0 : comparisons.1, value.operand, [])
      }
      let bounds = [
        bound(range._lowerAttributeBound, (.greaterOrEqual, .greater)),
        bound(range._upperAttributeBound, (.lessOrEqual, .less)),
      ]
      return .all(bounds.compactMap { $0 })
    }
  }
}

/// An expression that has a counterpart in a query, or parts that do.
protocol FoundationExpression {
  func converted(
    by conversion: inout FoundationConversion
  ) throws(QueryError) -> FoundationConversion.Converted
}

/// An optional of any wrapped type.
private protocol OptionalValue {
  var isNil: Bool { get }
  var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var isNil: Bool { self == nil }
  fileprivate var unwrapped: Any? { self }
}
