import Testing

@testable import PageStore

/// When a checkpoint is due.
struct UpkeepLimitsTests {
  private static let stored: UInt64 = 64 << 20

  @Test func aStoreWithoutReadersMayChangeMoreThanHalf() {
    let limits = UpkeepLimits(StoreOptions())
    #expect(limits.dirtyByteCount(storing: Self.stored, pinning: 0) == 40 << 20)
    #expect(limits.dirtyByteCountMeanwhile(storing: Self.stored, pinning: 0) == 8 << 20)
    #expect(limits.dirtyByteCount(storing: 0, pinning: 0) == 4 << 20)
  }

  /// A checkpoint may begin late: then it writes what is due and as much as may be changed meanwhile, which may be changed again.
  @Test func whatIsPinnedIsMissingForCheckpoints() {
    let limits = UpkeepLimits(StoreOptions())
    var before = UInt64.max
    for pinned in stride(from: 0, through: 2 * Self.stored, by: 1 << 20) {
      let due = limits.dirtyByteCount(storing: Self.stored, pinning: pinned)
      let meanwhile = limits.dirtyByteCountMeanwhile(storing: Self.stored, pinning: pinned)
      #expect(due <= before && meanwhile > 0)
      #expect(min(pinned, Self.stored) + due + 2 * meanwhile <= Self.stored / 16 * 17)
      before = due
    }
    #expect(before == Self.stored / 48)
  }

  @Test func aSmallStoreIsNotCheckpointedAllTheTime() {
    let limits = UpkeepLimits(StoreOptions())
    #expect(limits.dirtyByteCount(storing: 1 << 20, pinning: 1 << 20) > 3 << 20)
    #expect(limits.dirtyByteCount(storing: 8 << 20, pinning: 8 << 20) == 1 << 20)
  }

  @Test func anOptionAboveItsDefaultIsTakenAsItIs() {
    var options = StoreOptions()
    options.dirtyMemoryBytes = 1 << 30
    let limits = UpkeepLimits(options)
    #expect(limits.dirtyByteCount(storing: Self.stored, pinning: Self.stored) == 1 << 29)
    #expect(limits.dirtyByteCountMeanwhile(storing: Self.stored, pinning: Self.stored) == 1 << 29)
  }
}
