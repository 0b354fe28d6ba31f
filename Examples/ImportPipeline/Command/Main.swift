import ArgumentParser
import Cambium
import Foundation
import ImportPipelineExample

/// `pipeline STORE [FILE]`: imports a file of readings, shows the progress, and prints the averages.
@main
struct PipelineCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipeline",
    abstract: "Imports readings by operations, with a progress."
  )

  @Argument(help: "The store's file, which is made if there is none.")
  var store: String

  @Argument(help: "A JSON Lines file; without one, the sample.")
  var file: String?

  func run() async throws {
    let pipeline = try await Pipeline(.file(URL(fileURLWithPath: store)))
    let (isTerminal, bar) = (isatty(STDOUT_FILENO) == 1, ProgressBar())
    let summary = try await pipeline.run(file.map { URL(fileURLWithPath: $0) } ?? Pipeline.sample) {
      fraction in
      // Each line takes the place of the one before.
      if isTerminal { print("\r\(bar.line(fraction))", terminator: fraction < 1 ? "" : "\n") }
      fflush(nil)
    }
    print(summary)
    try pipeline.close()
  }
}
