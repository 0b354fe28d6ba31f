/// The two bounds of `BETWEEN $R`, the first and the last value of a list of two values or a range that comes
/// later.
struct VariableRange {
  let variable: String
  let location: SourceLocation?

  /// Makes the range of a variable operand. Nil where the right side of `BETWEEN` is no variable.
  init?(_ operand: PredicateOperand) {
    guard case .variable(let name, []) = operand.content else { return nil }
    variable = name
    location = operand.location
  }

  /// Makes the range of two bounds. Nil where the bounds are not the first and the last value of one variable.
  init?(lower: PredicateOperand, upper: PredicateOperand) {
    guard case .aggregate(.element(0), let first) = lower.content, let name = first.variable,
      first == PredicateCollection(variable: name, names: []),
      case .aggregate(.last, first) = upper.content
    else { return nil }
    variable = name
    location = lower.location
  }

  var lower: PredicateOperand { bound(.element(0)) }
  var upper: PredicateOperand { bound(.last) }

  private func bound(_ place: PredicateAggregate) -> PredicateOperand {
    PredicateOperand(.aggregate(place, PredicateCollection(variable: variable, names: [])), at: location)
  }
}
