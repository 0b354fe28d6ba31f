/// A function that computes one value from many values of an attribute.
///
/// nil takes part in none of the functions, and NaN only in the count. A sum of nothing is 0; an average, a least or
/// greatest value and a median of nothing are nil.
public enum AggregateFunction: String, Sendable, Hashable, Codable, CaseIterable {
  /// The number of rows; for an attribute, the number of values.
  case count
  /// The sum of numbers; nil where `NumericAttribute._Sum` can't hold it. It is exact for integers. For Float and
  /// Double it is a Double, with compensation of the rounding of each step. For Decimals it is the Decimal nearest
  /// to the exact sum.
  case sum
  /// The average of numbers, as a Double; for Decimals as a Decimal.
  case average = "avg"
  /// The least value.
  case minimum = "min"
  /// The greatest value.
  case maximum = "max"
  /// The middle one of the sorted values, or the mean of the two in the middle: for numbers as a Double, for
  /// Decimals as a Decimal.
  case median
}

extension AggregateFunction {
  /// The aggregate of predicates for this function.
  var aggregate: PredicateAggregate {
    switch self {
    case .count: .count
    case .sum: .sum
    case .average: .average
    case .minimum: .minimum
    case .maximum: .maximum
    case .median: .median
    }
  }
}

/// An aggregate whose path was found in the schema, and whose kind goes with its function.
package struct ResolvedAggregate: Sendable, Hashable {
  package let function: AggregateFunction
  /// The path of the values; nil for the rows.
  package let path: ResolvedPath?
  /// The column's name: `count`, `avg(arrDelay)`, or another that was given to it.
  package let name: String

  /// Makes an aggregate.
  ///
  /// - Throws: `typeMismatch` where the function needs numbers, or an order, and the path has none.
  package init(
    _ function: AggregateFunction,
    of path: ResolvedPath?,
    named name: String? = nil
  ) throws(QueryError) {
    self.function = function
    self.path = path
    self.name = name ?? path.map { "\(function.rawValue)(\($0.name))" } ?? function.rawValue
    guard let path else {
      if function == .count { return }
      throw QueryError(.arguments, "\(function.rawValue) takes an attribute; only count needs none.")
    }
    switch function {
    case .count: break
    case .sum, .average, .median:
      if path.kind.isNumeric { break }
      throw QueryError(
        .typeMismatch,
        "\(function.rawValue) takes numbers; \(path.name) is \(path.kind.noun).",
        keyPath: path.name
      )
    case .minimum, .maximum:
      if path.kind != .reference, path.kind.isComparable { break }
      throw QueryError(
        .typeMismatch,
        "\(path.name) is \(path.kind.noun): such values have no order, so none is the least or greatest.",
        keyPath: path.name
      )
    }
  }

  /// The kind of the result.
  package var kind: AttributeKind {
    guard let path else { return .int64 }
    switch function {
    case .count: return .int64
    case .average, .median: return path.kind == .decimal ? .decimal : .double
    case .minimum, .maximum: return path.kind
    case .sum where path.kind == .decimal: return .decimal
    case .sum: return path.kind.isInteger ? (path.kind == .uint64 ? .uint64 : .int64) : .double
    }
  }
}
