import Foundation

extension Process {
  /// Returns a process with this program, other arguments and its standard output in a pipe. It doesn't run yet.
  static func thisProgram(_ arguments: [String], output: Pipe) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardOutput = output
    return process
  }
}
