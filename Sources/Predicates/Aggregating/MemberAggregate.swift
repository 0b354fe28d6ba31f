/// An aggregate of values that come one after the other, as `@sum`, `@min` and `@max` of a predicate compute it.
package struct MemberAggregate {
  private let aggregate: PredicateAggregate
  private var accumulator = Accumulator()

  package init(_ aggregate: PredicateAggregate) { self.aggregate = aggregate }

  package mutating func add(_ value: AttributeValue) { accumulator.add(value, to: aggregate) }

  /// Returns the result; nil where the sum's type doesn't hold it, and `null` for the least or greatest of nothing.
  ///
  /// - Parameter kind: that of the values.
  package func value(_ kind: AttributeKind) -> AttributeValue? {
    let value = accumulator.value(of: aggregate, kind)
    return value.isNull && aggregate == .sum ? nil : value
  }
}
