/// What can stand for a `%@` in a format string: every ``AttributeType``, arrays, sets and ranges of them,
/// objects and their IDs, and nil. Arguments are values: they are never read as text of the language.
public protocol PredicateArgument {
  var predicateArgument: FormatArgument { get }
}

/// An argument of a format string, taken apart.
public enum FormatArgument: Sendable, Hashable {
  case value(AttributeValue)
  /// An object, by its identity.
  case object(ObjectReference)
  /// An object that has no identity yet, because it is in no context.
  case objectWithoutID
  /// What `IN` takes, and `BETWEEN` if there are two.
  case list([FormatArgument])
  /// What `IN` and `BETWEEN` take: everything from one value to another, both included.
  case range(AttributeValue, AttributeValue)
}

extension AttributeType {
  public var predicateArgument: FormatArgument { .value(attributeValue) }
}

extension AttributeValue: PredicateArgument {
  public var predicateArgument: FormatArgument { .value(self) }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  public var predicateArgument: FormatArgument { .list(map(\.predicateArgument)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  public var predicateArgument: FormatArgument { .list(map(\.predicateArgument)) }
}

extension ClosedRange: PredicateArgument where Bound: AttributeType {
  public var predicateArgument: FormatArgument {
    .range(lowerBound.attributeValue, upperBound.attributeValue)
  }
}
