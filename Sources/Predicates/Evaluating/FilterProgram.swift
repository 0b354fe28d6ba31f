/// A predicate compiled for records: a flat list of tests. Each test names the next one for either outcome.
///
/// A test loads a value from its position in the record's bytes and compares it with constants that the compiler
/// laid out. Nothing is allocated or decoded, except for strings that must be folded and aren't ASCII, and for
/// calculated values. Conditions on the elements of collections are steps of the same list; a step for the
/// collection runs them for each element. The results are those of ``ValueComparison``.
package struct FilterProgram: Sendable {
  /// The outcome of a finished program, in place of a step.
  enum Outcome {
    static let accepted: Int32 = -1
    static let rejected: Int32 = -2
  }

  struct Step: Sendable {
    var action: Action
    var whenTrue: Int32
    var whenFalse: Int32
  }

  /// The operand of a step.
  enum Action: Sendable {
    /// A stored value; a string is folded first.
    case field(RowField, Test, folding: StringOptions)
    /// A calculated string.
    case calculated(Range<Int>, Test, folding: StringOptions)
    /// Two calculated values.
    case values(Range<Int>, ComparisonOperator, Range<Int>, StringOptions)
    /// A calculated value that equals a literal of a set.
    case among(Range<Int>, literals: Int)
    /// The test that a loop reaches an element that counts.
    case exists(loop: Int)
  }

  /// A test of a value. Numbers stand for constants of the program.
  enum Test: Sendable {
    /// The value is missing.
    case isNull
    /// The value's word is in the range; a missing value if `orNull`.
    case word(ClosedRange<Int64>, orNull: Bool)
    /// The value's word is in one of the ranges from `first` on.
    case words(first: Int, count: Int, orNull: Bool)
    /// The value's bytes are a constant's.
    case equals(constant: Int)
    /// The value's bytes are in a set.
    case bytes(set: Int, orNull: Bool)
    /// The operator holds between the value's bytes and a constant's.
    case search(ComparisonOperator, constant: Int)
    /// The value's bytes fit a pattern with wildcards.
    case like(pattern: Int)
    /// The text fits a regular expression, which does its own folding.
    case regex(Int)
    /// The operator holds between the value and that of another field.
    case pair(ComparisonOperator, field: Int, StringOptions)
  }

  /// A set of byte strings: the cuts at which membership changes, ascending.
  struct ByteSet: Sendable {
    struct Cut: Sendable {
      var bytes: [UInt8]
      /// True if the cut is after the bytes rather than before them.
      var isAfter: Bool
    }
    var cuts: [Cut]
    /// True if the byte strings below the first cut are in the set.
    var beginsInside: Bool
  }

  /// The values and records that the program reads.
  package internal(set) var paths: RowPaths
  var steps: [Step] = []
  var start = Outcome.accepted
  var words: [ClosedRange<Int64>] = []
  var constants: [[UInt8]] = []
  var byteSets: [ByteSet] = []
  var patterns: [LikePattern] = []
  var regexes: [RegexPattern] = []
  var fields: [RowField] = []
  var literalSets: [LiteralSet] = []
  /// The instructions of all calculations, one after the other.
  var instructions: [Instruction] = []
  var loops: [Loop] = []

  /// Returns whether the row that the reader has begun matches. The reader must have the program's ``paths``, or ones
  /// that were extended from them.
  ///
  /// - Throws: ``DamagedRecord``, or what the reader's source throws.
  package func matches(_ row: inout RowReader) throws -> Bool { try holds(from: start, &row) }

  /// Returns whether the steps from one on accept the row.
  func holds(from start: Int32, _ row: inout RowReader) throws -> Bool {
    var next = start
    while next >= 0 {
      let step = steps[Int(next)]
      next = try holds(step.action, &row) ? step.whenTrue : step.whenFalse
    }
    return next == Outcome.accepted
  }
}

// MARK: - Tests

extension FilterProgram {
  @inline(__always)
  private func holds(_ action: Action, _ row: inout RowReader) throws -> Bool {
    switch action {
    case .field(let field, let test, let folding): return try holds(field, test, folding, &row)
    case .calculated(let code, let test, let folding):
      guard case .string(var text) = try self.value(of: code, &row) else { return false }
      return text.withUTF8 { bytes in
        FoldedBytes.withFolded(UnsafeRawBufferPointer(bytes), folding) { holds(test, $0) }
      }
    case .values(let left, let comparison, let right, let options):
      let value = try self.value(of: left, &row)
      return ValueComparison.holds(value, comparison, try self.value(of: right, &row), options)
    case .among(let code, let literals): return literalSets[literals].contains(try value(of: code, &row))
    case .exists(let loop): return try exists(loops[loop], &row)
    }
  }

