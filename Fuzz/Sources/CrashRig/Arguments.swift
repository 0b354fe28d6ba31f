import ArgumentParser
import Glibc
import TestSupport

/// The options of the command line.
struct Arguments: ParsableArguments {
  @Option(help: "When to stop, in seconds from the start.") var seconds = 60.0
  @Option(help: "How many crash images are enough; the run ends at whatever comes first.") var images = Int
    .max
  @Option(help: "How many of them must be images of graphs; with fewer the run fails.") var graphImages = 0
  @Option(help: "How many threads work at once.") var workers = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  @Option(help: "What every scenario's seed is made from.") var seed = SeededGenerator.seedOfThisRun()
  @Option(help: "The only scenario to run, by its own seed.") var scenario: UInt64?
  @Option(help: "Run scenarios of this kind alone.") var only: ScenarioKind?
  @Option(name: .customLong("keep"), help: "A folder that gets a copy of each image that failed.")
  var keptImages: String?
  @Flag(
    name: .customLong("allow-empty-cells"),
    help: "Let cells of the table stay empty: short runs don't reach them all."
  )
  var allowsEmptyCells = false
  @Flag(name: .customLong("flips"), help: "Do nothing but flip every bit of all headers of small files.")
  var flipsEveryBit = false
  @Flag(name: .customLong("stop-at-first"), help: "End the run at the first failure.")
  var stopsAtFirstFailure = false
  @Option(name: .customLong("change-schema-of"), help: .hidden) var changedFile: String?

  func validate() throws {
    guard workers > 0, seconds > 0 else { throw ValidationError("there is nothing to do") }
  }
}
