/// A value that can replace a `%@` in a format string, or be a value in a dictionary: every ``AttributeType``,
/// arrays, sets and ranges of them, objects and their IDs, and nil. Arguments are values: they are never read as
/// text of the language.
public protocol PredicateArgument {
  /// The argument taken apart.
  var _predicateArgument: FormatArgument { get }
}

/// An argument of a format string or a dictionary, taken apart.
public enum FormatArgument: Sendable, Hashable {
  /// One value.
  case value(AttributeValue)
  /// An object, by its identity.
  case object(ObjectReference)
  /// An object that has no identity yet, because it is in no context.
  case objectWithoutID
  /// A list for `IN`, and for `BETWEEN` if it has two elements.
  case list([FormatArgument])
  /// The range from one value to another. `IN` and `BETWEEN` take it if both are included.
  case range(ValueRange)
}

extension AttributeType {
  public var _predicateArgument: FormatArgument { .value(_attributeValue) }
}

extension AttributeValue: PredicateArgument {
  public var _predicateArgument: FormatArgument { .value(self) }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  public var _predicateArgument: FormatArgument { .list(map { $0._predicateArgument }) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  public var _predicateArgument: FormatArgument { .list(map { $0._predicateArgument }) }
}

extension AttributeRange where Bound: AttributeType {
  public var _predicateArgument: FormatArgument { .range(valueRange) }
}

extension ClosedRange: PredicateArgument where Bound: AttributeType {}
extension Range: PredicateArgument where Bound: AttributeType {}
extension PartialRangeFrom: PredicateArgument where Bound: AttributeType {}
extension PartialRangeThrough: PredicateArgument where Bound: AttributeType {}
extension PartialRangeUpTo: PredicateArgument where Bound: AttributeType {}
