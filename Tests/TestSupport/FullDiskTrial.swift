@_spi(Testing) import PageStore

/// A store on a disk that is soon full. A refused transaction fails alone, and removals succeed. No acknowledged commit
/// may be missing, whether the process dies or the power fails.
@_spi(Testing)
public struct FullDiskTrial: Sendable {
  private let seed: UInt64
  private let hasDeletions: Bool

  /// - Parameter hasDeletions: whether it also has deletions that put something, and compactions. Without them a seed
  ///   makes the same trial as before there were any.
  public init(seed: UInt64, hasDeletions: Bool = false) {
    (self.seed, self.hasDeletions) = (seed, hasDeletions)
  }

  /// Runs the store's life; returns how many transactions the full disk has refused. Throws an error if the store is
  /// wrong.
  public func run() throws -> Int {
    var generator = SeededGenerator(seed: seed)
    var options = StoreOptions()
    options.pageSize = 4_096
    options.checkpointLogBytes = generator.pick([32 << 10, 256 << 10])
    // On some disks there is room for a few large transactions.
    let isLarge = generator.chance(1, in: 8)
    let kibibytes = isLarge ? 5_000...14_000 : 400...1_500
    let capacity = UInt64(generator.number(in: kibibytes)) << 10
    let subject = StoreUnderTest(options: options, seed: seed)
    subject.disk.setCapacity(capacity)
    try subject.open()
    var refusals = 0
    let stepCount = generator.number(in: 15...40)
    let bulkStep = isLarge || generator.chance(1, in: 8) ? generator.number(in: 0...stepCount - 1) : -1
    for number in 0..<stepCount {
      let outcomes = try subject.besideSnapshot {
        if number == bulkStep { return [try subject.commit(.bulk)] }
        return try step(on: subject, using: &generator)
      }
      for outcome in outcomes where try isRefused(outcome) { refusals += 1 }
      if generator.chance(1, in: 8) { try crash(subject, capacity, using: &generator) }
    }
    try subject.check(seed: seed)
    // With room again, everything works.
    subject.disk.setCapacity(.max)
    guard case .committed = try subject.commit(.growth, durability: .full) else {
      throw OracleMismatch("a commit fails though there is room again")
    }
    try subject.close()
    return refusals
  }

  private func step(
    on subject: StoreUnderTest,
    using generator: inout SeededGenerator
  ) throws -> [StoreUnderTest.Outcome] {
    switch generator.number(in: 0...(hasDeletions ? 29 : 23)) {
    case 0...7: return [try subject.commit(.growth)]
    case 8, 9: return [try subject.commit(.largeValue)]
    case 10, 11: return [try subject.commit(.range)]
    case 12, 13: return [try subject.commit(.small, durability: .relaxed)]
    case 14, 15: return try refusable { try subject.checkpoint() }
    case 20...23: return [try subject.commit(.deletion)]
    case 24, 25: return try refusable { try subject.compact() }
    case 16, 17:
      var outcomes: [StoreUnderTest.Outcome] = []
      outcomes += try refusable {
        try subject.checkpointConcurrently { outcomes.append(try subject.commit(.growth)) }
      }
      return outcomes
    case 18, 19:
      return try subject.groupCommit(
        (0...generator.number(in: 1...4)).map { _ in generator.pick([.full, .relaxed]) }
      )
    default: return [try subject.commit(.small)]
    }
  }

  /// Runs a checkpoint, which has room that was set aside for it, except for the part that only the checkpoint can
  /// know, or a compaction, which may find no room.
  private func refusable(_ work: () throws -> Void) throws -> [StoreUnderTest.Outcome] {
    do { try work() } catch let error as StoreError where error.code == .diskFull {
      return [.aborted(error)]
    }
    return [.committed]
  }

  private func isRefused(_ outcome: StoreUnderTest.Outcome) throws -> Bool {
    switch outcome {
    case .committed: return false
    case .aborted(let error) where error.code == .diskFull: return true
    case .aborted(let error), .unknown(let error):
      throw OracleMismatch("a full disk is not called that: \(error)")
    case .takenBack: throw OracleMismatch("a commit was taken back on a disk that is only full")
    }
  }

  /// Lets the process die, or the power fail, on the full disk. Recovery may refuse if it finds no room, and must find
  /// everything when there is some.
  private func crash(
    _ subject: StoreUnderTest,
    _ capacity: UInt64,
    using generator: inout SeededGenerator
  ) throws {
    if generator.chance(1, in: 2) {
      subject.die()
    } else {
      subject.loseThePower(generator.pick([.allLost, .allKept, .mixed]), seed: generator.next())
    }
    subject.disk.setCapacity(capacity)
    do {
      try subject.open()
    } catch let error as StoreError where error.code == .diskFull {
      subject.disk.setCapacity(.max)
      try subject.open()
      subject.disk.setCapacity(capacity)
    }
    try subject.check(seed: generator.next())
  }
}
