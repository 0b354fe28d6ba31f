@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// When a checkpoint is due.
struct UpkeepLimitsTests {
  private static let stored: UInt64 = 64 << 20

  @Test func aStoreWithoutReadersMayChangeMoreThanHalf() {
    let limits = Self.limits()
    #expect(limits.room(storing: Self.stored, pinning: 0).due == 40 << 20)
    #expect(limits.room(storing: Self.stored, pinning: 0).meanwhile == 8 << 20)
    #expect(limits.room(storing: 0, pinning: 0).due == 4 << 20)
  }

  /// A checkpoint may begin late: then it writes the pages that are due and as many pages as may be changed meanwhile,
  /// and these may be changed again.
  @Test func whatIsPinnedIsMissingForCheckpoints() {
    let limits = Self.limits()
    var before = UInt64.max
    for pinned in stride(from: 0, through: 2 * Self.stored, by: 1 << 20) {
      let due = limits.room(storing: Self.stored, pinning: pinned).due
      let meanwhile = limits.room(storing: Self.stored, pinning: pinned).meanwhile
      #expect(due <= before && meanwhile > 0)
      #expect(min(pinned, Self.stored) + due + 2 * meanwhile <= Self.stored / 16 * 17)
      before = due
    }
    #expect(before == Self.stored / 48)
  }

  /// Eight commits that change little have room beside a checkpoint. Of larger ones only one has, and the checkpoint is
  /// due later by the difference.
  @Test func largeCommitsMakeCheckpointsRarer() {
    let limits = Self.limits()
    let share = limits.room(storing: Self.stored, pinning: 0)
    for perChange in stride(from: 0, through: 16 << 20, by: 1 << 16) as StrideThrough<UInt64> {
      let room = limits.room(storing: Self.stored, pinning: 0, perChange: perChange)
      let isLarge = perChange > 1 << 20
      #expect(room.meanwhile == (isLarge ? min(perChange, share.meanwhile) : share.meanwhile))
      #expect(room.due + room.meanwhile == share.due + share.meanwhile)
      let pinned = limits.room(storing: Self.stored, pinning: 1 << 20, perChange: perChange)
      #expect(pinned == limits.room(storing: Self.stored, pinning: 1 << 20))
    }
  }

  @Test func aSmallStoreIsNotCheckpointedAllTheTime() {
    let limits = Self.limits()
    #expect(limits.room(storing: 1 << 20, pinning: 1 << 20).due > 3 << 20)
    #expect(limits.room(storing: 8 << 20, pinning: 8 << 20).due == 1 << 20)
  }

  @Test func aLargeChosenValueIsTakenAsItIs() {
    let limits = Self.limits(dirtyMemoryBytes: 2 << 30)
    for stored in [Self.stored, 64 * Self.stored] {
      #expect(limits.room(storing: stored, pinning: stored).due == 1 << 30)
      #expect(limits.room(storing: stored, pinning: stored).meanwhile == 1 << 30)
    }
  }

  /// So a program that sets an option to the value that it has read changes nothing, whatever the machine's memory is.
  @Test func noShareIsTakenAsItIs() {
    let limits = Self.limits(dirtyMemoryBytes: SystemMemory.largestShare)
    #expect(limits.room(storing: Self.stored, pinning: 0).due == 40 << 20)
    #expect(limits.room(storing: Self.stored, pinning: 0).meanwhile == 8 << 20)
  }

  @Test(arguments: [16 << 20, 64 << 20, 256 << 20, 768 << 20, 1 << 30] as [Int])
  func theFileHasRoomForAllThatMayBeChanged(dirtyMemoryBytes: Int) {
    let limits = Self.limits(dirtyMemoryBytes: dirtyMemoryBytes)
    for shift in 25..<55 {
      let stored = 1 << shift as UInt64
      let due = limits.room(storing: stored, pinning: 0).due
      let meanwhile = limits.room(storing: stored, pinning: 0).meanwhile
      #expect(due + meanwhile <= min(stored, UInt64(dirtyMemoryBytes)))
      #expect(meanwhile >= min(due, stored / 8))
      let room = limits.room(storing: stored, pinning: 0, perChange: stored / 32)
      #expect(room.due + room.meanwhile <= min(stored, UInt64(dirtyMemoryBytes)))
    }
  }

  @Test func whatIsNotChosenFollowsTheStore() {
    let limits = UpkeepLimits(StoreOptions())
    #expect(limits.room(storing: 0, pinning: 0).due == 4 << 20)
    #expect(limits.room(storing: 1 << 40, pinning: 0).due == UInt64(SystemMemory.share / 2))
  }

  @Test(arguments: [1 << 20, Int.max])
  func theLargestOptionsAreNoLimits(dirtyMemoryBytes: Int) throws {
    var fixture = StoreFixture()
    fixture.options.checkpointLogBytes = .max
    fixture.options.cacheBytes = .max
    fixture.options.dirtyMemoryBytes = dirtyMemoryBytes
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<4_000 { try tree.put(bytes("\(number)"), [UInt8](repeating: 1, count: 1_000)) }
    }
    try store.put("small", "1")
    try store.checkpoint()
    try store.put("small", "2")
    #expect(try store.verify() == [])
    try store.close()
  }

  private static func limits(dirtyMemoryBytes: Int = 256 << 20) -> UpkeepLimits {
    var options = StoreOptions()
    options.dirtyMemoryBytes = dirtyMemoryBytes
    return UpkeepLimits(options)
  }
}
