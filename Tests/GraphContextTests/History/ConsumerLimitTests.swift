import Cambium
import Testing

@testable import GraphContext

private enum Yard {
  @Model final class Crate {
    var code: String
    init(_ code: String) { self.code = code }
  }
}

/// Transactions that a consumer has yet to read go by the limits for consumers, even if these are the closer ones.
struct ConsumerLimitTests {
  private let yard: PersistentContainer

  init() async throws {
    yard = try await PersistentContainer("Yard", models: Yard.Crate.self, at: .inMemory)
    try await yard.keepHistory(
      HistoryPolicy(limits: .none, consumerLimits: HistoryLimits(transactionCount: 3))
    )
  }

  /// Saves `count` crates, each in a save of its own, and returns the number of transactions in the history.
  private func save(_ count: Int) async throws -> Int {
    for number in 0..<count { try await yard.write { $0.insert(Yard.Crate("\(number)")) } }
    return try await yard.history().count
  }

  @Test func unreadTransactionsGoByTheirOwnLimits() async throws {
    _ = try await yard.registerHistoryConsumer("index")
    #expect(try await save(10) == 3)
    #expect(try await yard.verify().isEmpty)
  }

  @Test func transactionsWithoutAConsumerGoByTheOtherLimits() async throws {
    #expect(try await save(10) == 10)
  }

  @Test func anOlderTransactionThatWasReadKeepsTheUnreadOnes() async throws {
    _ = try await yard.registerHistoryConsumer("index")
    _ = try await save(1)
    try await yard.acknowledgeHistory(through: yard.newestHistoryToken(), by: "index")
    #expect(try await save(10) == 11)
    try await yard.pruneHistory(before: yard.history()[0].token)
    #expect(try await save(1) == 3)
  }
}
