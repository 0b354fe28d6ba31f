import Foundation
import Testing

/// One run of the built tool.
struct ToolRun {
  var status: Int32
  var output: String
  var errors: String

  /// Runs `cambium` with these arguments and waits for it.
  ///
  /// - Parameters:
  ///   - device: takes the output instead of ``output``.
  ///   - environment: what is different in the tool's environment.
  init(
    _ arguments: String...,
    writingTo device: FileHandle? = nil,
    environment: [String: String] = [:]
  ) throws {
    try self.init(arguments: arguments, writingTo: device, environment: environment)
  }

  /// The same for arguments in an array.
  init(
    arguments: [String],
    writingTo device: FileHandle? = nil,
    environment: [String: String] = [:]
  ) throws {
    let process = Process()
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.executableURL = Self.tool
    process.arguments = arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = device ?? output
    process.standardError = errors
    try process.run()
    // The tool says little on standard error: a pipe's buffer holds it while the output is read.
    if device != nil { try output.fileHandleForWriting.close() }
    self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.errors = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
  }

  var lines: [Substring] { output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }

  /// The tool lies beside the bundle of tests.
  private static let tool: URL = {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return own.deletingLastPathComponent().appendingPathComponent("cambium")
  }()
}
