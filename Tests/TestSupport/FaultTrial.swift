import Glibc
@_spi(Testing) import PageStore

/// A store on a disk of which a call fails. Every error must be typed, and a failure that the store can handle must not
/// show. No acknowledged commit may be missing when the disk works again.
@_spi(Testing)
public struct FaultTrial: Sendable {
  /// The step that a store was taking.
  public enum Step: String, CaseIterable, Sendable {
    case creation, commit
    case relaxedCommit = "commit, relaxed"
    case largeValue = "large value"
    case range, abort, checkpoint
    case concurrentCheckpoint = "concurrent checkpoint"
    case groupCommit = "group commit"
    case bulk = "bulk transaction"
    case compaction
    case close, reopening
  }

  public var fault: DiskFault
  public var failedSync: FailedSyncBehavior
  public var seed: UInt64
  /// The step on whose calls the fault lies, after some others; nil if it lies on the store's whole life.
  public var focus: Step?

  public init(_ fault: DiskFault, in focus: Step? = nil, failedSync: FailedSyncBehavior, seed: UInt64) {
    self.fault = fault
    self.focus = focus
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
    case .startWriteback: [.error(EIO), .error(ENOSPC), .error(EINTR), .error(EOPNOTSUPP)]
    case .synchronize: [.error(EIO), .error(ENOSPC), .error(EINTR)]
    case .allocate: [.error(EIO), .error(ENOSPC), .error(EINTR), .error(EOPNOTSUPP)]
    case .punchHole: [.error(EIO), .error(EOPNOTSUPP)]
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

  /// Runs the store's life with the fault in it. Returns the step in which the fault was met, nil if it wasn't met.
  /// Throws an error if the store is wrong.
  public func run() throws -> Step? {
    var generator = SeededGenerator(seed: seed)
    var options = StoreOptions()
    options.pageSize = 4_096
    options.checkpointLogBytes = 32 << 10
    options.cacheBytes = generator.pick([64 << 10, 256 << 20])
    let subject = StoreUnderTest(options: options, seed: seed)
    subject.disk.setFailedSyncBehavior(failedSync)
    var met: Step?
    if focus == nil { subject.disk.inject(fault) }
    try live(subject, &met, using: &generator)
    try recover(subject, using: &generator)
    return met
  }

  /// Runs the store's life up to the first error that shows. `met` is the step in which the fault was.
  private func live(
    _ subject: StoreUnderTest,
    _ met: inout Step?,
    using generator: inout SeededGenerator
  ) throws {
    var step = Step.creation
    func note() { if met == nil, subject.disk.firedFaultCount > 0 { met = step } }
    defer { note() }
    do {
      try subject.open()
      let focusedNumber = focus == nil ? -1 : generator.number(in: 0...6)
      for number in 0..<14 {
        note()
        step = Self.step(using: &generator)
        if let focus, number == focusedNumber {
          step = focus
          subject.disk.inject(fault)
        }
        guard try perform(step, on: subject, using: &generator) else { continue }
        try checkStillReadable(subject)
        return
      }
      note()
      step = .close
      try subject.close()
      note()
      step = .reopening
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

  private static func step(using generator: inout SeededGenerator) -> Step {
    switch generator.number(in: 0...13) {
    case 0: .checkpoint
    case 1: .abort
    case 2: .largeValue
    case 3: .relaxedCommit
    case 4: .range
    case 5: .groupCommit
    case 6: .concurrentCheckpoint
    case 7: .compaction
    default: .commit
    }
  }

  /// Takes a step; returns true if it failed as a commit. Snapshots stay as they were, unless reads fail.
  private func perform(
    _ step: Step,
    on subject: StoreUnderTest,
    using generator: inout SeededGenerator
  ) throws -> Bool {
    var outcomes: [StoreUnderTest.Outcome] = []
    func body() throws { outcomes = try take(step, on: subject, using: &generator) }
    if fault.call == .read { try body() } else { try subject.besideSnapshot(body) }
    for outcome in outcomes {
      switch outcome {
      case .committed: continue
      case .takenBack: return true
      case .aborted(let error), .unknown(let error):
        if isHarmless {
          throw OracleMismatch("\(fault.failure) of \(fault.call) was not passed over: \(error)")
        }
        return true
      }
    }
    return false
  }

  private func take(
    _ step: Step,
    on subject: StoreUnderTest,
    using generator: inout SeededGenerator
  ) throws -> [StoreUnderTest.Outcome] {
    switch step {
    case .checkpoint:
      try subject.checkpoint()
      return []
    case .abort:
      try subject.abort()
      return []
    case .concurrentCheckpoint: return try checkpointConcurrently(subject)
    case .groupCommit:
      return try subject.groupCommit(
        (0...generator.number(in: 1...4)).map { _ in generator.pick([.full, .full, .relaxed]) }
      )
    case .largeValue: return [try subject.commit(.largeValue)]
    case .relaxedCommit: return [try subject.commit(.small, durability: .relaxed)]
    case .range: return [try subject.commit(.range)]
    case .compaction: return try compact(subject)
    case .bulk: return [try subject.commit(.bulk)]
    case .commit, .creation, .close, .reopening: return [try subject.commit(.small)]
    }
  }

  /// Makes the file short after it has grown and much was removed. A snapshot that is held meanwhile keeps pages where
  /// they are.
  private func compact(_ subject: StoreUnderTest) throws -> [StoreUnderTest.Outcome] {
    var outcomes: [StoreUnderTest.Outcome] = []
    for shape in [StoreWorkload.Shape.growth, .growth, .range] {
      outcomes.append(try subject.commit(shape))
      guard case .committed = outcomes[outcomes.count - 1] else { return outcomes }
    }
    try subject.compact()
    return outcomes
  }

  /// Runs a checkpoint with a commit at each point where others may commit, up to the first commit that fails.
  private func checkpointConcurrently(_ subject: StoreUnderTest) throws -> [StoreUnderTest.Outcome] {
    var outcomes: [StoreUnderTest.Outcome] = []
    try subject.checkpointConcurrently {
      if let last = outcomes.last {
        guard case .committed = last else { return }
      }
      outcomes.append(try subject.commit(.small, durability: outcomes.count % 2 == 0 ? .full : .relaxed))
    }
    return outcomes
  }

  /// Checks that after a failure the open store still shows a commit that is not older than any it acknowledged.
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

  /// Lets the process die, or the power fail; the disk works again. The store that opens must be right, and must stay
  /// right.
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
      // Garbage where a creation had just begun can't be told from the file of another program, and no store was
      // acknowledged.
    } catch let error as StoreError {
      throw OracleMismatch("the mended disk is refused: \(error)")
    }
  }
}
