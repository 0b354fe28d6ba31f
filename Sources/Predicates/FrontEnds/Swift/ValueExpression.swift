/// A value in a condition: the fetched object (`$0`), or the value of a path from it (`$0.album.year`).
///
/// An optional property has its wrapped type: any value may be missing at run time, because a path may lead
/// through a relationship that is nil. Compare with `nil` to test for a missing value.
@dynamicMemberLookup
public struct ValueExpression<Root, Value>: Sendable {
  @usableFromInline package let operand: Result<PredicateOperand, QueryError>

  /// The object itself, `$0` in a closure.
  @inlinable
  package static var object: ValueExpression<Root, Root> { ValueExpression<Root, Root>(.success(.object)) }

  @inlinable
  package init(_ operand: Result<PredicateOperand, QueryError>) {
    self.operand = operand
  }

  /// Returns a property of the object.
  @inlinable
  public subscript<Property>(
    dynamicMember keyPath: KeyPath<Value, Property>
  ) -> ValueExpression<Root, Property> where Value: PredicateRoot {
    ValueExpression<Root, Property>(extended(by: keyPath))
  }

  /// Returns an optional property of the object.
  @inlinable
  public subscript<Property>(
    dynamicMember keyPath: KeyPath<Value, Property?>
  ) -> ValueExpression<Root, Property> where Value: PredicateRoot {
    ValueExpression<Root, Property>(extended(by: keyPath))
  }

  // A Bool is a condition where one is needed. The subscript does this, and not the operators, so that the type
  // checker has only one `&&`, `||` and `!` to consider.

  /// Returns the condition that a property of the object is true: `{ $0.isLate && $0.month == 1 }`.
  @_disfavoredOverload
  public subscript(dynamicMember keyPath: KeyPath<Value, Bool>) -> Where<Root>
  where Value: PredicateRoot {
    ValueExpression<Root, Bool>(extended(by: keyPath)) == true
  }

  /// Returns the condition that an optional property of the object is true; false where it is missing.
  @_disfavoredOverload
  public subscript(dynamicMember keyPath: KeyPath<Value, Bool?>) -> Where<Root>
  where Value: PredicateRoot {
    ValueExpression<Root, Bool>(extended(by: keyPath)) == true
  }

  @inlinable
  package func extended(by keyPath: PartialKeyPath<Value>) -> Result<PredicateOperand, QueryError>
  where Value: PredicateRoot { operand.extended(by: Value.names(of: keyPath)) }
}

extension Result where Success == PredicateOperand, Failure == QueryError {
  /// Returns the operand with further names; the first mistake if one of the two is a mistake.
  @usableFromInline
  package func extended(by names: Result<[String], QueryError>) -> Self {
    guard case .success(let operand) = self else { return self }
    switch names {
    case .failure(let mistake): return .failure(mistake)
    case .success(let names):
      switch operand.content {
      case .path(let first): return .success(.path(first + names))
      case .variable(let variable, let first):
        return .success(PredicateOperand(.variable(variable, first + names)))
      default: return .success(.path(names))
      }
    }
  }
}

extension ValueExpression {
  /// Makes the value of a column of rows that aren't objects.
  package init(column: Result<String, QueryError>) {
    self.init(column.map { .path([$0]) })
  }
}

extension ValueExpression where Root: PredicateRoot {
  /// Makes the value of a key path from the object.
  init(_ keyPath: PartialKeyPath<Root>) {
    self.init(Result { () throws(QueryError) in .path(try Root.predicatePath(of: keyPath)) })
  }
}

// MARK: - Building conditions

extension ValueExpression {
  @inlinable
  package func compare(
    _ comparison: ComparisonOperator,
    _ other: PredicateOperand,
    _ options: StringOptions = []
  ) -> Where<Root> {
    Where(Condition(operand, comparison, other, options))
  }

  /// Returns a comparison of two values of the same object.
  func compare(_ comparison: ComparisonOperator, _ other: ValueExpression<Root, Value>) -> Where<Root> {
    Where(operand.flatMap { left in other.operand.map { .comparison(left, comparison, $0, []) } })
  }

  func compare(_ comparison: ComparisonOperator, toObject other: some ObjectReferencing) -> Where<Root> {
    Where(
      operand.flatMap { left in
        other.referenceOperand.map { .comparison(left, comparison, $0, []) }
      }
    )
  }

  func isAmong(_ elements: [PredicateOperand], _ options: StringOptions = []) -> Where<Root> {
    Where(operand.map { .membership($0, elements, options) })
  }

  func isAmong(objects: some Sequence<some ObjectReferencing>) -> Where<Root> {
    Where(
      operand.flatMap { left in
        Result { () throws(QueryError) in
          var elements: [PredicateOperand] = []
          for object in objects { elements.append(try object.referenceOperand.get()) }
          return .membership(left, elements, [])
        }
      }
    )
  }
}

extension ObjectReferencing {
  var referenceOperand: Result<PredicateOperand, QueryError> {
    guard let objectReference else { return .failure(.objectWithoutID) }
    return .success(.reference(objectReference))
  }
}

extension AttributeType {
  @inlinable
  package var operand: PredicateOperand { .value(_attributeValue) }
}

extension QueryError {
  static var objectWithoutID: QueryError {
    QueryError(
      .arguments,
      "An object that is in no context can't be compared with others: no store has its provisional ID."
    )
  }
}
