import Predicates

/// The part of a sequence of rows that an offset and a limit leave. No other type applies offset and limit. Rows
/// pass through a window one by one; or their source leaves rows out by rank, and takes the offset from the window
/// (``takeOffset()``); or a list takes its range from the window.
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

  /// True if every row is within.
  var isWhole: Bool { toSkip == 0 && left == .max }

  /// True if no further row is within.
  var isOver: Bool { left == 0 }

  /// The number of rows that have to be known: offset + limit; nil for all.
  var end: Int? {
    if left == 0 { return 0 }
    let (end, isTooLarge) = toSkip.addingReportingOverflow(left)
    return isTooLarge ? nil : end
  }

  /// Returns whether the next row is within.
  mutating func admits() -> Bool {
    if left == 0 { return false }
    if toSkip > 0 {
      toSkip -= 1
      return false
    }
    if left < .max { left -= 1 }
    return true
  }

  /// Returns the number of rows that the source must leave out. The window counts from the row after these rows.
  mutating func takeOffset() -> Int {
    defer { toSkip = 0 }
    return toSkip
  }

  /// Returns the rows of a list that are within.
  func rows<Row>(of rows: [Row]) -> [Row] { isWhole ? rows : Array(rows.dropFirst(toSkip).prefix(left)) }

  /// Returns the number of rows within, among `count` rows.
  func count(of count: Int) -> Int { range(in: count).count }

  /// Returns the indices of the rows within, among `count` rows.
  func range(in count: Int) -> Range<Int> {
    let start = min(toSkip, count)
    return start..<start + min(left, count - start)
  }
}
