extension ValueExpression {
  /// Whether the object is one of the class of this name, or of one below it.
  package func isKind(ofClass name: String) -> Where<Root> {
    let kind = operand.map { operand in
      switch operand.content {
      case .path(let names): PredicateOperand.path(names + [ClassTest.kindName])
      case .variable(let variable, let names):
        PredicateOperand(.variable(variable, names + [ClassTest.kindName]))
      default: PredicateOperand.path([ClassTest.kindName])
      }
    }
    return Where(kind.map { .comparison($0, .equal, .value(.string(name)), []) })
  }
}
