@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// Commits after a recovery, when the power fails before anything but recovery itself has synced its anchor.
struct SecondCrashTests {
  @Test func whatIsCommittedInALogThatRecoveryBeganInAGapSurvives() throws {
    let first = StoreFixture()
    let store = try first.open()
    try store.put("a", "1")
    // From now on there is room for pages inside of the file, where no walk looks for a log.
    try store.checkpoint()
    try store.put("a", "2")
    let capacity = UInt64(first.disk.byteCount())
    let second = StoreFixture(first.disk.afterProcessDeath())
    second.disk.setCapacity(capacity)
    try second.open().put("a", "3")
    #expect(UInt64(second.disk.byteCount()) == capacity)
    #expect(try second.reopened(powerFailed: true).value("a") == "3")
  }

  @Test(arguments: SecondCrashTrial.Circumstance.allCases)
  func aSecondCrashLosesNothingAcknowledged(_ circumstance: SecondCrashTrial.Circumstance) throws {
    var generator = SeededGenerator("\(#function) \(circumstance)")
    for _ in 0..<40 { try SecondCrashTrial(circumstance, seed: generator.next()).run() }
  }
}
