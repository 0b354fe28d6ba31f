import Dispatch
@_spi(Testing) import PageStore
import TestSupport
import Testing

/// Writing from tasks.
@Suite struct TaskTests {
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
    #expect(try store.verify().isEmpty)
    try store.close()
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
