import Predicates

/// A group of objects in a condition: ``GroupedQuery/having(_:)``.
public struct Group<Root: ManagedObject> {
  /// The aggregates that the condition uses.
  final class Terms {
    var list: [AggregateTerm] = []
  }
  let terms = Terms()
  /// The names of the groups' keys.
  let keys: Set<String>

  /// How many objects the group has.
  public var count: ValueExpression<Group, Int> { value(Aggregate<Root, Int>.count) }

  /// How many of them have a value.
  public func count(_ keyPath: KeyPath<Root, some AttributeType>) -> ValueExpression<Group, Int> {
    value(Aggregate<Root, Int>.count(keyPath))
  }

  /// The sum; nil only if its type can't hold it.
  public func sum<Number: NumericAttribute>(
    _ keyPath: KeyPath<Root, Number>
  ) -> ValueExpression<Group, Number._Sum> { value(.sum(keyPath)) }

  /// The average: a Decimal for Decimals, a Double for other numbers. Nil where no object has a value.
  public func average<Number: NumericAttribute>(
    _ keyPath: KeyPath<Root, Number>
  ) -> ValueExpression<Group, Number._Average> { value(.average(keyPath)) }

  /// The least value. Nil where no object has one.
  public func min<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>
  ) -> ValueExpression<Group, Value._Present> { value(.min(keyPath)) }

  /// The greatest value. Nil where no object has one.
  public func max<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>
  ) -> ValueExpression<Group, Value._Present> { value(.max(keyPath)) }

  /// The value in the middle, or the mean of the two in the middle. Nil where no object has one.
  public func median<Number: NumericAttribute>(
    _ keyPath: KeyPath<Root, Number>
  ) -> ValueExpression<Group, Number._Average> { value(.median(keyPath)) }

  /// A value that the group's objects have in common, at one of the key paths by which they are grouped.
  public func key<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>
  ) -> ValueExpression<Group, Value._Present> {
    ValueExpression(column: Root.names(of: keyPath).map { $0.joined(separator: ".") })
  }

  /// Whether a Bool that the group's objects have in common is true.
  @_disfavoredOverload
  public func key(_ keyPath: KeyPath<Root, Bool>) -> Where<Group> {
    let value: ValueExpression<Group, Bool> = key(keyPath)
    return value == true
  }

  /// Whether an optional Bool that the group's objects have in common is true; where it is missing it isn't.
  @_disfavoredOverload
  public func key(_ keyPath: KeyPath<Root, Bool?>) -> Where<Group> {
    let value: ValueExpression<Group, Bool> = key(keyPath)
    return value == true
  }

  private func value<Result: AttributeType, Value>(
    _ aggregate: Aggregate<Root, Result>
  ) -> ValueExpression<Group, Value> {
    terms.list.append(aggregate.term)
    return ValueExpression(column: aggregate.term.name(besides: keys))
  }
}

extension AggregateTerm {
  /// The name of the column, which no key has: `count`, or `count()` where groups are by an attribute `count`.
  func name(besides keys: Set<String>) -> Result<String, QueryError> {
    let name = keyPath?.map { "\(function.rawValue)(\($0.joined(separator: ".")))" }
    return (name ?? .success(function.rawValue)).map { name in
      var name = name
      while keys.contains(name) { name += "()" }
      return name
    }
  }
}
