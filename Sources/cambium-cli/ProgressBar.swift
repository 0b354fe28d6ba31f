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
    let width = max(0, min(greatestWidth, columnCount - before.count - after.count - 1))
    let filled = Int(share * Double(width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    // A line may be shorter than the one before.
    write("\r\(before)\(bar)\(after)\u{1B}[K")
  }

  /// The columns of the terminal, which its user may have resized; 80 if it doesn't tell.
  private static var columnCount: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  static func clear() {
    if isTerminal { write("\r\u{1B}[K") }
  }

  private static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
