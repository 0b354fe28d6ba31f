extension PredicateOperand {
  /// Returns the operand with the value of another one where this one is missing: `a ?? b`.
  ///
  /// `(a ?? b) ?? c` becomes `a ?? (b ?? c)`, which has the same value. A conditional has the operand that it tests
  /// twice, so each level of the first form would double the operand's size.
  func replacingNil(with other: PredicateOperand) -> PredicateOperand {
    if isLiteral { return self == .value(.null) ? other : self }
    if case .conditional(.comparison(let tested, .equal, let null, let options), let fallback, let subject) =
      content,
      null == .value(.null), options.isEmpty, tested == subject
    {
      return subject.ifPresent(else: fallback.replacingNil(with: other))
    }
    return ifPresent(else: other)
  }

  private func ifPresent(else other: PredicateOperand) -> PredicateOperand {
    PredicateOperand(.conditional(.comparison(self, .equal, .value(.null), []), other, self))
  }
}
