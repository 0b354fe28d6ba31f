import Foundation

/// Computes aggregates of groups of rows, in one pass over the rows' bytes.
package struct Aggregation {
  /// What is done with a row for one aggregate.
  private enum Step {
    case countRow
    case countValue(RowField)
    case sumSigned(RowField)
    case sumUnsigned(RowField)
    case sumReal(RowField)
    case least(RowField)
    case greatest(RowField)
    case leastBytes(RowField)
    case greatestBytes(RowField)
    case collect(RowField)
    case sumDecimal(RowField)
    case collectDecimal(RowField)
  }

  private let aggregates: [ResolvedAggregate]
  private let steps: [Step]
  /// Nil where all rows are one group.
  private var groups: RowGroups?
  private var groupCount = 0
  /// Those of the first group, one for each aggregate, those of the second, …
  private var accumulators: [Accumulator] = []
  /// In the same places, for the least and greatest of strings and of decimals, the latter as ``DecimalKey`` has them; empty if there
  /// are none.
  private var extremes: [[UInt8]] = []
  /// In the same places, for medians.
  private var collected: [[Int64]] = []
  /// In the same places, for sums and averages of decimals.
  private var decimalSums: [DecimalSum] = []
  /// In the same places, for medians of decimals.
  private var collectedDecimals: [[DecimalParts]] = []
  private let hasExtremes: Bool
  private let hasMedians: Bool
  private let hasDecimals: Bool

  /// - Parameter paths: what is read of the rows is added.
  package init(
    _ aggregates: [ResolvedAggregate],
    by keys: [ResolvedPath],
    _ paths: inout RowPaths
  ) {
    self.aggregates = aggregates
    var fields: [RowField] = []
    for key in keys { fields.append(paths.field(for: key)) }
    var steps: [Step] = []
    for aggregate in aggregates { steps.append(Self.step(aggregate, &paths)) }
    self.steps = steps
    hasMedians = aggregates.contains { $0.function == .median }
    hasExtremes = aggregates.contains { $0.kind.hasBytes || $0.kind == .decimal }
    hasDecimals = aggregates.contains { $0.kind == .decimal }
    groups = keys.isEmpty ? nil : RowGroups(fields, paths)
    if keys.isEmpty { addGroup() }
  }

  private static func step(_ aggregate: ResolvedAggregate, _ paths: inout RowPaths) -> Step {
    guard let path = aggregate.path else { return .countRow }
    let field = paths.field(for: path)
    switch aggregate.function {
    case .count: return .countValue(field)
    case .sum, .average: return sumStep(field)
    case .minimum: return field.hasExtremeBytes ? .leastBytes(field) : .least(field)
    case .maximum: return field.hasExtremeBytes ? .greatestBytes(field) : .greatest(field)
    case .median: return field.kind == .decimal ? .collectDecimal(field) : .collect(field)
    }
  }

  private static func sumStep(_ field: RowField) -> Step {
    switch field.kind {
    case .decimal: .sumDecimal(field)
    case .uint64: .sumUnsigned(field)
    default: field.kind.isInteger ? .sumSigned(field) : .sumReal(field)
    }
  }

  private mutating func addGroup() {
    groupCount += 1
    for _ in steps { accumulators.append(Accumulator()) }
    if hasExtremes { for _ in steps { extremes.append([]) } }
    if hasMedians { for _ in steps { collected.append([]) } }
    if hasDecimals {
      for _ in steps {
        decimalSums.append(DecimalSum())
        collectedDecimals.append([])
      }
    }
  }

  /// Adds the row that the reader has begun.
  package mutating func add(_ row: inout RowReader) throws {
    let group = try groups?.group(of: &row) ?? 0
    if group == groupCount { addGroup() }
    let first = group * steps.count
    for place in steps.indices { try add(&row, steps[place], first + place) }
  }

  @inline(__always)
  private mutating func add(_ row: inout RowReader, _ step: Step, _ place: Int) throws {
    switch step {
    case .countRow: accumulators[place].count += 1
    case .countValue(let field):
      if case .null = try row.content(of: field) { return }
      accumulators[place].count += 1
    case .sumSigned(let field):
      guard case .word(let word) = try row.content(of: field) else { return }
      accumulators[place].add(Int128(word))
    case .sumUnsigned(let field):
      guard case .word(let word) = try row.content(of: field) else { return }
      accumulators[place].add(Int128(FilterWord.unsigned(word)))
    case .sumReal(let field):
      guard case .word(let word) = try row.content(of: field), !field.isNaN(word) else { return }
      accumulators[place].add(FilterWord.double(word))
    case .least(let field):
      guard case .word(let word) = try row.content(of: field), !field.isNaN(word) else { return }
      accumulators[place].takeLeast(word)
    case .greatest(let field):
      guard case .word(let word) = try row.content(of: field), !field.isNaN(word) else { return }
      accumulators[place].takeGreatest(word)
    case .leastBytes(let field): try takeExtreme(&row, field, place) { $0 < 0 }
    case .greatestBytes(let field): try takeExtreme(&row, field, place) { $0 > 0 }
    case .collect(let field):
      guard case .word(let word) = try row.content(of: field), !field.isNaN(word) else { return }
      collected[place].append(word)
    case .sumDecimal(let field):
      guard let value = try decimal(&row, field) else { return }
      accumulators[place].count += 1
      decimalSums[place].add(value)
    case .collectDecimal(let field):
      guard let value = try decimal(&row, field) else { return }
      collectedDecimals[place].append(value)
    }
  }

  /// Nil for nil and NaN.
  private func decimal(_ row: inout RowReader, _ field: RowField) throws -> DecimalParts? {
    guard case .decimal(let value) = try row.content(of: field) else { return nil }
    return DecimalParts(value)
  }

  private mutating func takeExtreme(
    _ row: inout RowReader,
    _ field: RowField,
    _ place: Int,
    _ isBetter: (Int) -> Bool
  ) throws {
    switch try row.content(of: field) {
    case .bytes(let bytes): takeExtreme(bytes, place, isBetter)
    case .decimal(let value) where !value.isNaN:
      DecimalKey.withBytes(of: value) { takeExtreme($0, place, isBetter) }
    case .null, .word, .decimal: break
    }
  }

  private mutating func takeExtreme(
    _ bytes: UnsafeRawBufferPointer,
    _ place: Int,
    _ isBetter: (Int) -> Bool
  ) {
    accumulators[place].count += 1
    if accumulators[place].count > 1 {
      let order = extremes[place].withUnsafeBytes { ByteComparison.order(bytes, $0) }
      if !isBetter(order) { return }
    }
    extremes[place] = [UInt8](bytes)
  }
}

