extension ValueExpression {
  /// An attribute that is transformed, as what it is stored as: `{ $0.length.stored(as: Double.self) > 3_600 }`.
  ///
  /// The query says whether the type is that of the attribute.
  public func stored<Stored: AttributeType>(as type: Stored.Type) -> ValueExpression<Root, Stored> {
    ValueExpression<Root, Stored>(operand)
  }
}
