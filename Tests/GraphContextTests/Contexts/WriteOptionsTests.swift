import Cambium
import GraphTestSupport
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// The author and the durability that calls name are those of their commits.
struct WriteOptionsTests {
  private let disk = SimulatedDisk()
  private let library: PersistentContainer

  init() async throws {
    let store = try Store.open(
      file: disk,
      path: "library",
      options: StoreOptions(),
      environment: .simulated(seed: 7)
    )
    library = try PersistentContainer("Library", models: Library.models, on: store)
    try await library.keepHistory()
    // The first insertion leases numbers, durably in any case.
    try await library.write { $0.insert(Writer("first")) }
  }

  /// Returns how often the disk was made to sync while `body` ran, and the number of commits.
  private func work(_ body: () async throws -> Void) async throws -> (syncs: Int, commits: UInt64) {
    let (before, commit) = (disk.statistics, library.store.lastCommit)
    try await body()
    let after = disk.statistics
    let syncs = [DiskCall.writeDurably, .synchronize].reduce(0) { $0 + after.count($1) - before.count($1) }
    return (syncs, library.store.lastCommit - commit)
  }

  @Test func aWritesAuthorIsInTheHistory() async throws {
    try await library.write(author: "sync") { $0.insert(Writer("a")) }
    try library.writeAndWait(author: "screen") { $0.insert(Writer("b")) }
    try await library.write(author: "call") { context, _ in
      context.author = "block"
      context.insert(Writer("c"))
    }
    let authors = try await library.history().map(\.author)
    #expect(authors == [nil, "sync", "screen", "block"])
  }

  @Test func aRelaxedWriteIsNotSynced() async throws {
    let relaxed = try await work {
      try await library.write(durability: .relaxed) { $0.insert(Writer("a")) }
      try await library.write(durability: .relaxed) { context, _ in context.insert(Writer("b")) }
      try library.writeAndWait(durability: .relaxed) { $0.insert(Writer("c")) }
      try library.writeAndWait(durability: .relaxed) { context, _ in context.insert(Writer("d")) }
    }
    #expect(relaxed.syncs == 0 && relaxed.commits == 4)
    let full = try await work { try await library.write { $0.insert(Writer("e")) } }
    #expect(full.syncs > 0)
  }

  @Test func aRelaxedNoteOfAConsumerIsNotSynced() async throws {
    let token = try library.newestHistoryToken()
    let relaxed = try await work {
      _ = try await library.registerHistoryConsumer("index", durability: .relaxed)
      try await library.acknowledgeHistory(through: token, by: "index", durability: .relaxed)
      try await library.removeHistoryConsumer("index", durability: .relaxed)
    }
    #expect(relaxed.syncs == 0 && relaxed.commits == 3)
    let full = try await work { _ = try await library.registerHistoryConsumer("index") }
    #expect(full.syncs > 0)
  }
}
