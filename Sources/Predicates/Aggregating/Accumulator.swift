import Foundation

/// The state of an aggregate: of rows, of groups, or of the elements of a collection in a predicate. Values are
/// added one after the other.
///
/// All uses of aggregates share this type, so that their results are equal: ``AggregateStep`` adds the values of
/// rows, ``add(_:to:)`` adds other values.
struct Accumulator {
  /// The number of values that took part.
  private(set) var count = 0
  /// The kept state, none or one: an array takes a pointer where nothing is kept, and is copied together with the
  /// accumulator.
  private var kept: [Kept] = []
  /// A sum of integers, which no number of values overflows; or the word of the least or greatest value.
  private var whole: Int128 = 0
  private var real = RealSum()

  /// The state that only some aggregates need, and that has no fixed size.
  private struct Kept {
    var decimals = DecimalSum()
    /// The bytes of the least or greatest value.
    var bytes: [UInt8] = []
    /// The words of all values, for a median.
    var words: [Int64] = []
    /// All values, or the one that was chosen.
    var values: [AttributeValue] = []
  }

  private mutating func keep(_ change: (inout Kept) -> Void) {
    if kept.isEmpty { kept.append(Kept()) }
    change(&kept[0])
  }
}

// MARK: - Values of rows

extension Accumulator {
  @inline(__always)
  mutating func countValue() { count += 1 }

  @inline(__always)
  mutating func add(_ value: Int128) {
    count += 1
    whole += value
  }

  /// Adds a number.
  ///
  /// - Parameter value: not NaN, which takes no part.
  @inline(__always)
  mutating func add(_ value: Double) {
    count += 1
    real.add(value)
  }

  mutating func add(_ value: DecimalParts) {
    count += 1
    keep { $0.decimals.add(value) }
  }

  @inline(__always)
  mutating func takeLeast(_ word: Int64) {
    if count == 0 || Int128(word) < whole { whole = Int128(word) }
    count += 1
  }

  @inline(__always)
  mutating func takeGreatest(_ word: Int64) {
    if count == 0 || Int128(word) > whole { whole = Int128(word) }
    count += 1
  }

  mutating func takeLeast(_ bytes: UnsafeRawBufferPointer) { take(bytes) { $0 < 0 } }

  mutating func takeGreatest(_ bytes: UnsafeRawBufferPointer) { take(bytes) { $0 > 0 } }

  private mutating func take(_ bytes: UnsafeRawBufferPointer, _ isBetter: (Int) -> Bool) {
    let isFirst = count == 0
    count += 1
    keep { kept in
      if isFirst || isBetter(kept.bytes.withUnsafeBytes { ByteComparison.order(bytes, $0) }) {
        kept.bytes = [UInt8](bytes)
      }
    }
  }

  /// Adds a value to those of a median.
  @inline(__always)
  mutating func collect(_ word: Int64) {
    count += 1
    keep { $0.words.append(word) }
  }

  /// The word of the least or greatest value; nil of nothing.
  var word: Int64? { count == 0 ? nil : Int64(truncatingIfNeeded: whole) }

  /// The bytes of the least or greatest value; nil of nothing.
  var bytes: [UInt8]? { count == 0 ? nil : kept.first?.bytes }

  /// Returns the median of the words that were collected.
  func median(_ value: (Int64) -> AttributeValue) -> AttributeValue {
    Self.median((kept.first?.words ?? []).sorted(), value)
  }
}

// MARK: - Values

extension Accumulator {
  /// Adds a value. nil takes no part, and NaN takes part only in a count. Both count for the aggregates that ask
  /// for a position.
  mutating func add(_ value: AttributeValue, to aggregate: PredicateAggregate) {
    switch aggregate {
    case .element(let index):
      if count == index { choose(value) }
      count += 1
    case .last:
      choose(value)
      count += 1
    case .count:
      if !value.isNull { count += 1 }
    case .sum, .average:
      if !value.isNaN { addNumber(value) }
    case .minimum, .maximum, .median, .mode, .standardDeviation:
      if !value.isNull && !value.isNaN { take(value.withOneSpelling, aggregate) }
    }
  }

