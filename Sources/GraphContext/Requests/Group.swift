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

  /// The number of objects that the group has.
  public var count: ValueExpression<Group, Int> { value(Aggregate<Root, Int>.count) }

  /// Returns the number of the group's objects that have a value.
  public func count(_ keyPath: KeyPath<Root, some AttributeType>) -> ValueExpression<Group, Int> {
    value(Aggregate<Root, Int>.count(keyPath))
  }

  /// Returns the sum; nil only if its type can't hold it.
  public func sum<Number: NumericAttribute>(
    _ keyPath: KeyPath<Root, Number>
  ) -> ValueExpression<Group, Number._Sum> { value(.sum(keyPath)) }

  /// Returns the average: a Decimal for Decimals, a Double for other numbers. Nil where no object has a value.
  public func average<Number: NumericAttribute>(
    _ keyPath: KeyPath<Root, Number>
  ) -> ValueExpression<Group, Number._Average> { value(.average(keyPath)) }

  /// Returns the least value. Nil where no object has one.
  public func min<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>
  ) -> ValueExpression<Group, Value._Present> { value(.min(keyPath)) }

  /// Returns the greatest value. Nil where no object has one.
  public func max<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>
  ) -> ValueExpression<Group, Value._Present> { value(.max(keyPath)) }

  /// Returns the value in the middle, or the mean of the two in the middle. Nil where no object has one.
  public func median<Number: NumericAttribute>(
    _ keyPath: KeyPath<Root, Number>
  ) -> ValueExpression<Group, Number._Average> { value(.median(keyPath)) }

  /// Returns a value that the group's objects have in common, at one of the key paths by which they are grouped.
  public func key<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>
  ) -> ValueExpression<Group, Value._Present> {
    ValueExpression(column: Root.names(of: keyPath).map { $0.joined(separator: ".") })
  }

  /// Returns the condition that a Bool that the group's objects have in common is true.
  @_disfavoredOverload
  public func key(_ keyPath: KeyPath<Root, Bool>) -> Where<Group> {
    let value: ValueExpression<Group, Bool> = key(keyPath)
    return value == true
  }

  /// Returns the condition that an optional Bool that the group's objects have in common is true; false where it is
  /// missing.
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
  /// Returns the name of the column, which no key has: `count`, or `count()` where groups are by an attribute `count`.
  func name(besides keys: Set<String>) -> Result<String, QueryError> {
    let name = keyPath?.map { "\(function.rawValue)(\($0.joined(separator: ".")))" }
    return (name ?? .success(function.rawValue)).map { name in
      var name = name
      while keys.contains(name) { name += "()" }
      return name
    }
  }
}
