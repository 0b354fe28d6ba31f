@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// One store's life under a seed: created, written to, checkpointed, killed, closed and opened again, while crash images
/// are taken of every change.
struct CrashScenario {
  private let seed: UInt64
  private let tally: Tally
  private let subject: StoreUnderTest
  private var steps: RecordedSteps<StoreUnderTest>
  private var generator: SeededGenerator

  init(seed: UInt64, tally: Tally) {
    self.seed = seed
    self.tally = tally
    generator = SeededGenerator(seed: seed)
    let options = StoreOptions.random(using: &generator)
    subject = StoreUnderTest(options: options, seed: seed)
    subject.lacksDurableWrites = generator.chance(1, in: 4)
    steps = RecordedSteps(of: subject, options: options, tally: tally, scenario: seed)
  }

  mutating func run(until isOver: () -> Bool) {
    steps.watch()
    do {
      try step(.creation) { subject throws in try subject.open() }
      let stepCount = generator.number(in: 6...30)
      let bulkStep = generator.chance(1, in: 4) ? generator.number(in: 0...stepCount - 1) : -1
      for number in 0..<stepCount where !isOver() {
        if number == bulkStep {
          try step(.bulk, imageCount: 2) { subject in
            try subject.besideSnapshot { try Self.commit(.bulk, on: subject) }
          }
        } else {
          try randomStep()
        }
      }
      try subject.check(seed: seed)
      if generator.chance(1, in: 2) { try step(.close) { try $0.close() } }
    } catch let error as LostCommits {
      tally.note(.lost("\(error)"), "scenario", scenario: seed)
    } catch {
      tally.note(.wrong("\(error)"), "scenario", scenario: seed)
    }
    subject.disk.witness(nil)
    tally.countScenario()
  }

  private mutating func randomStep() throws {
    let isUnsynced = subject.options.durability == .none
    switch generator.number(in: 0...31) {
    case 0...7:
      let shape = generator.pick([StoreWorkload.Shape.small, .small, .range, .trees])
      try step(.commitFull) { try Self.commit(shape, durability: .full, on: $0) }
    case 8...13:
      let shape = generator.pick([StoreWorkload.Shape.small, .small, .range, .trees])
      if isUnsynced {
        try step(.commitNone) { try Self.commit(shape, on: $0) }
      } else {
        try step(.commitRelaxed) { try Self.commit(shape, durability: .relaxed, on: $0) }
      }
    case 14:
      try maybeGrow()
      try step(.idle) { $0.idle() }
    case 15, 16:
      try step(.largeValue) { try Self.commit(.largeValue, on: $0) }
    case 17:
      try maybeGrow()
      try step(.checkpoint) { try $0.checkpoint() }
    case 18, 26:
      try maybeGrow()
      try checkpointConcurrentlyWithCommits()
    case 19:
      try subject.abort()
      try step(.idle) { $0.idle() }
    case 20:
      try step(.close) { try $0.close() }
      try reopen()
      // Some processes read the room in the file, as a first commit does, and die before that commit.
      while generator.chance(1, in: 3) {
        subject.die()
        try reopen()
      }
      // The first commit removes the closing mark.
      let durability: Durability? = isUnsynced ? nil : generator.pick([.full, .relaxed])
      try step(.firstCommit) { try Self.commit(.small, durability: durability, on: $0) }
    case 21, 22:
      subject.die()
      try reopen()
    case 23, 24: try groupCommit()
    case 27, 28: try compaction()
    case 29: try reuse()
    case 30: try truncation()
    case 31: try punching()
    default:
      subject.loseThePower(generator.pick(Damage.allCases), seed: generator.next())
      try reopen()
    }
  }

  /// Commits of several threads that share a write.
  private mutating func groupCommit() throws {
    let isUnsynced = subject.options.durability == .none
    let durabilities: [Durability?] = (0...generator.number(in: 1...4)).map { _ in
      isUnsynced ? nil : generator.pick([.full, .full, .relaxed])
    }
    try step(.groupCommit) { subject in
      for outcome in try subject.groupCommit(durabilities) {
        guard case .committed = outcome else {
          throw OracleMismatch("a commit of a group failed on a disk without faults")
        }
      }
    }
  }

  /// Runs a checkpoint with small commits of all durabilities meanwhile.
  private mutating func checkpointConcurrentlyWithCommits() throws {
    let besideSeed = generator.next()
    let isUnsynced = subject.options.durability == .none
    // A checkpoint that has no pages to write makes no sync for them. So it doesn't sync the anchor before its own,
    // either.
    if generator.chance(1, in: 2) { try step(.concurrentCheckpoint) { try $0.checkpointConcurrently {} } }
    try step(.concurrentCheckpoint) { subject in
      var generator = SeededGenerator(seed: besideSeed)
      try subject.checkpointConcurrently {
        for _ in 0..<generator.number(in: 0...2) {
          let durability: Durability? = isUnsynced ? nil : generator.pick([.full, .relaxed])
          try Self.commit(generator.pick([.small, .trees]), durability: durability, on: subject)
        }
      }
    }
  }