  /// Returns whether more values change nothing.
  func isComplete(_ aggregate: PredicateAggregate) -> Bool {
    if case .element(let index) = aggregate { count > index } else { false }
  }

  private mutating func choose(_ value: AttributeValue) { keep { $0.values = [value] } }

  private mutating func addNumber(_ value: AttributeValue) {
    if let integer = value.integer {
      add(integer)
    } else if case .decimal(let decimal) = value {
      if let parts = DecimalParts(decimal) { add(parts) }
    } else if let real = value.real {
      add(real)
    }
  }

  private mutating func take(_ value: AttributeValue, _ aggregate: PredicateAggregate) {
    count += 1
    let best = kept.first?.values.first
    switch aggregate {
    case .minimum: if best.map({ ValueComparison.precedes(value, $0) }) ?? true { choose(value) }
    case .maximum: if best.map({ ValueComparison.precedes($0, value) }) ?? true { choose(value) }
    default: keep { $0.values.append(value) }
    }
  }
}

// MARK: - Results

extension Accumulator {
  /// Returns the aggregate of the added values.
  ///
  /// - Parameter kind: that of the values; of several kinds of numbers the one that all have in common.
  func value(of aggregate: PredicateAggregate, _ kind: AttributeKind) -> AttributeValue {
    switch aggregate {
    case .count: .int(Int64(count))
    case .sum: sum(kind)
    case .average: count == 0 ? .null : average(kind)
    case .minimum, .maximum, .element, .last: kept.first?.values.first ?? .null
    case .median: Self.median(sortedValues) { $0 }
    case .mode: mode
    case .standardDeviation: standardDeviation
    }
  }

  /// Returns the sum; nil (`null`) where the sum's type doesn't hold it: `NumericAttribute._Sum`.
  private func sum(_ kind: AttributeKind) -> AttributeValue {
    switch kind {
    case .decimal: .decimal(exact.value)
    case .float, .double: reals.value.map { .double($0) } ?? .null
    case .uint64: .integer(whole)
    default: Int64(exactly: whole).map { .int($0) } ?? .null
    }
  }

  private func average(_ kind: AttributeKind) -> AttributeValue {
    if kind == .decimal { return .decimal(exact.average(of: count)) }
    if kind.isInteger { return .double(Double(whole) / Double(count)) }
    return .double(reals.average(of: count))
  }

  /// The sum of Decimals and integers.
  private var exact: DecimalSum {
    var sum = kept.first?.decimals ?? DecimalSum()
    if whole != 0 { sum.add(DecimalParts(whole)) }
    return sum
  }

  /// The sum of all numbers, of which one at least was a Double.
  private var reals: RealSum {
    if whole == 0 && kept.isEmpty { return real }
    var sum = real
    if let rest = exact.nearestDouble { sum.add(rest) }
    return sum
  }

  private static func median<Value>(
    _ sorted: [Value],
    _ value: (Value) -> AttributeValue
  ) -> AttributeValue {
    if sorted.isEmpty { return .null }
    return .mean(value(sorted[(sorted.count - 1) / 2]), value(sorted[sorted.count / 2]))
  }

  private var sortedValues: [AttributeValue] {
    (kept.first?.values ?? []).sorted(by: ValueComparison.precedes)
  }

  private var mode: AttributeValue {
    var most = 0
    var result = AttributeValue.null
    var run = 0
    var previous: AttributeValue?
    for value in sortedValues {
      run = previous.map { ValueComparison.sortOrder($0, value) } == 0 ? run + 1 : 1
      if run > most { (most, result) = (run, value) }
      previous = value
    }
    return result
  }

  private var standardDeviation: AttributeValue {
    let numbers = (kept.first?.values ?? []).compactMap(\.real)
    if numbers.isEmpty { return .null }
    let mean = Self.average(of: numbers)
    let variance = Self.average(of: numbers.map { ($0 - mean) * ($0 - mean) })
    return .real(variance.squareRoot(), isFinite: numbers.allSatisfy(\.isFinite))
  }

  private static func average(of numbers: [Double]) -> Double {
    var sum = RealSum()
    for number in numbers { sum.add(number) }
    return sum.average(of: numbers.count)
  }
}
