import Predicates

/// A value to compute from many objects: their number, the sum of an attribute, …
///
/// The attribute may be reached through to-one relationships; where one of them is optional, the compiler wants the key
/// path's root spelled out: `.max(\Flight.origin?.altitude)`. nil values take no part, and NaN takes part only in
/// counts. A sum of nothing is 0. An average, a least or greatest value and a median of nothing are nil. A sum that its
/// type can't hold is nil. `min`, `max` and `median` give 0.0 for −0.0. Sums, averages and medians of Decimals are
/// exact and rounded once, to a Decimal.
public struct Aggregate<Root: ManagedObject, Value: AttributeType>: Sendable {
  let term: AggregateTerm

  private init(_ function: AggregateFunction, _ keyPath: AnyKeyPath) {
    term = AggregateTerm(function: function, keyPath: Root.names(of: keyPath))
  }
}

extension Aggregate where Value == Int {
  /// The number of objects.
  public static var count: Aggregate { Aggregate(AggregateTerm(function: .count)) }
}

extension Aggregate {
  /// Returns the number of objects that have a value.
  public static func count(_ keyPath: KeyPath<Root, some AttributeType>) -> Aggregate where Value == Int {
    Aggregate(.count, keyPath)
  }

  /// Returns the sum; nil only if its type can't hold it.
  public static func sum<Number: NumericAttribute>(_ keyPath: KeyPath<Root, Number>) -> Aggregate
  where Value == Number._Sum? { Aggregate(.sum, keyPath) }

  /// Returns the average: a Decimal for Decimals, a Double for other numbers.
  public static func average<Number: NumericAttribute>(_ keyPath: KeyPath<Root, Number>) -> Aggregate
  where Value == Number._Average? { Aggregate(.average, keyPath) }

  /// Returns the least value.
  public static func min<Least: AttributeType>(_ keyPath: KeyPath<Root, Least>) -> Aggregate
  where Value == Least._Present? { Aggregate(.minimum, keyPath) }

  /// Returns the greatest value.
  public static func max<Greatest: AttributeType>(_ keyPath: KeyPath<Root, Greatest>) -> Aggregate
  where Value == Greatest._Present? { Aggregate(.maximum, keyPath) }

  /// Returns the value in the middle, or the mean of the two in the middle.
  public static func median<Number: NumericAttribute>(_ keyPath: KeyPath<Root, Number>) -> Aggregate
  where Value == Number._Average? { Aggregate(.median, keyPath) }

  private init(_ term: AggregateTerm) { self.term = term }
}

/// An aggregate without its types.
struct AggregateTerm: Sendable {
  var function: AggregateFunction
  /// The names along the key path; nil for the objects themselves.
  var keyPath: Result<[String], QueryError>?

  func resolved(_ paths: PathResolver, besides keys: Set<String>) throws(QueryError) -> ResolvedAggregate {
    try ResolvedAggregate(
      function,
      of: keyPath.map { names throws(QueryError) in try paths.resolve(names.get()).path },
      named: name(besides: keys).get()
    )
  }
}
