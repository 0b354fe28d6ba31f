import Foundation

/// The progress of a long command, on standard error if that is a terminal.
enum ProgressBar {
  private static let width = 40
  private static let isTerminal = isatty(STDERR_FILENO) != 0

  /// - Parameter stage: which part of the command it is about, such as `2 of 3`; nil where there is one.
  static func show(_ done: Double, of total: Double, stage: String? = nil) {
    guard isTerminal else { return }
    let share = total > 0 ? min(1, done / total) : 1
    let filled = Int(share * Double(width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    // A line may be shorter than the one before.
    write("\r\(stage.map { $0 + " " } ?? "")\(bar) \(Int(share * 100)) %\u{1B}[K")
  }

  static func clear() {
    if isTerminal { write("\r\u{1B}[K") }
  }

  private static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
