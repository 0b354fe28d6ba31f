import Foundation

/// A page of the documentation, for tests that compare it with the code.
public struct Document: Sendable {
  /// A block of code between two lines that begin with three backticks.
  public struct Block: Sendable {
    /// What the first line says after the backticks: `swift`, `sh`, `text`, or nothing.
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

  /// The cells of the first table whose first heading is this, row by row.
  public func table(_ heading: String) -> [[String]] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix("| \(heading) |") }) else { return [] }
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.dropFirst().dropLast().components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}
