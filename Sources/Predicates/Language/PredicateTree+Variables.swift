// Templates: predicates with variables whose values come later.

extension PredicateTree {
  /// Returns the predicate with values in place of its variables.
  ///
  /// ```swift
  /// let template = try PredicateTree(format: "seconds > $LONG AND album IN $ALBUMS")
  /// let long = try template.replacingVariables(["LONG": 600, "ALBUMS": [blue, hejira]])
  /// ```
  ///
  /// A list or a range can replace a variable only on the right side of `IN` or `BETWEEN`; `BETWEEN` takes two
  /// values or a closed range. Variables of conditions on elements are not replaced. Other variables may be left
  /// for a later replacement.
  ///
  /// - Throws: `arguments` where a value isn't allowed. O(size of the tree).
  public func replacingVariables(
    _ values: [String: (any PredicateArgument)?]
  ) throws(QueryError) -> PredicateTree {
    try VariableReplacement(values: values.mapValues { $0?._predicateArgument ?? .value(.null) }).replace(
      self
    )
  }
}

extension Where {
  /// Returns the condition with values in place of its variables; see ``PredicateTree/replacingVariables(_:)``.
  public func replacingVariables(_ values: [String: (any PredicateArgument)?]) -> Where {
    Where(
      condition.content.flatMap { tree in
        Result { () throws(QueryError) in try tree.replacingVariables(values) }
      }
    )
  }
}

private struct VariableReplacement {
  var values: [String: FormatArgument]

  func replace(_ tree: PredicateTree) throws(QueryError) -> PredicateTree {
    switch tree {
    case .constant: return tree
    case .comparison(let left, .contains, let right, let options):
      return try membership(of: try replace(right), in: left, options)
    case .comparison(let left, let comparison, let right, let options):
      return .comparison(try replace(left), comparison, try replace(right), options)
    case .membership(let operand, let elements, let options):
      return .membership(try replace(operand), try replace(elements), options)
    case .between(let operand, let lower, let upper):
      let operand = try replace(operand)
      if let bounds = VariableRange(lower: lower, upper: upper), let value = values[bounds.variable] {
        let (lower, upper) = try self.bounds(value, bounds)
        return .between(operand, lower, upper)
      }
      return .between(operand, try replace(lower), try replace(upper))
    case .quantified(let quantifier, let child): return .quantified(quantifier, try replace(child))
    case .not(let child): return .not(try replace(child))
    case .and(let children): return .all(try replace(children))
    case .or(let children): return .any(try replace(children))
    }
  }

  private func replace(_ trees: [PredicateTree]) throws(QueryError) -> [PredicateTree] {
    var result: [PredicateTree] = []
    for tree in trees { result.append(try replace(tree)) }
    return result
  }

  private func replace(_ operands: [PredicateOperand]) throws(QueryError) -> [PredicateOperand] {
    var result: [PredicateOperand] = []
    for operand in operands { result.append(try replace(operand)) }
    return result
  }

  /// Returns `$V CONTAINS x`, the form in which `x IN $V` is kept, with the variable replaced.
  private func membership(
    of element: PredicateOperand,
    in collection: PredicateOperand,
    _ options: StringOptions
  ) throws(QueryError) -> PredicateTree {
    guard case .variable(let name, []) = collection.content, let value = values[name] else {
      return .comparison(try replace(collection), .contains, element, options)
    }
    switch value {
    case .list(let elements):
      var operands: [PredicateOperand] = []
      for value in elements { operands.append(try operand(value, named: name, at: collection.location)) }
      return .membership(element, operands, options)
    case .range(let range) where options.isEmpty:
      return range.tree(for: element)
    default:
      return .comparison(try replace(collection), .contains, element, options)
    }
  }

  /// Returns the bounds of `BETWEEN $R`.
  private func bounds(
    _ value: FormatArgument,
    _ range: VariableRange
  ) throws(QueryError) -> (lower: PredicateOperand, upper: PredicateOperand) {
    switch value {
    case .list(let values) where values.count == 2:
      return (
        try operand(values[0], named: range.variable, at: range.location),
        try operand(values[1], named: range.variable, at: range.location)
      )
    case .range(let values):
      guard let lower = values.lower, let upper = values.upper, lower.isIncluded, upper.isIncluded else {
        break
      }
      return (
        PredicateOperand(.value(lower.value), at: range.location),
        PredicateOperand(.value(upper.value), at: range.location)
      )
    default: break
    }
    let message = "BETWEEN takes two values or a closed range for $\(range.variable)."
    throw QueryError(.arguments, message).at(range.location)
  }

  private func replace(_ operand: PredicateOperand) throws(QueryError) -> PredicateOperand {
    var result = operand
    switch operand.content {
    case .path, .object, .value, .digits, .reference: return operand
    case .variable(let name, let names):
      guard let value = values[name] else { return operand }
      guard names.isEmpty else {
        throw QueryError(.arguments, "$\(name) is a value here: it has no properties.").at(operand.location)
      }
      return try self.operand(value, named: name, at: operand.location)
    case .function(let function, let arguments):
      result.content = .function(function, try replace(arguments))
    case .conditional(let condition, let first, let second):
      result.content = .conditional(try replace(condition), try replace(first), try replace(second))
    case .collection(let collection): result.content = .collection(try replace(collection))
    case .aggregate(let aggregate, let collection):
      result.content = .aggregate(aggregate, try replace(collection))
    }
    return result
  }

  /// Replaces variables in a collection. The variable of a condition on elements is not replaced inside this condition.
  private func replace(_ collection: PredicateCollection) throws(QueryError) -> PredicateCollection {
    guard let filter = collection.filter else { return collection }
    var inner = self
    inner.values[filter.variable] = nil
    var collection = collection
    collection.filter?.condition = try inner.replace(filter.condition)
    return collection
  }

  private func operand(
    _ value: FormatArgument,
    named name: String,
    at location: SourceLocation?
  ) throws(QueryError) -> PredicateOperand {
    switch value {
    case .value(let value): return PredicateOperand(.value(value), at: location)
    case .object(let object): return PredicateOperand(.reference(object), at: location)
    case .objectWithoutID: throw QueryError.objectWithoutID.at(location)
    case .list, .range:
      throw QueryError(.arguments, "The list or range for $\(name) goes on the right of IN or BETWEEN only.")
        .at(location)
    }
  }
}
