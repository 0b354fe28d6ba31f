import PageStore
import Predicates

// Operations of a container on the history of its store.

extension PageStoreEngine {
  /// Returns the history as the newest commit left it; nil if the store keeps none.
  private func historyReaderIfPresent() throws -> HistoryReader? {
    let snapshot = try store.snapshot()
    try checkShows(snapshot)
    return try HistoryReader(snapshot, schema.catalogue, storeID)
  }

  /// - Throws: `noHistory` if the store keeps none.
  func historyReader() throws -> HistoryReader {
    guard let reader = try historyReaderIfPresent() else { throw ContextError.noHistory() }
    return reader
  }

  var historyPolicy: HistoryPolicy? {
    get throws { try historyReaderIfPresent()?.settings().policy }
  }

  /// Begins a history, or changes the policy of the existing one.
  func keepHistory(_ policy: HistoryPolicy, _ durability: Durability?) throws {
    let reader = try historyReaderIfPresent()
    // A program usually asks for the history again at every opening.
    if let known = try reader?.settings(),
      HistorySettings(start: known.start, policy: policy).bytes == known.bytes
    {
      return
    }
    try store.write(durability: durability) { transaction in
      try checkWritable()
      let known = try transaction.treeIfPresent(HistoryTree.name)?.historySettings()
      let tree = try transaction.tree(HistoryTree.name)
      let start = known?.start ?? transaction.baseCommit
      try tree.put(HistoryTree.settingsKey, HistorySettings(start: start, policy: policy).bytes)
      try SchemaTree.noteFormat(hasHistory: true, in: &transaction)
      try HistoryPruner(tree).prune(policy)
    }
  }

  func dropHistory(_ durability: Durability?) throws {
    guard try historyReaderIfPresent() != nil else { return }
    try store.write(durability: durability) { transaction in
      try checkWritable()
      transaction.markAsDeletion()
      try transaction.dropTree(HistoryTree.name)
      try SchemaTree.noteFormat(hasHistory: false, in: &transaction)
    }
  }

  /// Calls `body` with the tree of the history in a transaction.
  private func writeHistory<R>(
    _ durability: Durability?,
    _ body: (WriteTree) throws -> R
  ) throws -> R {
    try store.write(durability: durability) { transaction in
      try checkWritable()
      guard let tree = try transaction.treeIfPresent(HistoryTree.name) else { throw ContextError.noHistory() }
      // Whatever removes entries of the history is a deletion.
      transaction.markAsDeletion()
      return try body(tree)
    }
  }

  /// Removes transactions up to a commit, and no further than consumers have read unless `includingUnread`.
  func pruneHistory(
    through commit: UInt64,
    includingUnread: Bool,
    _ durability: Durability?
  ) throws -> Int {
    try writeHistory(durability) { tree in
      let read = includingUnread ? .max : try tree.historyConsumers().values.min() ?? .max
      return try HistoryPruner(tree).remove(through: min(commit, read))
    }
  }

  func addHistoryConsumer(_ name: String, _ durability: Durability?) throws -> HistoryToken {
    if let known = try historyReader().consumers()[name] { return known }
    try writeHistory(durability) { tree in
      // Another task may have added it since.
      if try tree.historyConsumers()[name] != nil { return }
      let commit = try tree.oldestTransaction()?.header.previousCommit ?? tree.historySettings().start
      try tree.put(HistoryTree.consumerKey(name), SchemaTree.bytes(commit))
    }
    guard let token = try historyReader().consumers()[name] else {
      throw ContextError.noHistoryConsumer(name)
    }
    return token
  }

  func acknowledgeHistory(through token: HistoryToken, by name: String, _ durability: Durability?) throws {
    let reader = try historyReader()
    guard let known = try reader.consumers()[name] else { throw ContextError.noHistoryConsumer(name) }
    try reader.checkIsReached(token)
    if token <= known { return }
    try writeHistory(durability) { tree in
      guard let known = try tree.historyConsumer(name) else { throw ContextError.noHistoryConsumer(name) }
      // The consumer may have read on since.
      if known.commit < token.commit {
        try tree.put(HistoryTree.consumerKey(known.name), SchemaTree.bytes(token.commit))
      }
    }
  }

  func removeHistoryConsumer(_ name: String, _ durability: Durability?) throws {
    guard try historyReader().consumers()[name] != nil else { return }
    try writeHistory(durability) { tree in
      while let known = try tree.historyConsumer(name) {
        _ = try tree.remove(HistoryTree.consumerKey(known.name))
      }
    }
  }
}
