/// A type with elements that conditions can test: the type of a to-many relationship, or of a list of values.
public protocol PredicateSequence: Sequence {}

/// A type of a to-many relationship, as far as conditions need it.
public protocol PredicateElements: PredicateSequence where Element: PredicateRoot {}

extension Array: PredicateSequence {}
extension Array: PredicateElements where Element: PredicateRoot {}

extension Set: PredicateSequence {}
extension Set: PredicateElements where Element: PredicateRoot {}

// Conditions on the elements of a to-many relationship or a list, and values computed from them.

extension ValueExpression where Value: PredicateSequence {
  /// An element, in a condition on it.
  public typealias ElementExpression = ValueExpression<Root, Value.Element>

  /// Returns the condition that an element meets `condition`: `$0.songs.any { $0.seconds > 600 }`. `condition`
  /// may also use the object.
  public func any(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> {
    filter(condition).count > 0
  }

  /// Returns the condition that each element meets `condition`; true without elements.
  public func all(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> {
    filter { !condition($0) }.count == 0
  }

  /// Returns the condition of ``any(_:)``; this is the function's name in the standard library:
  /// `$0.songs.contains { $0.seconds > 600 }`.
  public func contains(where condition: (ElementExpression) -> Where<Root>) -> Where<Root> { any(condition) }

  /// Returns the condition of ``all(_:)``; this is the function's name in the standard library.
  public func allSatisfy(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> { all(condition) }

  /// Returns the condition that no element meets `condition`.
  public func none(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> {
    filter(condition).count == 0
  }

  /// Returns the elements that meet the condition.
  public func filter(_ condition: (ElementExpression) -> Where<Root>) -> Self {
    ElementName.with { name in
      let condition = condition(ElementExpression(.success(PredicateOperand(.variable(name, [])))))
      return changed { collection throws(QueryError) in
        var tree = try condition.tree
        if let other = collection.filter?.renamed(to: name) { tree = .all([other.condition, tree]) }
        collection.filter = .init(variable: name, condition: tree)
      }
    }
  }

  /// The number of elements. O(log n) for each object of a relationship, O(length) for each list.
  public var count: ValueExpression<Root, Int> { aggregate(.count) }

  /// Returns the number of elements that meet the condition.
  public func count(where condition: (ElementExpression) -> Where<Root>) -> ValueExpression<Root, Int> {
    filter(condition).count
  }

  /// The condition that there are no elements.
  public var isEmpty: Where<Root> { count == 0 }
}

// Values computed from the elements of a to-many relationship.

extension ValueExpression where Value: PredicateElements {
  /// Returns the sum of a property of all elements, without those that have no value; 0 without values. Nil
  /// where its type can't hold the sum.
  public func sum<Number: NumericAttribute>(
    _ keyPath: KeyPath<Value.Element, Number>
  ) -> ValueExpression<Root, Number._Sum> { aggregate(.sum, keyPath) }

  /// Returns the average of a property of all elements, without those that have no value; nil without values.
  public func average<Number: NumericAttribute>(
    _ keyPath: KeyPath<Value.Element, Number>
  ) -> ValueExpression<Root, Number._Average> { aggregate(.average, keyPath) }

  /// Returns the middle one of a property's sorted values, or the average of the two in the middle; nil without
  /// values.
  public func median<Number: NumericAttribute>(
    _ keyPath: KeyPath<Value.Element, Number>
  ) -> ValueExpression<Root, Number._Average> { aggregate(.median, keyPath) }

  /// Returns the least value of a property; nil of nothing.
  public func min<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property>
  ) -> ValueExpression<Root, Property> { aggregate(.minimum, keyPath) }

  /// Returns the least value of a property, without the elements that have no value; nil of nothing.
  public func min<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property?>
  ) -> ValueExpression<Root, Property> { aggregate(.minimum, keyPath) }

  /// Returns the greatest value of a property; nil of nothing.
  public func max<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property>
  ) -> ValueExpression<Root, Property> { aggregate(.maximum, keyPath) }

  /// Returns the greatest value of a property, without the elements that have no value; nil of nothing.
  public func max<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property?>
  ) -> ValueExpression<Root, Property> { aggregate(.maximum, keyPath) }

  /// Returns the condition that the object is an element.
  public func contains(_ object: (some ObjectReferencing)?) -> Where<Root> {
    guard let object else { return Where(false) }
    return Where(
      operand.flatMap { collection in
        object.referenceOperand.map { .comparison(collection, .contains, $0, []) }
      }
    )
  }
}

// Lists of values: `{ $0.tags.contains("live") && $0.marks.max() > 3 }`.

extension ValueExpression where Value: PredicateSequence, Value.Element: AttributeType {
  /// Returns the condition that the value is an element.
  public func contains(_ value: Value.Element) -> Where<Root> { compare(.contains, value.operand) }

  /// Returns the least element; nil of nothing.
  public func min() -> ValueExpression<Root, Value.Element> where Value.Element: Comparable {
    aggregate(.minimum)
  }

  /// Returns the greatest element; nil of nothing.
  public func max() -> ValueExpression<Root, Value.Element> where Value.Element: Comparable {
    aggregate(.maximum)
  }

  /// Returns the sum of the elements; 0 without elements. Nil where its type can't hold the sum.
  public func sum() -> ValueExpression<Root, Value.Element._Sum> where Value.Element: NumericAttribute {
    aggregate(.sum)
  }

  /// Returns the average of the elements; nil of nothing.
  public func average() -> ValueExpression<Root, Value.Element._Average>
  where Value.Element: NumericAttribute { aggregate(.average) }

  /// Returns the middle one of the sorted elements, or the average of the two in the middle; nil without
  /// elements.
  public func median() -> ValueExpression<Root, Value.Element._Average>
  where Value.Element: NumericAttribute { aggregate(.median) }
}

extension ValueExpression where Value: PredicateElements {
  private func aggregate<Result>(
    _ aggregate: PredicateAggregate,
    _ keyPath: PartialKeyPath<Value.Element>
  ) -> ValueExpression<Root, Result> {
    let names = Swift.Result { () throws(QueryError) in try Value.Element.predicatePath(of: keyPath) }
    return self.aggregate(aggregate, element: names)
  }
}

extension ValueExpression where Value: PredicateSequence {
  private func aggregate<Result>(_ aggregate: PredicateAggregate) -> ValueExpression<Root, Result> {
    self.aggregate(aggregate, element: .success([]))
  }

  private func aggregate<Result>(
    _ aggregate: PredicateAggregate,
    element names: Swift.Result<[String], QueryError>
  ) -> ValueExpression<Root, Result> {
    ValueExpression<Root, Result>(
      collection.flatMap { collection in
        names.map { names in
          var collection = collection
          collection.element = names
          return PredicateOperand(.aggregate(aggregate, collection))
        }
      }
    )
  }

  private func changed(_ change: (inout PredicateCollection) throws(QueryError) -> Void) -> Self {
    Self(
      collection.flatMap { collection in
        Swift.Result { () throws(QueryError) in
          var collection = collection
          try change(&collection)
          return PredicateOperand(.collection(collection))
        }
      }
    )
  }

  private var collection: Swift.Result<PredicateCollection, QueryError> {
    operand.flatMap { operand in
      operand.content.asCollection.map(Swift.Result.success)
        ?? .failure(QueryError(.keyPath, "\(operand) is no to-many relationship, and no list."))
    }
  }
}
