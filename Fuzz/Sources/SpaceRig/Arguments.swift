import ArgumentParser
import TestSupport

/// The options of the command line.
struct Arguments: ParsableArguments {
  @Option(name: .customLong("updates"), help: "How many updates each trial makes.") var updateCount =
    1_000_000
  @Option(name: .customLong("entries"), help: "How many entries each store has.") var entryCount = 200_000
  @Option(help: "The only trial to run.") var only: Trial?
  @Option(
    help:
      "Where the stores are made: a folder of the disk in question. The system's temporary folder may be memory."
  )
  var folder = "."
  @Option(help: "What the trials' random choices are made from.") var seed = SeededGenerator.seedOfThisRun()

  func validate() throws {
    guard updateCount >= 10_000, entryCount >= 10_000 else {
      throw ValidationError("fewer than 10,000 updates or entries say nothing")
    }
  }
}

extension Trial: ExpressibleByArgument {}
