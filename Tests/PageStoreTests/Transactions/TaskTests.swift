import Dispatch
import Synchronization
import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Writing, and other work that waits, from tasks.
struct TaskTests {
  @Test func aTaskWritesAndWaitsWithoutAThread() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tasks.cambium")
    // Quoted in Docs/Concurrency.md
    let store = try Store.open(at: path)
    try await store.write(timeout: .seconds(2)) { transaction in
      try transaction.tree("words").put([99, 97, 109], [1])
    }
    try await store.checkpoint()
    try await store.close()
    // End of quotation
    #expect(try Store.open(at: path).snapshot().tree("words").value(for: [99, 97, 109]) == [1])
  }

  @Test func tasksThatCommitTogetherShareSyncs() async throws {
    let folder = try TemporaryFolder()
    let store = try Store.open(at: folder.file("tasks.cambium"))
    let before = try store.statistics.syncs
    try await withThrowingTaskGroup { group in
      for task in 0..<64 {
        group.addTask {
          for round in 0..<5 {
            try await store.write { transaction in
              let tree = try transaction.tree("t")
              try tree.put(bytes("key \(task) \(round)"), bytes("value"))
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(store.lastCommit == 320)
    #expect(try store.statistics.syncs - before < 320)
    #expect(try store.snapshot().tree("t").count == 320)
    #expect(try await store.verify().isEmpty)
    try await store.close()
  }

  @Test func aTransactionWaitsForItsTurnNoLongerThanItIsTold() async throws {
    let store = try Store.inMemory()
    let hasBegun = Signal()
    let mayEnd = Signal()
    let other = Task {
      try await store.write { transaction in
        hasBegun.set()
        mayEnd.wait()
        try transaction.tree("t").put(bytes("a"), bytes("1"))
      }
    }
    await Task.detached { hasBegun.wait() }.value
    var hasRun = false
    func write(timeout: Duration) -> StoreError.Code? {
      code {
        try store.write(timeout: timeout) { transaction in
          hasRun = true
          try transaction.tree("t").put(bytes("b"), bytes("2"))
        }
      }
    }
    #expect(write(timeout: .milliseconds(20)) == .timedOut)
    #expect(write(timeout: .zero) == .timedOut)
    #expect(!hasRun)
    mayEnd.set()
    try await other.value
    #expect(write(timeout: .seconds(60)) == nil)
    #expect(store.lastCommit == 2)
  }

  @Test func anAsynchronousTransactionWaitsForItsTurnNoLongerThanItIsTold() async throws {
    let store = try Store.inMemory()
    let hasBegun = Signal()
    let mayEnd = Signal()
    let first = Task {
      try await store.write { transaction in
        hasBegun.set()
        mayEnd.wait()
        try transaction.tree("t").put(bytes("a"), bytes("1"))
      }
    }
    await Task.detached { hasBegun.wait() }.value
    let hasRun = Atomic(false)
    @Sendable func write(timeout: Duration?) async throws {
      try await store.write(timeout: timeout) { transaction in
        hasRun.store(true, ordering: .relaxed)
        try transaction.tree("t").put(bytes("b"), bytes("2"))
      }
    }
    for timeout in [Duration.milliseconds(20), .zero] {
      let error = await #expect(throws: StoreError.self) { try await write(timeout: timeout) }
      #expect(error?.code == .timedOut)
    }
    let ran = hasRun.load(ordering: .relaxed)
    #expect(!ran)
    mayEnd.set()
    try await first.value
    #expect(store.lastCommit == 1)
    #expect(try store.snapshot().tree("t").value(for: bytes("b")) == nil)
    try await write(timeout: .seconds(60))
    #expect(store.lastCommit == 2)
  }

  @Test func aTransactionOutlivesItsTask() async throws {
    let store = try Store.inMemory()
    let hasBegun = Signal()
    let mayEnd = Signal()
    let task = Task {
      try await store.write(timeout: .seconds(60)) { transaction in
        hasBegun.set()
        mayEnd.wait()
        try transaction.tree("t").put(bytes("a"), bytes("1"))
      }
    }
    await Task.detached { hasBegun.wait() }.value
    task.cancel()
    mayEnd.set()
    try await task.value
    #expect(store.lastCommit == 1)
  }

  /// A call that waits for a writer waits on a thread of its own: with at least as many calls as the runtime has
  /// threads, another task still runs.
  @Test func callsThatWaitBlockNoThreadOfTheRuntime() async throws {
    let folder = try TemporaryFolder()
    let store = try Store.open(at: folder.file("tasks.cambium"))
    let hasBegun = Signal()
    let mayEnd = Signal()
    let writer = Task {
      try await store.write { transaction in
        hasBegun.set()
        mayEnd.wait()
        try transaction.tree("t").put(bytes("a"), bytes("1"))
      }
    }
    await Task.detached { hasBegun.wait() }.value
    let checks = (0..<64).map { number in
      Task {
        if number.isMultiple(of: 2) { try await store.checkpoint() } else { _ = try await store.verify() }
      }
    }
    while store.writerLock.sleeperCount < checks.count { try await Task.sleep(for: .milliseconds(1)) }
    mayEnd.set()
    try await writer.value
    for check in checks { try await check.value }
    #expect(try store.statistics.checkpointCommit == 1)
    try await store.close()
  }

  @Test func asynchronousCallsDoWhatTheSynchronousOnesDo() async throws {
    let folder = try TemporaryFolder()
    let store = try Store.open(at: folder.file("tasks.cambium"))
    try await store.write(durability: .relaxed) { try $0.tree("t").put(bytes("a"), bytes("1")) }
    try await store.makeDurable()
    #expect(!store.committer.log.hasUnsynced)
    try await store.checkpoint()
    #expect(try store.statistics.checkpointCommit == 1)
    #expect(try await store.compact().currentBytes == store.spaceLedger().totalBytes)
    #expect(try await !store.copy(to: folder.file("ended.cambium")) { _ in false })
    #expect(try await store.copy(to: folder.file("copy.cambium")))
    #expect(try await store.verify(includingWarnings: true) == [])
    try await store.close()
    let makingDurable = await #expect(throws: StoreError.self) { try await store.makeDurable() }
    #expect(makingDurable?.code == .closed)
    let checkpoint = await #expect(throws: StoreError.self) { try await store.checkpoint() }
    #expect(checkpoint?.code == .closed)
    let copy = try Store.open(at: folder.file("copy.cambium"))
    #expect(copy.uuid == store.uuid)
    #expect(try copy.snapshot().tree("t").value(for: bytes("a")) == bytes("1"))
    try await copy.close()
  }

  /// A moment that threads wait for.
  private final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func set() { semaphore.signal() }
    func wait() { semaphore.wait() }
  }

  @Test func whatTheTransactionReturnsOrThrowsComesBack() async throws {
    struct Refusal: Error {}
    let store = try Store.inMemory()
    let count = try await store.write { transaction in
      let tree = try transaction.tree("t")
      try tree.put(bytes("a"), bytes("1"))
      return try tree.count
    }
    #expect(count == 1)
    await #expect(throws: Refusal.self) { try await store.write { _ in throw Refusal() } }
    #expect(store.lastCommit == 1)
  }
}
