import Foundation

/// The output on standard output, with emphasis if it is a terminal.
enum Terminal {
  private static let isInteractive = isatty(STDOUT_FILENO) == 1

  static func bold(_ text: String) -> String { isInteractive ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  static func dim(_ text: String) -> String { isInteractive ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

  static func section(_ title: String) { print("\n" + bold(title) + "\n") }

  /// Prints the text with each line moved to the right.
  static func indented(_ text: String, by indent: String = "    ") {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) { print(indent + line) }
  }

  /// `336776` as `336,776`.
  static func number(_ value: Int) -> String {
    var digits = String(value.magnitude)
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return (value < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
  }

  /// Three digits and a unit.
  static func duration(_ duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    for (limit, factor, unit) in [(1e-3, 1e6, "µs"), (1.0, 1e3, "ms")] where seconds < limit {
      return String(format: seconds * factor < 10 ? "%.1f %@" : "%.0f %@", seconds * factor, unit)
    }
    return String(format: "%.1f s", seconds)
  }

  static func bytes(_ count: Int) -> String {
    count < 10 << 20 ? String(format: "%.1f MiB", Double(count) / 1_048_576) : "\(number(count >> 20)) MiB"
  }

  /// Returns the bytes that the file takes on its disk.
  static func allocatedBytes(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }
}
