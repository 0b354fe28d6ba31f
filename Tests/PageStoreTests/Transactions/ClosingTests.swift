import Dispatch
import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Closing a store while others are still in the middle of a call.
@Suite struct ClosingTests {
  /// A simulated disk whose writes can be held up, and which notes when it is closed.
  private final class SlowFile: RandomAccessFile {
    let disk = SimulatedDisk()
    private let isHolding = Atomic(false)
    private let closed = Atomic(false)
    private let held = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    func holdNextWrite() { isHolding.store(true, ordering: .releasing) }
    func waitUntilHeld() { held.wait() }
    func letGo() { released.signal() }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      if isHolding.exchange(false, ordering: .acquiringAndReleasing) {
        held.signal()
        released.wait()
      }
      return disk.write(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
      disk.read(into: buffer, at: offset)
    }
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      disk.writeDurably(bytes, at: offset)
    }
    func synchronize() -> Int32 { disk.synchronize() }
    func allocate(at offset: UInt64, byteCount: UInt64) -> Int32 {
      disk.allocate(at: offset, byteCount: byteCount)
    }
    func truncate(to byteCount: UInt64) -> Int32 { disk.truncate(to: byteCount) }
    func byteCount() -> Int64 { disk.byteCount() }
    func close() { closed.store(true, ordering: .releasing) }
  }

  /// Runs `body` on a thread of its own; the group is left when it is done.
  private func start(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
    let group = DispatchGroup()
    group.enter()
    DetachedThread.run {
      body()
      group.leave()
    }
    return group
  }

  @Test func aFencedStoreIsClosedWhenTheCheckpointBesideHasEnded() throws {
    let file = SlowFile()
    let fixture = StoreFixture()
    let store = try Store.open(
      file: file,
      path: "test",
      options: fixture.options,
      environment: fixture.environment
    )
    try store.put("a", "1")
    file.holdNextWrite()
    let checkpoint = start { try? store.checkpointBeside() }
    file.waitUntilHeld()
    file.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    #expect(code { try store.put("a", "2") } == .outcomeUnknown)
    let closing = start { try? store.close() }
    // Whoever opens the file next must not meet a write of this store.
    #expect(closing.wait(timeout: .now() + .milliseconds(100)) == .timedOut)
    #expect(!file.isClosed)
    file.letGo()
    checkpoint.wait()
    closing.wait()
    #expect(file.isClosed)
  }

  @Test func aFencedStoreIsClosedWhenTheLogsWriteHasEnded() throws {
    let file = SlowFile()
    let fixture = StoreFixture()
    let store = try Store.open(
      file: file,
      path: "test",
      options: fixture.options,
      environment: fixture.environment
    )
    try store.put("a", "1")
    // The checkpoint has written its pages when the log's write begins, and its sync fails beside that.
    file.holdNextWrite()
    let commit = start {
      // Memory has gone back to the commit before.
      #expect(code { try store.put("a", "2", durability: .relaxed) } == .outcomeUnknown)
    }
    file.waitUntilHeld()
    file.disk.inject(DiskFault(.synchronize, at: 0, .error(EIO)))
    #expect(code { try store.checkpointBeside() } == .outcomeUnknown)
    let closing = start { try? store.close() }
    #expect(closing.wait(timeout: .now() + .milliseconds(100)) == .timedOut)
    #expect(!file.isClosed)
    file.letGo()
    commit.wait()
    closing.wait()
    #expect(file.isClosed)
    #expect(store.lastCommit == 1)
  }
}
