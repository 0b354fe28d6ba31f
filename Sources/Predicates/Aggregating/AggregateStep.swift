/// An aggregate of the values of a field. The operation on a row is chosen once for all rows.
struct AggregateStep: Sendable {
  private enum Action {
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
    case addValue(RowField)
  }

  let aggregate: PredicateAggregate
  private let action: Action

  /// Makes the step of an aggregate.
  ///
  /// - Parameter field: nil for a count of rows.
  init(_ aggregate: PredicateAggregate, of field: RowField?) {
    self.aggregate = aggregate
    action = field.map { Self.action(aggregate, $0) } ?? .countRow
  }

  private static func action(_ aggregate: PredicateAggregate, _ field: RowField) -> Action {
    // Decimals have no words, and their bytes have several spellings.
    if field.kind == .decimal && aggregate != .count { return .addValue(field) }
    return switch aggregate {
    case .count: .countValue(field)
    case .sum, .average: sumAction(field)
    case .minimum: field.kind.hasBytes ? .leastBytes(field) : .least(field)
    case .maximum: field.kind.hasBytes ? .greatestBytes(field) : .greatest(field)
    case .median: .collect(field)
    case .mode, .standardDeviation, .element, .last: .addValue(field)
    }
  }

  private static func sumAction(_ field: RowField) -> Action {
    if field.kind == .uint64 { return .sumUnsigned(field) }
    return field.kind.isInteger ? .sumSigned(field) : .sumReal(field)
  }

  /// Adds the value of the row. nil takes no part, and NaN takes part only in a count.
  @inline(__always)
  func add(_ row: inout RowReader, to accumulator: inout Accumulator) throws {
    switch action {
    case .countRow: accumulator.countValue()
    case .countValue(let field):
      if case .null = try row.content(of: field) { return }
      accumulator.countValue()
    case .sumSigned(let field):
      guard case .word(let word) = try row.content(of: field) else { return }
      accumulator.add(Int128(word))
    case .sumUnsigned(let field):
      guard case .word(let word) = try row.content(of: field) else { return }
      accumulator.add(Int128(FilterWord.unsigned(word)))
    case .sumReal(let field):
      guard let word = try row.number(of: field) else { return }
      accumulator.add(FilterWord.double(word))
    case .least(let field):
      guard let word = try row.number(of: field) else { return }
      accumulator.takeLeast(word)
    case .greatest(let field):
      guard let word = try row.number(of: field) else { return }
      accumulator.takeGreatest(word)
    case .leastBytes(let field):
      if case .bytes(let bytes) = try row.content(of: field) { accumulator.takeLeast(bytes) }
    case .greatestBytes(let field):
      if case .bytes(let bytes) = try row.content(of: field) { accumulator.takeGreatest(bytes) }
    case .collect(let field):
      guard let word = try row.number(of: field) else { return }
      accumulator.collect(word)
    case .addValue(let field): accumulator.add(try row.value(of: field), to: aggregate)
    }
  }

  /// Returns the aggregate of the rows that were added.
  func value(of accumulator: Accumulator) -> AttributeValue {
    switch action {
    case .least(let field), .greatest(let field):
      accumulator.word.map { FilterWord.value($0, field.kind) } ?? .null
    case .leastBytes(let field), .greatestBytes(let field):
      accumulator.bytes?.withUnsafeBytes { field.value(ofContent: $0) } ?? .null
    case .collect(let field): accumulator.median { FilterWord.value($0, field.kind) }
    case .sumSigned(let field), .sumUnsigned(let field), .sumReal(let field), .addValue(let field):
      accumulator.value(of: aggregate, field.kind)
    case .countRow, .countValue: accumulator.value(of: .count, .reference)
    }
  }
}

extension RowReader {
  /// Returns the word of the value in a field of fixed width; nil for nil and NaN.
  @inline(__always)
  fileprivate mutating func number(of field: RowField) throws -> Int64? {
    guard case .word(let word) = try content(of: field) else { return nil }
    let canBeNaN = field.kind == .double || field.kind == .date || field.kind == .float
    return canBeNaN && word == FilterWord.nan ? nil : word
  }
}
