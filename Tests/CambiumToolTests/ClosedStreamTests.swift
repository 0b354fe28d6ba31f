import Foundation
import TestSupport
import Testing

/// A store is never taken for a standard stream that was closed when the tool was started.
struct ClosedStreamTests {
  /// Runs a line of the shell in which `$0` is the tool and `$1` the store.
  private func run(_ line: String, _ store: String) throws -> (status: Int32, errors: String) {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", line, ToolRun.products.appendingPathComponent("cambium").path, store]
    let errors = Pipe()
    shell.standardError = errors
    try shell.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    shell.waitUntilExit()
    return (shell.terminationStatus, text)
  }

  @Test func aClosedInputIsEmpty() async throws {
    let library = try await Library()
    let result = try run(#"exec "$0" query "$1" Book --predicate-file - <&-"#, library.path)
    #expect(result.status == 2 && result.errors.contains("Expected a value"), "\(result.errors)")
  }

  @Test func aClosedOutputIsAnError() async throws {
    let library = try await Library()
    let before = try Data(contentsOf: URL(fileURLWithPath: library.path))
    let result = try run(#"exec "$0" query "$1" Book >&-"#, library.path)
    #expect(result.status == 1 && result.errors.contains("could not be written"), "\(result.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: library.path)) == before)
  }
}
