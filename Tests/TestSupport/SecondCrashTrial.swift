import Glibc
@_spi(Testing) import PageStore

/// A store that crashes, is recovered, commits, and crashes again before anything but recovery itself has synced its
/// anchor. The commits in between must not be missing, even where the log that recovery has begun isn't found without
/// the anchor.
@_spi(Testing)
public struct SecondCrashTrial: Sendable {
  /// The events before the first crash.
  public enum Circumstance: String, CaseIterable, Sendable {
    /// Nothing special: the log continues behind the end of the file, where a walk finds it.
    case plain
    /// The disk is full: the log continues in room that had been set aside for pages.
    case fullDisk = "full disk"
    /// The record of the last checkpoint, which gave back the end of the file, is in the page cache alone: the log goes on before
    /// the end that the checkpoint on the disk knows.
    case failedClose = "failed close"
  }

  public let circumstance: Circumstance
  private let seed: UInt64

  public init(_ circumstance: Circumstance, seed: UInt64) {
    self.circumstance = circumstance
    self.seed = seed
  }

  /// Runs the store's life. Throws an error if the store is wrong.
  public func run() throws {
    var generator = SeededGenerator(seed: seed)
    var options = StoreOptions()
    options.pageSize = generator.pick([4_096, 8_192])
    let subject = StoreUnderTest(options: options, seed: seed)
    try subject.open()
    for _ in 0...generator.number(in: 0...2) {
      for _ in 0..<generator.number(in: 1...3) {
        _ = try subject.commit(generator.pick([.small, .small, .growth, .largeValue]))
      }
      try subject.checkpoint()
    }
    let capacity = try prepare(subject, using: &generator)
    // The page cache has what the disk lacks, as long as the machine lives.
    if circumstance == .failedClose ? generator.chance(7, in: 8) : generator.chance(1, in: 2) {
      subject.die()
    } else {
      subject.loseThePower(generator.pick(Damage.allCases), seed: generator.next())
    }
    try reopen(subject, capacity)
    for _ in 0..<generator.number(in: 1...2) { _ = try subject.commitOneChange(durability: .full) }
    subject.loseThePower(generator.pick([.allLost, .reordered, .mixed]), seed: generator.next())
    try reopen(subject, capacity)
    try subject.check(seed: seed)
  }

  /// Brings the circumstance about, with commits that the last checkpoint doesn't have. Returns the room on the disk.
  private func prepare(_ subject: StoreUnderTest, using generator: inout SeededGenerator) throws -> UInt64 {
    var capacity = UInt64.max
    if circumstance == .fullDisk {
      // Too little for another log extent.
      capacity = UInt64(subject.disk.byteCount()) + UInt64(generator.number(in: 0...40)) << 10
      subject.disk.setCapacity(capacity)
    }
    for _ in 0..<generator.number(in: 1...3) { _ = try subject.commitOneChange() }
    guard circumstance == .failedClose else { return capacity }
    subject.disk.setFailedSyncBehavior(generator.pick([.marksClean, .marksClean, .staysDirty, .reverts]))
    subject.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    do {
      try subject.close()
    } catch let error as StoreError where error.code == .outcomeUnknown {
      return capacity
    }
    throw OracleMismatch("a close whose record can't be written does not say so")
  }

  /// Opens the store on a disk with so much room, or with more if recovery refuses for lack of room.
  private func reopen(_ subject: StoreUnderTest, _ capacity: UInt64) throws {
    subject.disk.setCapacity(capacity)
    do {
      try subject.open()
    } catch let error as StoreError where error.code == .diskFull && circumstance == .fullDisk {
      subject.disk.setCapacity(.max)
      try subject.open()
    }
  }
}
