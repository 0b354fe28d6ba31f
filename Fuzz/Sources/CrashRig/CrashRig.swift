import ArgumentParser
import Dispatch
import Glibc
@_spi(Testing) import TestSupport

/// Crashes stores on simulated disks until the time is over, and reports lost data.
@main
struct CrashRig: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crash-rig",
    abstract: "Crash stores on simulated disks until the time is over, and say what was lost."
  )

  @OptionGroup var arguments: Arguments

  func run() throws {
    if let path = arguments.changedFile {
      return try KilledMigration.changeSchema(ofFileAt: path, scenario: arguments.scenario ?? 0)
    }
    if !Self.run(arguments) { throw ExitCode.failure }
  }

  /// True if nothing was lost or wrong, and no cell of the table is empty.
  private static func run(_ arguments: Arguments) -> Bool {
    let tally = Tally(keepingImagesIn: arguments.keptImages)
    if let scenario = arguments.scenario {
      runScenario(scenario, tally) { false }
    } else if arguments.flipsEveryBit {
      let samples = FlipTrial.Sample.allCases.filter { $0 != .longBulk }
      DispatchQueue.concurrentPerform(iterations: samples.count) { index in
        FlipScenario(seed: arguments.seed, tally: tally).runAll(samples[index])
      }
    } else {
      say("crash-rig: --seed \(arguments.seed), \(arguments.workers) workers, \(arguments.seconds) s")
      runAll(arguments, tally)
    }
    return report(tally.counts, arguments)
  }

  private static func runAll(_ arguments: Arguments, _ tally: Tally) {
    let end = ContinuousClock.now + .seconds(arguments.seconds)
    let isOver: @Sendable () -> Bool = {
      if ContinuousClock.now >= end { return true }
      let counts = tally.counts
      return
        (counts.imageCount >= arguments.images
        && counts.imageCount(of: .graph) >= arguments.graphImages)
        || (arguments.stopsAtFirstFailure && counts.failureCount > 0)
    }
    DispatchQueue.concurrentPerform(iterations: arguments.workers) { worker in
      var number: UInt64 = 0
      while !isOver() {
        let seed = seed(of: number, worker: UInt64(worker), arguments.seed)
        number += 1
        if let only = arguments.only, ScenarioKind(seed: seed) != only { continue }
        runScenario(seed, tally, until: isOver)
      }
    }
  }

  /// Returns the seed of a worker's scenario. Its last digit cycles, so that a short run has scenarios of all kinds.
  private static func seed(of number: UInt64, worker: UInt64, _ seed: UInt64) -> UInt64 {
    let random = mixed(mixed(seed, worker), number)
    let round = ScenarioKind.roundLength
    return random / round * round + (5 * number + round / 2 * worker) % round
  }

  /// Prints a line at once: a crash of the rig itself must not take the seed with it.
  private static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }

  private static func runScenario(_ seed: UInt64, _ tally: Tally, until isOver: () -> Bool) {
    // These take no time.
    SecondCrashScenario(seed: seed, tally: tally).run(until: isOver)
    switch ScenarioKind(seed: seed) {
    case .rot: RotScenario(seed: seed, tally: tally).run(until: isOver)
    case .replacement: ReplacementScenario(seed: seed, tally: tally).run(until: isOver)
    case .flips: FlipScenario(seed: seed, tally: tally).run(until: isOver)
    case .faults: FaultScenario(seed: seed, tally: tally).run(until: isOver)
    case .fullDisk: FullDiskScenario(seed: seed, tally: tally).run(until: isOver)
    case .graph:
      var scenario = GraphScenario(seed: seed, tally: tally)
      scenario.run(until: isOver)
    case .migration:
      KilledMigration.run(seed: seed, tally: tally, until: isOver)
      var scenario = MigrationScenario(seed: seed, tally: tally)
      scenario.run(until: isOver)
    case .store:
      var scenario = CrashScenario(seed: seed, tally: tally)
      scenario.run(until: isOver)
    }
  }

  private static func report(_ counts: Tally.Counts, _ arguments: Arguments) -> Bool {
    print(counts.report)
    print("")
    for failure in counts.failures { print(failure) }
    let emptyCells =
      arguments.allowsEmptyCells || arguments.flipsEveryBit || arguments.scenario != nil
        || arguments.only != nil
      ? [] : counts.emptyCells
    for cell in emptyCells { print("no image: \(cell)") }
    print("\(counts.scenarios) scenarios")
    let graphImageCount = counts.imageCount(of: .graph)
    print("graph: \(graphImageCount) images")
    print("crash: \(counts.imageCount) images, \(counts.lost) lost, \(counts.wrong) wrong")
    return counts.failureCount == 0 && emptyCells.isEmpty && graphImageCount >= arguments.graphImages
  }
}
