import Cambium
import GraphTestSupport
import PageStore
import Testing

@testable import GraphContext

/// A consumer is found by each spelling of its name in Unicode, and the store has one of them.
struct ConsumerNameTests {
  private let composed = "caf\u{E9}"
  private let decomposed = "cafe\u{301}"

  /// Opens a library with a history of two transactions.
  private func openWithHistory() async throws -> (PersistentContainer, newest: HistoryToken) {
    let library = try await Library.open()
    try await library.keepHistory()
    for name in ["a", "b"] { try await library.write { $0.insert(Writer(name)) } }
    let last = try await library.history().last
    return (library, try #require(last).token)
  }

  @Test func bothSpellingsAreOneConsumer() async throws {
    let (library, newest) = try await openWithHistory()
    _ = try await library.registerHistoryConsumer(composed)
    _ = try await library.registerHistoryConsumer(decomposed)
    try await library.acknowledgeHistory(through: newest, by: decomposed)
    #expect(try library.historyConsumers == [composed: newest])
    #expect(try await library.pruneHistory(before: newest) == 2)
    try await library.removeHistoryConsumer(decomposed)
    #expect(try library.historyConsumers.isEmpty)
    #expect(try await library.verify().map(\.description) == [])
  }

  /// A store may have both spellings from an earlier version of the library.
  @Test func twoKeysOfOneConsumerCountAsOne() async throws {
    let (library, newest) = try await openWithHistory()
    let (first, second) = (composed, decomposed)
    try await library.store.write { transaction in
      let tree = try transaction.tree(HistoryTree.name)
      try tree.put(HistoryTree.consumerKey(first), SchemaTree.bytes(UInt64(1)))
      try tree.put(HistoryTree.consumerKey(second), SchemaTree.bytes(newest.commit))
    }
    #expect(try library.historyConsumers == [composed: newest])
    try await library.removeHistoryConsumer(composed)
    #expect(try library.historyConsumers.isEmpty)
  }
}
