import Foundation

/// One run of the built tool, or of another program of the package.
public struct ToolRun {
  public var status: Int32
  public var output: String
  public var errors: String

  /// Runs `cambium` with these arguments and waits for it.
  ///
  /// - Parameters:
  ///   - device: takes the output instead of ``output``.
  ///   - environment: what is different in the tool's environment.
  public init(
    _ arguments: String...,
    writingTo device: FileHandle? = nil,
    environment: [String: String] = [:]
  ) throws {
    try self.init(arguments: arguments, writingTo: device, environment: environment)
  }

  /// Does the same for arguments in an array.
  ///
  /// - Parameters:
  ///   - program: the name of an executable of the package, on which the test target depends.
  ///   - folder: the folder in which it runs; nil for that of the tests.
  ///   - errorDevice: takes what goes to standard error instead of ``errors``.
  public init(
    _ program: String = "cambium",
    arguments: [String],
    in folder: String? = nil,
    writingTo device: FileHandle? = nil,
    writingErrorsTo errorDevice: FileHandle? = nil,
    environment: [String: String] = [:]
  ) throws {
    let process = Process()
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.executableURL = Self.products.appendingPathComponent(program)
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.arguments = arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = device ?? output
    process.standardError = errorDevice ?? errors
    try process.run()
    // The tool says little on standard error: a pipe's buffer holds it while the output is read.
    if device != nil { try output.fileHandleForWriting.close() }
    if errorDevice != nil { try errors.fileHandleForWriting.close() }
    self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.errors = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
  }

  public var lines: [Substring] { output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }

  /// The programs lie beside the bundle of tests.
  public static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()
}
