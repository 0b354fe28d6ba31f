@_spi(Testing) import PageStore

/// A store on a disk that is soon full: transactions fail alone, removals go through, and whatever happens to the process
/// or the power, nothing that was acknowledged may be missing.
@_spi(Testing)
public struct FullDiskTrial: Sendable {
  private let seed: UInt64

  public init(seed: UInt64) { self.seed = seed }

  /// Runs the store's life; returns how many transactions the full disk has refused. Throws what is wrong.
  public func run() throws -> Int {
    var generator = SeededGenerator(seed: seed)
    var options = StoreOptions()
    options.pageSize = 4_096
    options.checkpointLogBytes = generator.pick([32 << 10, 256 << 10])
    let capacity = UInt64(generator.number(in: 400...1_500)) << 10
    let subject = StoreUnderTest(options: options, seed: seed)
    subject.disk.setCapacity(capacity)
    try subject.open()
    var refusals = 0
    for _ in 0..<generator.number(in: 15...40) {
      if try isRefused(Self.step(on: subject, using: &generator)) { refusals += 1 }
      if generator.chance(1, in: 8) { try crash(subject, capacity, using: &generator) }
    }
    try subject.check(seed: seed)
    // With room again, everything goes on.
    subject.disk.setCapacity(.max)
    guard case .committed = try subject.commit(.growth, durability: .full) else {
      throw OracleMismatch("a commit fails though there is room again")
    }
    try subject.close()
    return refusals
  }

  private static func step(
    on subject: StoreUnderTest,
    using generator: inout SeededGenerator
  ) throws -> StoreUnderTest.Outcome {
    switch generator.number(in: 0...9) {
    case 0...3: return try subject.commit(.growth)
    case 4: return try subject.commit(.largeValue)
    case 5: return try subject.commit(.range)
    case 6: return try subject.commit(.small, durability: .relaxed)
    case 7:
      // A checkpoint has room that was set aside for it, except for what only it knows of.
      do { try subject.checkpoint() } catch let error as StoreError where error.code == .diskFull {
        return .aborted(error)
      }
      return .committed
    default: return try subject.commit(.small)
    }
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

  /// The process dies, or the power fails, on the full disk. If recovery finds no room it may say so, and must find
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
