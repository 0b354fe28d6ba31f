import Glibc
@_spi(Testing) import PageStore

/// A store on a disk of which a call fails: every error must be typed, a failure that can be passed over must be, and
/// nothing that was acknowledged may be missing when the disk is well again.
@_spi(Testing)
public struct FaultTrial: Sendable {
  public var fault: DiskFault
  public var failedSync: FailedSyncBehavior
  public var seed: UInt64

  public init(_ fault: DiskFault, failedSync: FailedSyncBehavior, seed: UInt64) {
    self.fault = fault
    self.failedSync = failedSync
    self.seed = seed
  }

  /// The failures worth injecting into `call`.
  public static func failures(of call: DiskCall) -> [DiskFailure] {
    switch call {
    case .read: [.error(EIO), .error(EINTR), .short(isOneByte: false), .short(isOneByte: true)]
    case .write, .writeDurably:
      [
        .error(EIO), .error(ENOSPC), .error(EINTR), .nothing, .short(isOneByte: false),
        .short(isOneByte: true),
      ]
    case .synchronize: [.error(EIO), .error(ENOSPC), .error(EINTR)]
    case .allocate: [.error(EIO), .error(ENOSPC), .error(EINTR), .error(EOPNOTSUPP)]
    case .truncate: [.error(EIO), .error(ENOSPC), .error(EINTR)]
    }
  }

  /// Whether the store must not show that the call failed.
  private var isHarmless: Bool {
    switch fault.failure {
    case .error(let errno): errno == EINTR || errno == EOPNOTSUPP
    case .short: true
    case .nothing: !fault.isSticky
    }
  }

  /// Runs the store's life with the fault in it; true if the fault was met. Throws what is wrong.
  public func run() throws -> Bool {
    var generator = SeededGenerator(seed: seed)
    var options = StoreOptions()
    options.pageSize = 4_096
    options.checkpointLogBytes = 32 << 10
    options.cacheBytes = generator.pick([64 << 10, 256 << 20])
    let subject = StoreUnderTest(options: options, seed: seed)
    subject.disk.setFailedSyncBehavior(failedSync)
    subject.disk.inject(fault)
    try live(subject, using: &generator)
    let wasMet = subject.disk.firedFaultCount > 0
    try recover(subject, using: &generator)
    return wasMet
  }

  /// The store's life up to the first error that shows.
  private func live(_ subject: StoreUnderTest, using generator: inout SeededGenerator) throws {
    do {
      try subject.open()
      for _ in 0..<14 where try step(on: subject, using: &generator) {
        try checkStillReadable(subject)
        return
      }
      try subject.close()
      try subject.open()
      try subject.compare(seed: seed)
    } catch let error as StoreError {
      if isHarmless {
        throw OracleMismatch("\(fault.failure) of \(fault.call) was not passed over: \(error)")
      }
      guard error.code != .corrupt else {
        throw OracleMismatch("an I/O error is called corruption: \(error)")
      }
      if subject.store != nil { try checkStillReadable(subject) }
    }
  }

  /// One step; true if it failed as a commit.
  private func step(on subject: StoreUnderTest, using generator: inout SeededGenerator) throws -> Bool {
    let outcome: StoreUnderTest.Outcome
    switch generator.number(in: 0...8) {
    case 0:
      try subject.checkpoint()
      return false
    case 1:
      try subject.abort()
      return false
    case 2: outcome = try subject.commit(.largeValue)
    case 3: outcome = try subject.commit(.small, durability: .relaxed)
    case 4: outcome = try subject.commit(.range)
    default: outcome = try subject.commit(.small)
    }
    switch outcome {
    case .committed: return false
    case .takenBack: return true
    case .aborted(let error), .unknown(let error):
      if isHarmless {
        throw OracleMismatch("\(fault.failure) of \(fault.call) was not passed over: \(error)")
      }
      return true
    }
  }

  /// After a failure the open store still shows a commit that is not older than any it acknowledged.
  private func checkStillReadable(_ subject: StoreUnderTest) throws {
    guard fault.call != .read, let store = subject.store else { return }
    let model = subject.ledger.model
    let shown = try store.snapshot()
    guard shown.commit >= model.required, shown.commit <= model.newest else {
      throw OracleMismatch(
        "after the failure the store shows commit \(shown.commit) of \(model.required)...\(model.newest)"
      )
    }
    var comparison = SnapshotComparison(seed: seed)
    if let difference = try comparison.difference(of: shown, from: model.commits[Int(shown.commit)].state) {
      throw OracleMismatch("after the failure the store shows \(difference)")
    }
  }

  /// The process dies, or the power fails; the disk is well again. What opens must hold, and go on holding.
  private func recover(_ subject: StoreUnderTest, using generator: inout SeededGenerator) throws {
    if generator.chance(1, in: 2) {
      subject.die()
    } else {
      subject.loseThePower(generator.pick(Damage.allCases), seed: generator.next())
    }
    do {
      try subject.open()
      try subject.check(seed: seed)
      guard case .committed = try subject.commit(.small, durability: .full) else {
        throw OracleMismatch("a commit fails on the mended disk")
      }
      subject.loseThePower(generator.pick([.allLost, .mixed]), seed: generator.next())
      try subject.open()
      try subject.check(seed: seed &+ 1)
    } catch let error as StoreError where error.code == .notAStore && subject.ledger.model.uuid == nil {
      // Garbage where a creation had just begun can't be told from somebody's file, and nobody was told of a store.
    } catch let error as StoreError {
      throw OracleMismatch("the mended disk is refused: \(error)")
    }
  }
}
