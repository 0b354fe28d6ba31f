/// Prints rows in columns as wide as what stands in them: for people.
///
/// Widths come from the first rows, so that a long result is printed while it is read; a wider value further down pushes
/// its row to the right.
struct Table {
  /// How many rows are looked at before the first is printed.
  private static let measuredRowCount = 1_000

  struct Column {
    var title: String
    /// Numbers stand at the right.
    var isNumeric: Bool
  }

  private let columns: [Column]
  private var widths: [Int]
  private var waiting: [[String]] = []
  private var hasStarted = false
  private let output: (String) -> Void

  init(_ columns: [Column], output: @escaping (String) -> Void = { print($0) }) {
    self.columns = columns
    self.output = output
    widths = columns.map(\.title.count)
  }

  mutating func add(_ row: [String]) {
    if hasStarted { return output(line(row)) }
    for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
    waiting.append(row)
    if waiting.count == Self.measuredRowCount { start() }
  }

  /// Prints what is still waiting.
  mutating func finish() {
    if !hasStarted { start() }
  }

  private mutating func start() {
    hasStarted = true
    output(line(columns.map(\.title)))
    output(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))
    for row in waiting { output(line(row)) }
    waiting = []
  }

  private func line(_ cells: [String]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      if column > 0 { line += "  " }
      let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
      line += columns[column].isNumeric ? padding + cell : cell + padding
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
