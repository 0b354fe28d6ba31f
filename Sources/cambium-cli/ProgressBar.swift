import Foundation

/// The progress of a long command, on standard error if that is a terminal.
enum ProgressBar {
  private static let greatestWidth = 40
  private static let isTerminal = isatty(STDERR_FILENO) != 0

  /// - Parameter stage: which part of the command it is about, such as `2 of 3`; nil where there is one.
  static func show(_ done: Double, of total: Double, stage: String? = nil) {
    guard isTerminal else { return }
    let share = total > 0 ? min(1, done / total) : 1
    let (before, after) = (stage.map { $0 + " " } ?? "", " \(Int(share * 100)) %")
    // A character in the last column would begin another line.
    let columnCount = Terminal.columnCount(of: STDERR_FILENO) ?? 80
    let width = max(0, min(greatestWidth, columnCount - before.count - after.count - 1))
    let filled = Int(share * Double(width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    // A line may be shorter than the one before.
    write("\r\(before)\(bar)\(after)\u{1B}[K")
  }

  static func clear() {
    if isTerminal { write("\r\u{1B}[K") }
  }

  private static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
