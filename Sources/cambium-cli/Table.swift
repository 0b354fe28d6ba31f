/// Prints rows for people, in columns as wide as their contents.
///
/// Widths come from the first rows, so that a long result is printed while it is read; a wider value further down
/// pushes its row to the right.
struct Table {
  /// The number of rows that are measured before the first is printed.
  private static let measuredRowCount = 1_000

  struct Cell {
    var text: String
    /// Numbers stand at the right of their column.
    var isNumeric: Bool

    /// The text is escaped here already, because its width has to be known.
    init(_ text: String, isNumeric: Bool = false) {
      self.text = EscapedText.line(text)
      self.isNumeric = isNumeric
    }
  }

  private let titles: [String]
  private var widths: [Int]
  private var waiting: [[Cell]] = []
  private var hasStarted = false

  init(_ titles: [String]) {
    self.titles = titles.map(EscapedText.line)
    widths = self.titles.map(\.count)
  }

  mutating func add(_ row: [Cell]) {
    if hasStarted { return StandardOutput.print(line(row)) }
    for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.text.count) }
    waiting.append(row)
    if waiting.count == Self.measuredRowCount { start() }
  }

  /// Prints the rows that are still waiting.
  mutating func finish() {
    if !hasStarted { start() }
  }

  private mutating func start() {
    hasStarted = true
    // A title stands over its numbers.
    let isNumeric = titles.indices.map { column in waiting.contains { $0[column].isNumeric } }
    StandardOutput.print(line(zip(titles, isNumeric).map { Cell($0, isNumeric: $1) }))
    StandardOutput.print(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))
    for row in waiting { StandardOutput.print(line(row)) }
    waiting = []
  }

  private func line(_ cells: [Cell]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      if column > 0 { line += "  " }
      let padding = String(repeating: " ", count: max(0, widths[column] - cell.text.count))
      line += cell.isNumeric ? padding + cell.text : cell.text + padding
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
