import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// Commits that share a write, on a disk whose calls fail or whose power fails. `crash-rig` does the same for minutes.
struct GroupCommitCrashTests {
  private func subject(seed: UInt64) throws -> StoreUnderTest {
    let subject = StoreUnderTest(options: StoreOptions(), seed: seed)
    try subject.open()
    guard case .committed = try subject.commitOneChange(durability: .full) else {
      throw OracleMismatch("a commit failed on a disk without faults")
    }
    return subject
  }

  @Test func theOthersRecordsAreWrittenTogether() throws {
    let subject = try subject(seed: 1)
    let before = subject.disk.statistics
    let outcomes = try subject.groupCommit(
      [.full, .full, .relaxed, .full, .full],
      changeCounts: 0...0,
      patience: .seconds(600)
    )
    #expect(outcomes.count == 5)
    for outcome in outcomes {
      guard case .committed = outcome else {
        Issue.record("\(outcome)")
        continue
      }
    }
    // The leader's write, and one for the four others.
    #expect(subject.disk.statistics.count(.writeDurably) == before.count(.writeDurably) + 2)
    #expect(subject.disk.statistics.count(.write) == before.count(.write))
    #expect(subject.ledger.model.required == 6)
    subject.loseThePower(.allLost, seed: 1)
    try subject.open()
    try subject.check(seed: 1)
  }

  @Test(arguments: FailedSyncBehavior.allCases)
  func whenTheWriteOfAGroupFailsEverybodyIsTold(_ behavior: FailedSyncBehavior) throws {
    for (position, isRelaxed) in [(0, false), (1, false), (0, true), (1, true)] {
      for isKilled in [false, true] {
        let subject = try subject(seed: UInt64(position))
        subject.disk.setFailedSyncBehavior(behavior)
        // After relaxed records the whole file is synced.
        let call = isRelaxed ? DiskCall.synchronize : .writeDurably
        subject.disk.inject(DiskFault(call, at: isRelaxed ? 0 : position, .error(EIO)))
        let leader = isRelaxed && position == 1 ? Durability.relaxed : .full
        if isRelaxed { _ = try subject.commitOneChange(durability: .relaxed) }
        let outcomes = try subject.groupCommit([leader, .full, .relaxed, .full], patience: .seconds(600))
        #expect(outcomes.count == 4)
        #expect(subject.disk.firedFaultCount == 1)
        for (index, outcome) in outcomes.enumerated() {
          let isInTheLeadersWrite = index == 0
          switch outcome {
          case .unknown: continue
          case .committed, .takenBack:
            #expect(isInTheLeadersWrite && position == 1, "commit \(index)")
          case .aborted(let error): Issue.record("commit \(index): \(error)")
          }
        }
        #expect(code { try subject.store?.write { try $0.tree("t").put([1], [1]) } } == .fenced)
        if isKilled { subject.die() } else { subject.loseThePower(.mixed, seed: 3) }
        try subject.open()
        try subject.check(seed: 1)
      }
    }
  }

  @Test func aCrashAtAnyCallOfAGroupLeavesWhatWasAcknowledged() throws {
    var generator = SeededGenerator()
    for _ in 0..<15 {
      let step = generator.pick([FaultTrial.Step.groupCommit, .concurrentCheckpoint])
      let call = generator.pick([DiskCall.write, .writeDurably, .synchronize])
      let fault = DiskFault(call, at: generator.number(in: 0...3), .error(EIO))
      let behavior = generator.pick(Array(FailedSyncBehavior.allCases))
      _ = try FaultTrial(fault, in: step, failedSync: behavior, seed: generator.next()).run()
    }
  }
}
