import Foundation
import Testing

/// A document of the project, and the tables in it.
struct DocumentTable {
  private let text: String

  /// - Parameter name: the document's name in Docs.
  init(_ name: String) throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    text = try String(contentsOf: root.appendingPathComponent("Docs/\(name)"), encoding: .utf8)
  }

  /// The cells of every table with these headings.
  func rows(_ headings: String...) throws -> [[String]] {
    let lines = text.components(separatedBy: "\n")
    let heading = "| " + headings.joined(separator: " | ") + " |"
    let starts = lines.indices.filter { lines[$0] == heading }
    try #require(!starts.isEmpty)
    return starts.flatMap { start in
      lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
        line.replacingOccurrences(of: "\\|", with: "\u{1}").dropFirst().dropLast().components(
          separatedBy: "|"
        )
        .map { Self.code($0.replacingOccurrences(of: "\u{1}", with: "|")) }
      }
    }
  }

  /// What is between backticks, or the whole cell.
  private static func code(_ cell: String) -> String {
    var text = cell.trimmingCharacters(in: .whitespaces)
    for fence in ["`` ", "`"] where text.hasPrefix(fence) {
      text.removeFirst(fence.count)
      text.removeLast(fence.count)
      return text
    }
    return text
  }
}
