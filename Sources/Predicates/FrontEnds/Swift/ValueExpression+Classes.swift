extension ValueExpression {
  /// Returns the condition that the object is of the class with this name, or of a subclass.
  package func isKind(ofClass name: String) -> Where<Root> {
    Where(operand.map { $0.isKind(ofClass: name) })
  }
}

extension PredicateOperand {
  /// Returns the condition that the object is of the class with this name, or of a subclass.
  func isKind(ofClass name: String) -> PredicateTree {
    var kind = self
    switch content {
    case .path(let names): kind.content = .path(names + [ClassTest.kindName])
    case .variable(let variable, let names): kind.content = .variable(variable, names + [ClassTest.kindName])
    default: kind.content = .path([ClassTest.kindName])
    }
    return .comparison(kind, .equal, .value(.string(name)), [])
  }
}
