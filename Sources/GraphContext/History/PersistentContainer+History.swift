import Foundation
import Predicates

// The history of a store: which commits changed which objects, for programs that were not running.

extension PersistentContainer {
  /// Makes the store keep a history of its commits, or changes how long it keeps it.
  ///
  /// The store keeps the history, not the container: from now on every save by any program is noted, in the same
  /// commit. A program that relies on the history calls this after each opening; if nothing changes, the call writes
  /// nothing.
  ///
  /// ```swift
  /// try await container.keepHistory()
  /// let token = try container.newestHistoryToken()
  /// ```
  ///
  /// A history begins with the next save. A small save writes about 50 bytes more to the log, and the names of its
  /// author and its context; one that changes many objects writes a byte or two for each of them, as a rule. Versions
  /// of the library that know nothing of histories don't open the store any more.
  ///
  /// - Parameters:
  ///   - policy: how long transactions are kept.
  ///   - durability: when the change counts as done, if not as the container's options say.
  /// - Throws: `store` when the store can't be written.
  public func keepHistory(
    _ policy: HistoryPolicy = HistoryPolicy(),
    durability: Durability? = nil
  ) async throws(ContextError) {
    try await withEngine { try $0.keepHistory(policy, durability) }
  }

  /// Removes the history of the store with its consumers, and keeps none from now on. Tokens of it expire.
  ///
  /// - Parameter durability: when the removal counts as done, if not as the container's options say.
  public func dropHistory(durability: Durability? = nil) async throws(ContextError) {
    try await withEngine { try $0.dropHistory(durability) }
  }

  /// The limits of the history that the store keeps; nil if it keeps none.
  public var historyPolicy: HistoryPolicy? {
    get throws(ContextError) {
      try handle.checkOpen()
      return try ContextError.mapping { try handle.engine.historyPolicy }
    }
  }

  /// Returns the place after the newest commit: a program that reads from there gets everything that is saved from now
  /// on.
  ///
  /// - Throws: `noHistory` if the store keeps none.
  public func newestHistoryToken() throws(ContextError) -> HistoryToken {
    try handle.checkOpen()
    return try ContextError.mapping { try handle.engine.historyReader().newestToken() }
  }

  /// Returns the oldest place from which the history can be read.
  ///
  /// - Throws: `noHistory` if the store keeps none.
  public func oldestHistoryToken() throws(ContextError) -> HistoryToken {
    try handle.checkOpen()
    return try ContextError.mapping { try handle.engine.historyReader().oldestToken() }
  }

  /// Returns the transactions that a query asks for, in its order: the oldest first, unless
  /// ``HistoryQuery/newestFirst`` is true. O(log n + transactions that are looked at): all after the query's token, or
  /// fewer if ``HistoryQuery/limit`` is reached before.
  ///
  /// - Throws: `noHistory` if the store keeps none; `historyExpired` if the query's token is before the oldest
  ///   transaction, after the newest commit or of another store: then read on from ``ContextError/oldestHistoryToken``,
  ///   with all objects read anew.
  public func history(
    _ query: HistoryQuery = HistoryQuery()
  ) async throws(ContextError) -> [HistoryTransaction] {
    try await withEngine { engine in
      var transactions: [HistoryTransaction] = []
      try engine.historyReader().forEach(query) { transaction in
        transactions.append(transaction)
        return true
      }
      return transactions
    }
  }

  /// Removes the transactions before a place in the history.
  ///
  /// - Parameters:
  ///   - token: the first place that stays valid, if it has been reached.
  ///   - includingUnread: whether to remove also transactions that a registered consumer has yet to read.
  ///   - durability: when the removal counts as done, if not as the container's options say.
  /// - Returns: how many transactions were removed.
  /// - Throws: `noHistory`, and `historyExpired` for a token of another store.
  @discardableResult
  public func pruneHistory(
    before token: HistoryToken,
    includingUnread: Bool = false,
    durability: Durability? = nil
  ) async throws(ContextError) -> Int {
    try await withEngine { engine in
      let reader = try engine.historyReader()
      try reader.checkIsReached(token)
      return try engine.pruneHistory(through: token.commit, includingUnread: includingUnread, durability)
    }
  }

  private func withEngine<Result: Sendable>(
    _ body: @Sendable @escaping (PageStoreEngine) throws -> Result
  ) async throws(ContextError) -> Result {
    try handle.checkOpen()
    return try await queue.run { [handle] () throws(ContextError) in
      try ContextError.mapping { try body(handle.engine) }
    }
  }
}

// MARK: - Consumers

extension PersistentContainer {
  /// Registers a program, or a part of one, that reads the history: transactions that it has yet to read stay longer,
  /// up to ``HistoryPolicy/consumerLimits``.
  ///
  /// ```swift
  /// var token = try await container.registerHistoryConsumer("search index")
  /// for transaction in try await container.history(HistoryQuery(after: token)) {
  ///   token = transaction.token
  /// }
  /// try await container.acknowledgeHistory(through: token, by: "search index")
  /// ```
  ///
  /// - Parameters:
  ///   - name: the consumer's name, in at most 4,087 bytes of UTF-8.
  ///   - durability: when the registration counts as done, if not as the container's options say.
  /// - Returns: the place where the consumer continues: after the last transaction that it has acknowledged, or at the
  ///   oldest transaction if the name is new. A consumer that hasn't read for too long gets a token that has expired.
  /// - Throws: `noHistory` if the store keeps none; `store` when the store can't be written.
  public func registerHistoryConsumer(
    _ name: String,
    durability: Durability? = nil
  ) async throws(ContextError) -> HistoryToken {
    try await withEngine { try $0.addHistoryConsumer(name, durability) }
  }

  /// Notes how far a consumer has read. A place before the one that it has acknowledged changes nothing.
  ///
  /// - Parameters:
  ///   - token: the place after the last transaction that the consumer has read.
  ///   - consumer: the consumer's name.
  ///   - durability: when the note counts as done, if not as the container's options say. After a power failure that
  ///     takes a relaxed one back, the consumer gets the same transactions again.
  /// - Throws: `noHistoryConsumer` for a name that isn't registered; `historyExpired` for a token of another store;
  ///   `noHistory`.
  public func acknowledgeHistory(
    through token: HistoryToken,
    by consumer: String,
    durability: Durability? = nil
  ) async throws(ContextError) {
    try await withEngine { try $0.acknowledgeHistory(through: token, by: consumer, durability) }
  }

  /// Removes a consumer: pruning waits for it no longer. Without such a consumer it does nothing.
  ///
  /// - Parameters:
  ///   - name: the consumer's name.
  ///   - durability: when the removal counts as done, if not as the container's options say.
  public func removeHistoryConsumer(
    _ name: String,
    durability: Durability? = nil
  ) async throws(ContextError) {
    try await withEngine { try $0.removeHistoryConsumer(name, durability) }
  }

  /// The registered consumers, and what each has acknowledged.
  public var historyConsumers: [String: HistoryToken] {
    get throws(ContextError) {
      try handle.checkOpen()
      return try ContextError.mapping { try handle.engine.historyReader().consumers() }
    }
  }
}
