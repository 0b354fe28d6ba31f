import Dispatch
import Foundation
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// A cut of the file that is given up, because the file has grown while the cut was being recorded.
struct CancelledCutTests {
  private func put(_ prefix: String, _ count: Int, byte: UInt8 = 1, in store: Store) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<count {
        let digits = "\(number)"
        let key = bytes(prefix + String(repeating: "0", count: 6 - digits.count) + digits)
        try tree.put(key, [UInt8](repeating: byte, count: 900))
      }
    }
  }

  private func fixture(_ disk: SimulatedDisk) -> StoreFixture {
    var fixture = StoreFixture(disk)
    // So long that no log extent lies behind the pages.
    fixture.options.initialLogByteCount = 4 << 20
    return fixture
  }

  /// Leaves a file with live pages at its front and 2,000 free pages behind them.
  private func leaveALongFile(_ fixture: StoreFixture) throws {
    let store = try fixture.open()
    try put("a", 400, in: store)
    try store.checkpoint()
    try put("b", 8_000, in: store)
    _ = try store.write { try $0.tree("t").removeRange(.prefix(bytes("b"))) }
    try store.checkpoint()
    // Moves every live page to the front.
    try put("a", 400, byte: 2, in: store)
    try store.checkpoint()
  }

  @Test func itsFreePagesStayFree() throws {
    let first = fixture(SimulatedDisk())
    try leaveALongFile(first)
    // After an opening no free page is known to have blocks.
    let disk = first.disk.afterProcessDeath()
    let store = try fixture(disk).open()
    try store.put("c", "1")
    let length = disk.content.byteCount

    // The record of a checkpoint that states a lower end: the checkpoint is restated, and the file is to be cut.
    let ended = DispatchSemaphore(value: 0)
    disk.beforeWrite { bytes in
      bytes.count >= LogRecordHeader.encodedByteCount + CheckpointRecord.fixedByteCount
        && bytes.loadUnaligned(fromByteOffset: LogRecordHeader.Offset.magic, as: UInt32.self)
          == LogRecordHeader.magic
        && bytes[LogRecordHeader.Offset.kind] == LogRecordHeader.Kind.checkpoint.rawValue
        && bytes.loadUnaligned(
          fromByteOffset: LogRecordHeader.encodedByteCount + CheckpointRecord.Offset.end,
          as: UInt64.self
        ) < length
    } _: {
      let before = store.newestCommit
      Thread.detachNewThread {
        // Needs more pages than the cut leaves.
        #expect(throws: Never.self) { try put("e", 1_000, in: store) }
        ended.signal()
      }
      for _ in 0..<20_000 where store.newestCommit == before { usleep(1_000) }
    }
    try store.checkpointConcurrently()
    try #require(ended.wait(timeout: .now() + .seconds(60)) == .success)
    disk.clearGate()

    #expect(try store.verify() == [])
    try store.checkpoint()
    try store.compact()
    let ledger = try store.spaceLedger()
    #expect(ledger.totalBytes - ledger.logBytes < 2 * ledger.liveBytes + 1 << 20, "\(ledger)")
    #expect(try store.verify() == [])
  }
}
