import Foundation

/// This program again, in a process of its own.
package enum ChildProcess {
  /// Runs it with the arguments and decodes its output.
  package static func output<Result: Decodable>(_ arguments: [String]) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw PeerError(
        peer: arguments.joined(separator: " "),
        message: "the process ended with status \(process.terminationStatus)"
      )
    }
    return try JSONDecoder().decode(Result.self, from: data)
  }
}
