import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// Small doses of what `crash-rig` does for minutes: rot, failing calls, truncation.
struct CrashTests {
  private static var smallPages: StoreOptions {
    var options = StoreOptions()
    options.pageSize = 4_096
    options.checkpointLogBytes = 64 << 10
    return options
  }

  @Test func anyFlippedBitIsRefusedOrWithoutEffect() throws {
    var generator = SeededGenerator()
    let trial = try RotTrial(seed: generator.next(), options: Self.smallPages, stepCount: 6, isClosed: true)
    var refused = 0
    for _ in 0..<TestEffort.times(400) {
      if try trial.run(.bitFlipped, seed: generator.next()) { refused += 1 }
    }
    #expect(refused > 0)
  }

  /// The one exception: a last commit that no later record vouches for looks like one that was never finished.
  @Test func inAFileThatWasNotClosedAFlippedBitCostsAtMostTheLastCommit() throws {
    var generator = SeededGenerator()
    let trial = try RotTrial(seed: generator.next(), options: Self.smallPages, stepCount: 6, isClosed: false)
    for _ in 0..<100 { _ = try trial.run(.bitFlipped, seed: generator.next()) }
  }

  @Test(arguments: Rot.allCases)
  func damageOfEachKindIsRefusedOrWithoutEffect(_ rot: Rot) throws {
    var generator = SeededGenerator("\(#function) \(rot)")
    for isClosed in [true, false] {
      let trial = try RotTrial(
        seed: generator.next(),
        options: Self.smallPages,
        stepCount: 10,
        isClosed: isClosed
      )
      for _ in 0..<12 { _ = try trial.run(rot, seed: generator.next()) }
    }
  }

  @Test func aFileCutAtAnyLengthIsRefusedOrWhole() throws {
    var generator = SeededGenerator()
    let trial = try RotTrial(seed: generator.next(), options: Self.smallPages, stepCount: 4, isClosed: true)
    var length: UInt64 = 0
    while length < trial.file.image.byteCount {
      var cut = trial.file.image
      cut.truncate(to: length)
      _ = try trial.open(cut, isWide: false, seed: generator.next())
      // Single bytes near the file's beginning, then ever larger steps.
      length += length < 40 ? 1 : UInt64(generator.number(in: 1...2_048)) + length / 64
    }
  }

  @Test(arguments: [false, true]) func aFullDiskLosesNothingAcknowledged(hasDeletions: Bool) throws {
    var generator = SeededGenerator()
    var (trials, refusals) = (0, 0)
    // A disk may be large enough for all bytes that a trial writes, and refuse nothing.
    while trials < TestEffort.times(4) || refusals == 0 && trials < 40 {
      trials += 1
      refusals += try FullDiskTrial(seed: generator.next(), hasDeletions: hasDeletions).run()
    }
    #expect(refusals > 0)
  }

  /// In these trials the log goes on among pages, over the end that the last checkpoint has recorded.
  @Test(
    arguments: [
      3_775_020_285_189_595_001, 686_626_840_994_531_430, 12_841_784_938_939_496_351,
      7_982_551_213_823_240_373, 3_186_296_366_080_377_551,
    ] as [UInt64]
  )
  func aLogAmongPagesLosesNothingAcknowledged(seed: UInt64) throws {
    #expect(try FullDiskTrial(seed: seed).run() > 0)
  }

  @Test(arguments: DiskCall.allCases)
  func aFailingCallLosesNothingAcknowledged(_ call: DiskCall) throws {
    var generator = SeededGenerator("\(#function) \(call)")
    for failure in FaultTrial.failures(of: call) {
      var position = 0
      // One failing call alone, and then every call from another one on; the rig covers the other cases.
      for isSticky in [false, true] where !(isSticky && failure == .error(EINTR)) {
        let seed = generator.next()
        for _ in 0..<TestEffort.times(1) {
          defer { position += generator.number(in: 1...60) }
          let fault = DiskFault(call, at: position, failure, isSticky: isSticky)
          let trial = FaultTrial(fault, failedSync: FailedSyncBehavior.allCases[position % 3], seed: seed)
          do {
            guard try trial.run() != nil else { break }
          } catch {
            Issue.record("\(fault), seed \(seed): \(error)")
            break
          }
        }
      }
    }
  }
}
