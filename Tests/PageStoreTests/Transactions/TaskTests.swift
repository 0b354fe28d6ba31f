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
