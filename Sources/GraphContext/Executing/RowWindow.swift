import Predicates

/// The part of a sequence of rows that an offset and a limit leave. No other type applies the two: rows pass through a window one by one, or their source
/// leaves rows out by rank and the window knows (``takeOffset()``), or a list asks for its range.
struct RowWindow: Equatable {
  private var toSkip: Int
  private var left: Int

  init(offset: Int, limit: Int?) {
    toSkip = offset
    left = limit ?? .max
  }

  init(_ query: ResolvedQuery) { self.init(offset: query.offset, limit: query.limit) }

  /// All rows.
  static var all: RowWindow { RowWindow(offset: 0, limit: nil) }

  /// Whether every row is within.
  var isWhole: Bool { toSkip == 0 && left == .max }

  /// Whether no further row is within.
  var isOver: Bool { left == 0 }

  /// Rows that have to be known: offset + limit; nil for all.
  var end: Int? {
    if left == 0 { return 0 }
    let (end, isTooLarge) = toSkip.addingReportingOverflow(left)
    return isTooLarge ? nil : end
  }

  /// Whether the next row is within.
  mutating func admits() -> Bool {
    if left == 0 { return false }
    if toSkip > 0 {
      toSkip -= 1
      return false
    }
    if left < .max { left -= 1 }
    return true
  }

  /// Returns how many rows the source is to leave out. The window counts from the row after those.
  mutating func takeOffset() -> Int {
    defer { toSkip = 0 }
    return toSkip
  }

  /// The rows of a list that are within.
  func rows<Row>(of rows: [Row]) -> [Row] { isWhole ? rows : Array(rows.dropFirst(toSkip).prefix(left)) }

  /// How many of `count` rows are within.
  func count(of count: Int) -> Int { range(in: count).count }

  /// The indices of the rows within, among `count` rows.
  func range(in count: Int) -> Range<Int> {
    let start = min(toSkip, count)
    return start..<start + min(left, count - start)
  }
}
