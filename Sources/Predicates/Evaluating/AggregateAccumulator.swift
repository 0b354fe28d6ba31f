import Foundation

/// Makes one value of several, taken one after the other, as ``PredicateAggregate`` says.
package struct AggregateAccumulator {
  private let aggregate: PredicateAggregate
  /// How many values took part.
  private var count = 0
  /// The sum of integers; nil once it overflowed.
  private var whole: Int128? = 0
  private var real = 0.0
  private var isWhole = true
  /// The sum of Decimals.
  private var decimals = DecimalSum()
  private var hasReal = false
  private var best = AttributeValue.null
  /// For what needs all of them.
  private var values: [AttributeValue] = []

  package init(_ aggregate: PredicateAggregate) { self.aggregate = aggregate }

  /// Takes a value. nil and NaN take no part, except where a place is asked for; a NaN counts.
  package mutating func add(_ value: AttributeValue) {
    if !aggregate.isPositional, value.isNull || (value.isNaN && aggregate != .count) { return }
    count += 1
    switch aggregate {
    case .count: break
    case .sum, .average: sum(value)
    case .minimum: if best.isNull || ValueComparison.precedes(value, best) { best = value }
    case .maximum: if best.isNull || ValueComparison.precedes(best, value) { best = value }
    case .median, .mode, .standardDeviation: values.append(value)
    case .element(let index): if count - 1 == index { best = value }
    case .last: best = value
    }
  }

  /// Whether more values change nothing.
  var isComplete: Bool { if case .element(let index) = aggregate { count > index } else { false } }

  private mutating func sum(_ value: AttributeValue) {
    if let integer = value.integer {
      whole = whole.flatMap { sum in
        let (result, overflow) = sum.addingReportingOverflow(integer)
        return overflow ? nil : result
      }
    } else {
      isWhole = false
      if case .decimal(let decimal) = value, let parts = DecimalParts(decimal) {
        decimals.add(parts)
      } else {
        hasReal = true
      }
    }
    real += value.real ?? 0
  }

  /// The value of those that were taken so far.
  package var value: AttributeValue {
    switch aggregate {
    case .count: return .int(Int64(count))
    case .sum:
      if let exact { return .decimal(exact.value) }
      return isWhole ? whole.map(AttributeValue.integer) ?? .null : .double(real)
    case .average:
      if count == 0 { return .null }
      if let exact { return .decimal(exact.average(of: count)) }
      let total = isWhole ? whole.map { Double($0) } ?? real : real
      return .double(total / Double(count))
    case .minimum, .maximum, .element, .last: return best
    case .median: return median
    case .mode: return mode
    case .standardDeviation: return standardDeviation
    }
  }

  /// The sum of Decimals and integers; nil where there was a Double, or nothing but integers.
  private var exact: DecimalSum? {
    guard !isWhole, !hasReal, let whole else { return nil }
    var sum = decimals
    if whole != 0 { sum.add(DecimalParts(whole)) }
    return sum
  }

  private var median: AttributeValue {
    let sorted = values.sorted(by: ValueComparison.precedes)
    if sorted.isEmpty { return .null }
    let middle = sorted.count / 2
    return .mean(sorted[sorted.count % 2 == 1 ? middle : middle - 1], sorted[middle])
  }

  private var mode: AttributeValue {
    var most = 0
    var result = AttributeValue.null
    var run = 0
    var previous: AttributeValue?
    for value in values.sorted(by: ValueComparison.precedes) {
      run = previous.map { ValueComparison.sortOrder($0, value) } == 0 ? run + 1 : 1
      if run > most { (most, result) = (run, value) }
      previous = value
    }
    return result
  }

  private var standardDeviation: AttributeValue {
    let numbers = values.compactMap(\.real)
    if numbers.isEmpty { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double((squares / Double(numbers.count)).squareRoot())
  }
}

extension AttributeValue {
  /// The number; nil (`null`) where there is none.
  static func decimal(_ value: Decimal?) -> AttributeValue {
    value.map { AttributeValue.decimal($0) } ?? .null
  }
}

extension PredicateAggregate {
  /// Whether it picks a value by its place.
  fileprivate var isPositional: Bool {
    switch self {
    case .element, .last: true
    default: false
    }
  }
}
