import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// A store whose file rots, many times over, each time in another way.
struct RotScenario {
  let seed: UInt64
  let tally: Tally

  private static let trialCount = 150

  func run(until isOver: () -> Bool) {
    var generator = SeededGenerator(seed: seed)
    let options = StoreOptions.random(using: &generator)
    let isClosed = generator.chance(2, in: 3)
    do {
      let trial = try RotTrial(
        seed: generator.next(),
        options: options,
        stepCount: generator.number(in: 2...16),
        isClosed: isClosed
      )
      for operation in trial.history {
        tally.count("histories of files that rot", operation.rawValue, .right, scenario: seed)
      }
      let count = trial.history.contains(.bulk) ? Self.trialCount / 10 : Self.trialCount
      for _ in 0..<count where !isOver() {
        runTrial(trial, isClosed: isClosed, using: &generator)
      }
    } catch {
      tally.note(.wrong("\(error)"), "making a file to rot", scenario: seed)
    }
    tally.countScenario()
  }

  private func runTrial(_ trial: RotTrial, isClosed: Bool, using generator: inout SeededGenerator) {
    let rot = generator.pick(Rot.allCases)
    let group = isClosed ? "closed files that rot" : "files left open that rot"
    do {
      let isRefused = try trial.run(rot, seed: generator.next())
      tally.count(
        group,
        "\(rot.rawValue), \(isRefused ? "refused" : "without effect")",
        .right,
        scenario: seed
      )
    } catch {
      tally.count(group, rot.rawValue, .wrong("\(error)"), scenario: seed)
    }
  }
}

/// Stores on disks of which a call fails.
struct FaultScenario {
  let seed: UInt64
  let tally: Tally

  private static let trialCount = 150

  func run(until isOver: () -> Bool) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Self.trialCount where !isOver() {
      // A dependence on a sync shows only when that very sync fails.
      let call = generator.pick(DiskCall.allCases + [.synchronize, .synchronize, .synchronize])
      let failure = generator.pick(FaultTrial.failures(of: call))
      let isSticky = failure != .error(EINTR) && generator.chance(1, in: 2)
      // Most special cases happen early in a store's life.
      let position = generator.number(in: 0...generator.pick([8, 20, 60]))
      let fault = DiskFault(call, at: position, failure, isSticky: isSticky)
      let failedSync = generator.pick(Array(FailedSyncBehavior.allCases))
      var trial = FaultTrial(fault, failedSync: failedSync, seed: generator.next())
      if generator.chance(1, in: 2) {
        trial.focus = generator.pick(Self.focuses)
        // Few calls belong to a single step.
        trial.fault.position = min(position, generator.number(in: 0...8))
      }
      run(trial)
    }
    tally.countScenario()
  }

  /// Steps that get more failing calls than their share of a store's life. A large transaction takes long.
  private static let focuses: [FaultTrial.Step] = [
    .groupCommit, .groupCommit, .groupCommit, .concurrentCheckpoint, .concurrentCheckpoint, .compaction,
    .compaction,
    .largeValue, .bulk,
  ]

  private func run(_ trial: FaultTrial) {
    let group = "runs with failing calls"
    let (fault, call) = (trial.fault, trial.fault.call.rawValue)
    do {
      let place = try trial.run().map { "in \($0.rawValue)" } ?? "not met"
      tally.count(group, "\(call), \(place)", .right, scenario: seed)
    } catch let error as LostCommits {
      tally.count(group, call, .lost("\(fault): \(error)"), scenario: seed)
    } catch {
      tally.count(group, call, .wrong("\(fault): \(error)"), scenario: seed)
    }
  }
}

/// Stores on disks that are soon full.
struct FullDiskScenario {
  let seed: UInt64
  let tally: Tally

  private static let trialCount = 30
  private static let group = "runs on full disks"

  func run(until isOver: () -> Bool) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Self.trialCount where !isOver() {
      let trial = generator.next()
      do {
        let refusals = try FullDiskTrial(seed: trial, hasDeletions: trial % 2 == 0).run()
        tally.count(Self.group, refusals > 0 ? "full" : "not full", .right, scenario: seed)
      } catch let error as LostCommits {
        tally.count(Self.group, "full", .lost("trial \(trial): \(error)"), scenario: seed)
      } catch {
        tally.count(Self.group, "full", .wrong("trial \(trial): \(error)"), scenario: seed)
      }
    }
    tally.countScenario()
  }
}

/// A few stores of each circumstance that crash again soon after a recovery: every scenario begins with them.
struct SecondCrashScenario {
  let seed: UInt64
  let tally: Tally

  private static let trialCount = 3
  private static let group = "second crashes soon after a recovery"

  func run(until isOver: () -> Bool) {
    for circumstance in SecondCrashTrial.Circumstance.allCases {
      for number in 0..<Self.trialCount where !isOver() {
        run(SecondCrashTrial(circumstance, seed: mixed(seed, UInt64(number))))
      }
    }
  }

  private func run(_ trial: SecondCrashTrial) {
    let circumstance = trial.circumstance.rawValue
    do {
      try trial.run()
      tally.count(Self.group, circumstance, .right, scenario: seed)
    } catch let error as LostCommits {
      tally.count(Self.group, circumstance, .lost("\(error)"), scenario: seed)
    } catch {
      tally.count(Self.group, circumstance, .wrong("\(error)"), scenario: seed)
    }
  }
}
