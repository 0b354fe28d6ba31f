import ArgumentParser
import Dispatch
import Glibc
@_spi(Testing) import TestSupport

/// Crashes stores on simulated disks until the time is over, and says what was lost.
@main
struct CrashRig: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crash-rig",
    abstract: "Crash stores on simulated disks until the time is over, and say what was lost."
  )

  @OptionGroup var arguments: Arguments

  func run() throws {
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
      return counts.imageCount >= arguments.images
        || (arguments.stopsAtFirstFailure && counts.failureCount > 0)
    }
    DispatchQueue.concurrentPerform(iterations: arguments.workers) { worker in
      var number: UInt64 = 0
      while !isOver() {
        runScenario(mixed(mixed(arguments.seed, UInt64(worker)), number), tally, until: isOver)
        number += 1
      }
    }
  }

  /// Prints a line at once: a crash of the rig itself must not take the seed with it.
  private static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }

  private static func runScenario(_ seed: UInt64, _ tally: Tally, until isOver: () -> Bool) {
    // These take no time.
    SecondCrashScenario(seed: seed, tally: tally).run(until: isOver)
    // The seed alone says which kind it is, so that it can be repeated.
    switch seed % 16 {
    case 0, 4, 8: RotScenario(seed: seed, tally: tally).run(until: isOver)
    case 12: FlipScenario(seed: seed, tally: tally).run(until: isOver)
    case 1, 9: FaultScenario(seed: seed, tally: tally).run(until: isOver)
    case 5, 13: FullDiskScenario(seed: seed, tally: tally).run(until: isOver)
    default:
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
      ? [] : counts.emptyCells
    for cell in emptyCells { print("no image: \(cell)") }
    print("\(counts.scenarios) scenarios")
    print("crash: \(counts.imageCount) images, \(counts.lost) lost, \(counts.wrong) wrong")
    return counts.failureCount == 0 && emptyCells.isEmpty
  }
}
