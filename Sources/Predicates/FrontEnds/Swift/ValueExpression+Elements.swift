/// A type whose elements conditions can be about: of a to-many relationship, or of a list of values.
public protocol PredicateSequence: Sequence {}

/// A type that a to-many relationship can be declared with, as far as conditions need to know it.
public protocol PredicateElements: PredicateSequence where Element: PredicateRoot {}

extension Array: PredicateSequence {}
extension Array: PredicateElements where Element: PredicateRoot {}

extension Set: PredicateSequence {}
extension Set: PredicateElements where Element: PredicateRoot {}

// Conditions on the elements of a to-many relationship or a list, and values made of them.

extension ValueExpression where Value: PredicateSequence {
  /// An element, in a condition on it.
  public typealias ElementExpression = ValueExpression<Root, Value.Element>

  /// Whether an element meets the condition: `$0.songs.any { $0.seconds > 600 }`. The condition may speak of the object too.
  public func any(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> {
    filter(condition).count > 0
  }

  /// Whether each element meets the condition; of none, true.
  public func all(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> {
    filter { !condition($0) }.count == 0
  }

  /// The name that ``any(_:)`` has in the standard library: `$0.songs.contains { $0.seconds > 600 }`.
  public func contains(where condition: (ElementExpression) -> Where<Root>) -> Where<Root> { any(condition) }

  /// The name that ``all(_:)`` has in the standard library.
  public func allSatisfy(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> { all(condition) }

  /// Whether no element meets the condition.
  public func none(_ condition: (ElementExpression) -> Where<Root>) -> Where<Root> {
    filter(condition).count == 0
  }

  /// The elements that meet the condition.
  public func filter(_ condition: (ElementExpression) -> Where<Root>) -> Self {
    ElementName.with { name in
      let condition = condition(ElementExpression(.success(PredicateOperand(.variable(name, [])))))
      return changed { collection throws(QueryError) in
        var tree = try condition.tree
        if let other = collection.filter?.condition { tree = .all([other, tree]) }
        collection.filter = .init(variable: name, condition: tree)
      }
    }
  }

  /// How many elements there are. O(log n) for each object of a relationship, O(length) for each list.
  public var count: ValueExpression<Root, Int> { aggregate(.count) }

  /// How many elements meet the condition.
  public func count(where condition: (ElementExpression) -> Where<Root>) -> ValueExpression<Root, Int> {
    filter(condition).count
  }

  /// Whether there are no elements.
  public var isEmpty: Where<Root> { count == 0 }
}

// Values made of the elements of a to-many relationship.

extension ValueExpression where Value: PredicateElements {
  /// The sum of a property of all elements, without those that have none; 0 of nothing. Nil where its type doesn't hold it.
  public func sum<Number: NumericAttribute>(
    _ keyPath: KeyPath<Value.Element, Number>
  ) -> ValueExpression<Root, Number._Sum> { aggregate(.sum, keyPath) }

  /// The average of a property of all elements, without those that have none; nil of nothing.
  public func average<Number: NumericAttribute>(
    _ keyPath: KeyPath<Value.Element, Number>
  ) -> ValueExpression<Root, Number._Average> { aggregate(.average, keyPath) }

  /// The value in the middle of a property's sorted values, or the average of the two that are; nil of nothing.
  public func median<Number: NumericAttribute>(
    _ keyPath: KeyPath<Value.Element, Number>
  ) -> ValueExpression<Root, Number._Average> { aggregate(.median, keyPath) }

  /// The least value of a property; nil of nothing.
  public func min<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property>
  ) -> ValueExpression<Root, Property> { aggregate(.minimum, keyPath) }

  /// The least value of a property, elements apart that have none; nil of nothing.
  public func min<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property?>
  ) -> ValueExpression<Root, Property> { aggregate(.minimum, keyPath) }

  /// The greatest value of a property; nil of nothing.
  public func max<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property>
  ) -> ValueExpression<Root, Property> { aggregate(.maximum, keyPath) }

  /// The greatest value of a property, elements apart that have none; nil of nothing.
  public func max<Property: AttributeType & Comparable>(
    _ keyPath: KeyPath<Value.Element, Property?>
  ) -> ValueExpression<Root, Property> { aggregate(.maximum, keyPath) }

  /// Whether the object is an element.
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
  /// Whether the value is an element.
  public func contains(_ value: Value.Element) -> Where<Root> { compare(.contains, value.operand) }

  /// The least element; nil of nothing.
  public func min() -> ValueExpression<Root, Value.Element> where Value.Element: Comparable {
    aggregate(.minimum)
  }

  /// The greatest element; nil of nothing.
  public func max() -> ValueExpression<Root, Value.Element> where Value.Element: Comparable {
    aggregate(.maximum)
  }

  /// The sum of the elements; 0 of nothing. Nil where its type doesn't hold it.
  public func sum() -> ValueExpression<Root, Value.Element._Sum> where Value.Element: NumericAttribute {
    aggregate(.sum)
  }

  /// The average of the elements; nil of nothing.
  public func average() -> ValueExpression<Root, Value.Element._Average>
  where Value.Element: NumericAttribute { aggregate(.average) }

  /// The element in the middle of the sorted ones, or the average of the two that are; nil of nothing.
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

/// Names for the elements that closures get to see: another one for each closure inside another.
private enum ElementName {
  @TaskLocal private static var depth = 0

  static func with<R>(_ body: (String) -> R) -> R {
    $depth.withValue(depth + 1) { body("e\(depth)") }
  }
}