  /// Makes the file short, with small commits in between, and most often after much was removed.
  private mutating func compaction() throws {
    let durability = relaxedDurability
    if generator.chance(2, in: 3) {
      try step(relaxedCommit, imageCount: 1) { try Self.commit(.growth, durability: durability, on: $0) }
      try step(relaxedCommit, imageCount: 1) { try Self.commit(.range, durability: durability, on: $0) }
    }
    let seed = generator.next()
    try step(.compaction) { subject in
      var generator = SeededGenerator(seed: seed)
      try subject.compact {
        guard generator.chance(1, in: 2) else { return }
        try Self.commit(.small, durability: durability, on: subject)
      }
    }
  }

  /// Removes much, makes checkpoints, and then puts new values in the room of the removed ones.
  private mutating func reuse() throws {
    try growAndShrink()
    try step(.checkpoint, imageCount: 1) { subject in
      // The second checkpoint makes the first one's dead pages free.
      try subject.checkpoint()
      try subject.checkpoint()
    }
    let pageSize = subject.options.pageSize
    let durability = relaxedDurability
    try step(.reuse, keeping: { $0.overwritesPages(of: pageSize) }) { subject in
      try Self.commit(.growth, durability: durability, on: subject)
      try subject.checkpoint()
    }
  }

  /// Removes much, and makes the file short: its end is cut.
  private mutating func truncation() throws {
    try growAndShrink()
    try step(.truncation, keeping: { $0.hasUnsyncedCut }) { try $0.compact() }
  }

  /// Removes much, and makes the file short beside a snapshot: pages that the snapshot reads can't be moved, and the
  /// free room before them becomes holes.
  private mutating func punching() throws {
    try growAndShrink()
    let durability = relaxedDurability
    try step(.punching, keeping: { $0.hasUnsyncedHole }) { subject in
      try subject.besideSnapshot {
        try Self.commit(.small, durability: durability, on: subject)
        try subject.compact()
      }
    }
  }

  /// Leaves dead pages in the file, and live ones behind them.
  private mutating func growAndShrink() throws {
    let durability = relaxedDurability
    for shape in [StoreWorkload.Shape.growth, .growth, .shrinkage] {
      try step(relaxedCommit, imageCount: 1) { subject in
        try Self.commit(shape, durability: durability, on: subject)
        try subject.checkpoint()
      }
    }
  }

  /// The durability of a commit of this store that isn't durable when it returns.
  private var relaxedDurability: Durability? { subject.options.durability == .none ? nil : .relaxed }
  private var relaxedCommit: Operation { relaxedDurability == nil ? .commitNone : .commitRelaxed }

  /// Makes the file longer every other time, without making that durable.
  private mutating func maybeGrow() throws {
    guard generator.chance(1, in: 2) else { return }
    let durability = relaxedDurability
    try step(relaxedCommit, imageCount: 1) { try Self.commit(.growth, durability: durability, on: $0) }
  }

  private mutating func reopen() throws {
    steps.watch()
    try step(.recovery) { try $0.open() }
    try subject.check(seed: generator.next())
  }

  private static func commit(
    _ shape: StoreWorkload.Shape,
    durability: Durability? = nil,
    on subject: StoreUnderTest
  ) throws {
    guard case .committed = try subject.commit(shape, durability: durability) else {
      throw OracleMismatch("a commit failed on a disk without faults")
    }
  }

  private mutating func step(
    _ operation: Operation,
    imageCount: Int = 3,
    keeping isKept: @escaping @Sendable (CrashPoint) -> Bool = { _ in true },
    _ body: (StoreUnderTest) throws -> Void
  ) throws {
    try steps.step(operation, imageCount: imageCount, keeping: isKept, body)
  }
}

extension StoreOptions {
  /// Options with which a small store takes the code paths of a large one.
  static func random(using generator: inout SeededGenerator) -> StoreOptions {
    var options = StoreOptions()
    options.pageSize = generator.pick([4_096, 4_096, 8_192, 16_384])
    options.checkpointLogBytes = generator.pick([16 << 10, 64 << 10, 256 << 10, 16 << 20])
    options.cacheBytes = generator.pick([64 << 10, 256 << 20])
    options.durability = generator.pick([.full, .full, .relaxed, .none])
    // In a third of the scenarios, transactions write pages before they are committed.
    if generator.chance(1, in: 3) {
      options.transactionByteCount = generator.pick([1, 32 << 10, 128 << 10])
    }
    // In half of the scenarios, idle stores control their size by themselves.
    options.compaction?.leastLooseBytes = generator.pick([64 << 10, 1 << 40])
    options.compaction?.looseShare = 0.25
    options.compaction?.idleTime = .zero
    return options
  }
}
