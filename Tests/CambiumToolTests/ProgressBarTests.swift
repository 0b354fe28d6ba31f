import Foundation
import TestSupport
import Testing

/// A long command shows its progress on one line of the terminal.
struct ProgressBarTests {
  /// Returns the lengths of the bars that the tool draws while it rewrites a store.
  private func barLengths(columnCount: UInt16?) async throws -> [Int] {
    let library = try await Library()
    let terminal = try PseudoTerminal(columnCount: columnCount)
    let arguments = ["compact", library.path, "--page-size", "65536"]
    let run = try ToolRun(arguments: arguments, writingErrorsTo: terminal.device)
    #expect(run.status == 0)
    return terminal.text().components(separatedBy: "\r").filter { $0.contains("%") }
      .map { $0.replacing("\u{1B}[K", with: "").count }
  }

  @Test func aBarIsShorterThanANarrowTerminal() async throws {
    let lengths = try await barLengths(columnCount: 20)
    #expect(!lengths.isEmpty && lengths.allSatisfy { (12..<20).contains($0) }, "\(lengths)")
  }

  @Test func aTerminalWithoutAWidthGetsAWholeBar() async throws {
    let lengths = try await barLengths(columnCount: nil)
    #expect(!lengths.isEmpty && lengths.allSatisfy { $0 > 40 }, "\(lengths)")
  }
}