  @inline(__always)
  private func holds(
    _ field: RowField,
    _ test: Test,
    _ folding: StringOptions,
    _ row: inout RowReader
  ) throws -> Bool {
    if field.isObjectID { return try holds(test, objectID: row.value(of: field), &row) }
    guard let record = try row.record(of: field), !field.isNull(in: record) else {
      return try holdsForNull(test, &row)
    }
    switch test {
    case .isNull: return false
    case .word(let range, _): return range.contains(FilterWord.word(of: field, in: record))
    case .words(let first, let count, _):
      return contains(FilterWord.word(of: field, in: record), first, count)
    case .pair(let comparison, let other, let options):
      return try holds(field, comparison, fields[other], options, &row)
    case .equals, .bytes, .search, .like, .regex:
      guard let bytes = field.bytes(in: record) else { throw row.damage(of: field) }
      if field.kind == .decimal {
        guard let value = StoredDecimal.read(bytes) else { throw row.damage(of: field) }
        return DecimalKey.withBytes(of: value) { holds(test, $0) }
      }
      if folding.isEmpty { return holds(test, bytes) }
      return FoldedBytes.withFolded(bytes, folding) { holds(test, $0) }
    }
  }

  /// Returns the result for a missing value: a comparison with it is false, except with nil.
  private func holdsForNull(_ test: Test, _ row: inout RowReader) throws -> Bool {
    switch test {
    case .isNull: true
    case .word(_, let orNull), .words(_, _, let orNull), .bytes(_, let orNull): orNull
    case .equals, .search, .like, .regex: false
    case .pair(let comparison, let other, _):
      ValueComparison.holds(.null, comparison, try row.value(of: fields[other]))
    }
  }

  private func holds(_ test: Test, _ bytes: UnsafeRawBufferPointer) -> Bool {
    switch test {
    case .equals(let constant):
      constants[constant].withUnsafeBytes { bytes.count == $0.count && ByteComparison.order(bytes, $0) == 0 }
    case .bytes(let set, _): byteSets[set].contains(bytes)
    case .search(let comparison, let constant):
      constants[constant].withUnsafeBytes { ByteComparison.matches(bytes, comparison, $0) }
    case .like(let pattern): patterns[pattern].matches(bytes)
    case .regex(let regex): regexes[regex].matches(String(decoding: bytes, as: UTF8.self))
    case .isNull, .word, .words, .pair: false
    }
  }

  private func holds(
    _ test: Test,
    objectID: AttributeValue,
    _ row: inout RowReader
  ) throws -> Bool {
    guard let word = FilterWord.word(of: objectID, as: .reference) else { return false }
    switch test {
    case .word(let range, _): return range.contains(word)
    case .words(let first, let count, _): return contains(word, first, count)
    case .pair(let comparison, let other, _):
      return ValueComparison.holds(objectID, comparison, try row.value(of: fields[other]))
    case .isNull, .equals, .bytes, .search, .like, .regex: return false
    }
  }

  private func holds(
    _ left: RowField,
    _ comparison: ComparisonOperator,
    _ right: RowField,
    _ options: StringOptions,
    _ row: inout RowReader
  ) throws -> Bool {
    let value = try row.value(of: left)
    return ValueComparison.holds(value, comparison, try row.value(of: right), options)
  }

  /// Returns whether one of `count` ascending ranges holds the word. O(log count).
  private func contains(_ word: Int64, _ first: Int, _ count: Int) -> Bool {
    var (low, high) = (first, first + count)
    while low < high {
      let middle = (low + high) / 2
      if words[middle].upperBound < word { low = middle + 1 } else { high = middle }
    }
    return low < first + count && words[low].lowerBound <= word
  }
}

extension FilterProgram.ByteSet {
  /// Returns whether the bytes are in the set. O(log cuts) comparisons.
  func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var (low, high) = (0, cuts.count)
    while low < high {
      let middle = (low + high) / 2
      let order = cuts[middle].bytes.withUnsafeBytes { ByteComparison.order($0, bytes) }
      if cuts[middle].isAfter ? order < 0 : order <= 0 { low = middle + 1 } else { high = middle }
    }
    return beginsInside != (low % 2 == 1)
  }
}
