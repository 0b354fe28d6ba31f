extension ValueExpression {
  /// Returns the stored value of a transformed attribute: `{ $0.length.stored(as: Double.self) > 3_600 }`.
  ///
  /// The query checks whether the type is that of the attribute.
  public func stored<Stored: AttributeType>(as type: Stored.Type) -> ValueExpression<Root, Stored> {
    ValueExpression<Root, Stored>(operand)
  }
}
