import Dispatch
import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Closing a store while other threads are still in the middle of a call.
struct ClosingTests {
  /// A simulated disk whose reads and writes can be delayed, and which records when it is closed.
  private final class SlowFile: RandomAccessFile {
    let disk: SimulatedDisk
    private let isHolding = Atomic(false)
    private let isHoldingRead = Atomic(false)
    private let closed = Atomic(false)
    private let held = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    init(_ disk: SimulatedDisk = SimulatedDisk()) { self.disk = disk }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    func holdNextWrite() { isHolding.store(true, ordering: .releasing) }
    func holdNextRead() { isHoldingRead.store(true, ordering: .releasing) }
    func waitUntilHeld() { held.wait() }
    func letGo() { released.signal() }

    private func wait(if isHolding: borrowing Atomic<Bool>) {
      guard isHolding.exchange(false, ordering: .acquiringAndReleasing) else { return }
      held.signal()
      released.wait()
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      wait(if: isHolding)
      return disk.write(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
      wait(if: isHoldingRead)
      return disk.read(into: buffer, at: offset)
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

  private final class Count: Sendable {
    let value = Atomic(0)
  }

  private final class Mistakes: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
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

  @Test func aFencedStoreIsClosedWhenTheConcurrentCheckpointHasEnded() throws {
    let file = SlowFile()
    let fixture = StoreFixture()
    let store = try fixture.open(file)
    try store.put("a", "1")
    file.holdNextWrite()
    let checkpoint = start { try? store.checkpointConcurrently() }
    file.waitUntilHeld()
    file.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    #expect(code { try store.put("a", "2") } == .outcomeUnknown)
    let closing = start { try? store.close() }
    // A program that opens the file next must not meet a write of this store.
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
    let store = try fixture.open(file)
    try store.put("a", "1")
    // The checkpoint has written its pages when the log's write begins, and its sync fails at the same time.
    file.holdNextWrite()
    let commit = start {
      // The state in memory has gone back to the commit before.
      #expect(code { try store.put("a", "2", durability: .relaxed) } == .outcomeUnknown)
    }
    file.waitUntilHeld()
    file.disk.inject(DiskFault(.synchronize, at: 0, .error(EIO)))
    #expect(code { try store.checkpointConcurrently() } == .outcomeUnknown)
    let closing = start { try? store.close() }
    #expect(closing.wait(timeout: .now() + .milliseconds(100)) == .timedOut)
    #expect(!file.isClosed)
    file.letGo()
    commit.wait()
    closing.wait()
    #expect(file.isClosed)
    #expect(store.lastCommit == 1)
  }

  @Test func aFileIsClosedWhenTheReadsUnderWayHaveEnded() throws {
    let slow = SlowFile()
    let file = StoreFile(slow, path: "test")
    try bytes("abc").withBytes { try file.write($0, at: 0) }
    slow.holdNextRead()
    let reading = start {
      var found = [UInt8](repeating: 0, count: 3)
      #expect(code { try found.withUnsafeMutableBytes { try file.readExactly(into: $0, at: 0) } } == nil)
      #expect(found == bytes("abc"))
    }
    slow.waitUntilHeld()
    let closing = start { file.close() }
    while code({ try file.checkOpen() }) == nil { sched_yield() }
    // Late calls of any kind are refused; the descriptor stays open as long as the read runs.
    var found: [UInt8] = [0]
    #expect(code { try found.withUnsafeMutableBytes { _ = try file.read(into: $0, at: 0) } } == .closed)
    #expect(code { try found.withUnsafeBytes { try file.write($0, at: 0) } } == .closed)
    #expect(code { try file.synchronize() } == .closed)
    #expect(code { _ = try file.byteCount() } == .closed)
    #expect(!slow.isClosed)
    slow.letGo()
    reading.wait()
    closing.wait()
    #expect(slow.isClosed)
  }

  @Test func aStoreIsClosedWhenTheReadsUnderWayHaveEnded() throws {
    let fixture = StoreFixture()
    let made = try fixture.open()
    try made.put("a", "1")
    try made.close()
    let file = SlowFile(fixture.disk)
    let store = try fixture.open(file)
    let snapshot = try store.snapshot()
    file.holdNextRead()
    let reading = start {
      #expect((try? snapshot.tree("t").value(for: bytes("a"))) == bytes("1"))
    }
    file.waitUntilHeld()
    let closing = start { #expect(code { try store.close() } == nil) }
    #expect(closing.wait(timeout: .now() + .milliseconds(100)) == .timedOut)
    #expect(!file.isClosed)
    file.letGo()
    reading.wait()
    closing.wait()
    #expect(file.isClosed)
    #expect(code { _ = try store.snapshot() } == .closed)
  }

  /// Files with other bytes take the same descriptor number at once: a read that is slightly late would take their
  /// bytes for the store's.
  @Test func readersOfAClosedStoreReadNoOtherFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("store")
    var options = StoreOptions()
    options.cacheBytes = 64 << 10
    let filler = [UInt8](repeating: 0x5A, count: 64 << 10)
    let store = try Store.open(at: path, options: options)
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for index in 0..<1_000 { try tree.put(bytes("key \(index)"), filler.prefix(300) + bytes("\(index)")) }
    }
    try store.close()
    let other = try PosixFile.open(path: folder.file("other"), isReadOnly: false, createsIfMissing: true)
    for part in 0..<16 { _ = filler.withUnsafeBytes { other.write($0, at: UInt64(part * filler.count)) } }

    let mistakes = Mistakes()
    for round in 0..<120 {
      let store = try Store.open(at: path, options: options)
      let tree = try store.snapshot().tree("t")
      let readCount = Count()
      let readers = (0..<4).map { reader in
        start {
          // All keys in turn, of which the cache holds few.
          for step in 0..<100_000 {
            let index = (step * 331 + reader * 113 + round * 17) % 1_000
            var value: [UInt8]?
            let failure = code { value = try tree.value(for: bytes("key \(index)")) }
            if failure != nil {
              if failure != .closed { mistakes.add("\(String(describing: failure))") }
              return
            }
            if value != filler.prefix(300) + bytes("\(index)") { mistakes.add("another value") }
            readCount.value.wrappingAdd(1, ordering: .relaxed)
          }
          mistakes.add("the reader never found out")
        }
      }
      while readCount.value.load(ordering: .relaxed) < 8 { sched_yield() }
      try store.close()
      // The files keep the number in use until the readers have ended.
      let others = try (0..<8).map { _ in
        try PosixFile.open(path: folder.file("other"), isReadOnly: true, createsIfMissing: false)
      }
      for reader in readers { reader.wait() }
      for file in others { file.close() }
    }
    #expect(mistakes.all == [])
  }
}
