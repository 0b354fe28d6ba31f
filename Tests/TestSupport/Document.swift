import Foundation

/// A page of the documentation, for tests that compare it with the code.
public struct Document: Sendable {
  /// A block of code between two lines that begin with three backticks.
  public struct Block: Sendable {
    /// The text of the first line after the backticks: `swift`, `sh`, `text`, or nothing.
    public var language: String
    /// With a line break after each line.
    public var text: String
  }

  public let text: String

  /// - Parameter path: from the root of the repository, such as `Docs/Errors.md`.
  public init(_ path: String) throws {
    text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
  }

  public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The blocks of code, in order.
  public var blocks: [Block] {
    var blocks: [Block] = []
    var open: Block?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        if let block = open { blocks.append(block) }
        open = open == nil ? Block(language: String(line.dropFirst(3)), text: "") : nil
      } else {
        open?.text += line + "\n"
      }
    }
    return blocks
  }

  /// Returns the cells of every table with these headings, row by row; of a cell in backticks, the text between them.
  public func rows(_ headings: String...) -> [[String]] {
    let lines = text.components(separatedBy: "\n")
    let heading = "| " + headings.joined(separator: " | ") + " |"
    return lines.indices.filter { lines[$0] == heading }.flatMap { start in
      lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
        line.replacingOccurrences(of: "\\|", with: "\u{1}").dropFirst().dropLast().components(
          separatedBy: "|"
        )
        .map { Self.code($0.replacingOccurrences(of: "\u{1}", with: "|")) }
      }
    }
  }

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
