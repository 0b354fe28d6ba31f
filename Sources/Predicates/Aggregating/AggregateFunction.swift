/// What is computed of many values of an attribute.
///
/// nil takes no part in any of them, and NaN in none but the count. A sum of nothing is 0; an average, a least or greatest value and a median of nothing are nil.
public enum AggregateFunction: String, Sendable, Hashable, Codable, CaseIterable {
  /// How many rows there are; of an attribute, how many values.
  case count
  /// Of numbers; nil where `NumericAttribute._Sum` doesn't hold it. Exact for integers; of Float and Double a Double, with the rounding
  /// of each step made good; of Decimals the Decimal nearest to the exact sum.
  case sum
  /// Of numbers, as a Double; of Decimals as a Decimal.
  case average = "avg"
  /// The least value.
  case minimum = "min"
  /// The greatest value.
  case maximum = "max"
  /// The value in the middle of the sorted ones, or the mean of the two in the middle: of numbers, as a Double; of Decimals as a Decimal.
  case median
}

extension AggregateFunction {
  /// What a predicate calls it.
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
  /// What it is of; nil for the rows.
  package let path: ResolvedPath?
  /// The column's name: `count`, `avg(arrDelay)`, or another that was given to it.
  package let name: String

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
      throw QueryError(.arguments, "\(function.rawValue) is of an attribute; only count is of rows.")
    }
    switch function {
    case .count: break
    case .sum, .average, .median:
      if path.kind.isNumeric { break }
      throw QueryError(
        .typeMismatch,
        "\(function.rawValue) is of numbers; \(path.name) is \(path.kind.noun).",
        keyPath: path.name
      )
    case .minimum, .maximum:
      if path.kind != .reference, path.kind.isComparable { break }
      throw QueryError(
        .typeMismatch,
        "\(path.name) is \(path.kind.noun): those have no order, so none is the least or greatest.",
        keyPath: path.name
      )
    }
  }

  /// What the result is.
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