extension RowField {
  /// Whether the least and the greatest value are told by bytes.
  fileprivate var hasExtremeBytes: Bool { kind.hasBytes || kind == .decimal }

  @inline(__always)
  fileprivate func isNaN(_ word: Int64) -> Bool {
    word == FilterWord.nan && (kind == .double || kind == .date || kind == .float)
  }
}

// MARK: - Results

extension Aggregation {
  /// How many groups there are. They are numbered in the order in which they were first seen.
  package var count: Int { groupCount }

  /// The row of a group: the values of the keys first, and then the aggregates.
  package func row(of group: Int) -> [AttributeValue] {
    var row = groups?.values(of: group) ?? []
    row.reserveCapacity(row.count + aggregates.count)
    for place in aggregates.indices { row.append(result(place, group * steps.count + place)) }
    return row
  }

  /// One value of a group's row.
  package func value(_ column: Int, of group: Int) -> AttributeValue {
    let keyCount = groups?.keyCount ?? 0
    if column < keyCount { return groups?.values(of: group)[column] ?? .null }
    return result(column - keyCount, group * steps.count + column - keyCount)
  }

  private func result(_ aggregate: Int, _ place: Int) -> AttributeValue {
    let accumulator = accumulators[place]
    switch steps[aggregate] {
    case .countRow, .countValue: return .int(Int64(accumulator.count))
    case .sumSigned, .sumUnsigned, .sumReal:
      let aggregate = aggregates[aggregate]
      return aggregate.function == .sum ? accumulator.sum(aggregate.kind) : accumulator.average(aggregate)
    case .least(let field), .greatest(let field):
      return accumulator.count == 0
        ? .null : FilterWord.value(Int64(truncatingIfNeeded: accumulator.whole), field.kind)
    case .leastBytes(let field), .greatestBytes(let field):
      return accumulator.count == 0 ? .null : extremes[place].withUnsafeBytes { field.value(ofContent: $0) }
    case .collect(let field): return Self.median(of: collected[place], field.kind)
    case .sumDecimal:
      let sum = decimalSums[place]
      if aggregates[aggregate].function == .sum { return .decimal(sum.value) }
      return accumulator.count == 0 ? .null : .decimal(sum.average(of: accumulator.count))
    case .collectDecimal: return Self.median(of: collectedDecimals[place])
    }
  }

  private static func median(of values: [DecimalParts]) -> AttributeValue {
    let sorted = values.sorted { DecimalParts.order($0, $1) < 0 }
    if sorted.isEmpty { return .null }
    return .decimal(DecimalParts.mean(sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2]))
  }

  private static func median(of words: [Int64], _ kind: AttributeKind) -> AttributeValue {
    if words.isEmpty { return .null }
    let sorted = words.sorted()
    let middle = sorted.count / 2
    let upper = FilterWord.value(sorted[middle], kind)
    return sorted.count % 2 == 1
      ? .mean(upper, upper) : .mean(FilterWord.value(sorted[middle - 1], kind), upper)
  }
}

extension Accumulator {
  /// Nil where an integer doesn't fit.
  fileprivate func sum(_ kind: AttributeKind) -> AttributeValue {
    switch kind {
    case .int64: Int64(exactly: whole).map(AttributeValue.int) ?? .null
    case .uint64: UInt64(exactly: whole).map(AttributeValue.unsigned) ?? .null
    default: .double(realSum)
    }
  }

  fileprivate func average(_ aggregate: ResolvedAggregate) -> AttributeValue {
    if count == 0 { return .null }
    let isWhole = aggregate.path?.kind.isInteger ?? true
    return .double((isWhole ? Double(whole) : realSum) / Double(count))
  }
}

extension AttributeValue {
  /// The number half way between two, as a Double, or as a Decimal if both are Decimals: exact before it is rounded where they are integers
  /// or Decimals, and no further than between them where they are not.
  package static func mean(_ first: AttributeValue, _ second: AttributeValue) -> AttributeValue {
    if case .decimal(let a) = first, case .decimal(let b) = second {
      guard let a = DecimalParts(a), let b = DecimalParts(b) else { return .null }
      return .decimal(DecimalParts.mean(a, b))
    }
    if let a = first.integer, let b = second.integer { return .double(Double(a + b) / 2) }
    guard let a = first.real, let b = second.real else { return .null }
    if a == b { return .double(a) }
    let sum = a + b
    return .double(sum.isFinite ? sum / 2 : a / 2 + b / 2)
  }

  /// 0.0 for −0.0, as aggregates have it.
  package var withoutNegativeZero: AttributeValue {
    switch self {
    case .double(0): .double(0)
    case .date(let date) where date.timeIntervalSinceReferenceDate == 0:
      .date(Date(timeIntervalSinceReferenceDate: 0))
    default: self
    }
  }
}
