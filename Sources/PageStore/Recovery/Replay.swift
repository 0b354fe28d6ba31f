/// Applies the log's transactions to the trees of a checkpoint.
///
/// No reader sees the versions between, so all transactions are replayed as one: a page that many of them
/// change is copied once. The changes are collected and applied in the order of their keys (``ReplayBatch``).
/// Every page is stamped with the last transaction's commit.
final class Replay {
  /// The version that results from the transactions.
  private(set) var version: Version
  /// The number of transactions that were replayed.
  let transactionCount: Int
  /// Pages of the checkpoint that the transactions replaced.
  private(set) var retired = RetiredMemory()
  /// The number of pages that exist only in memory.
  private(set) var dirtyPageCount = 0

  private let state: TransactionState
  /// By tree number.
  private var slots: [UInt32: Int] = [:]
  /// By tree number.
  private var batches: [UInt32: ReplayBatch] = [:]
  private var batchedCount = 0
  /// The commit of the transaction that was collected last.
  private var lastCommit: UInt64

  /// The largest number of collected changes: some 16 MB of memory.
  private static let batchLimit = 1 << 18

  /// Throws `corrupt` if a transaction doesn't fit the state, as may be in a forged log.
  ///
  /// - Parameters:
  ///   - version: the checkpoint's version.
  ///   - chain: the log with the transactions that follow it, at least one.
  init(_ version: Version, pool: PagePool, _ chain: LogChain) throws(StoreError) {
    let transactions = chain.transactions
    transactionCount = transactions.count
    self.version = version
    lastCommit = version.commit
    state = TransactionState(
      base: version,
      pool: pool,
      log: TransactionLog(),
      stampingPages: version.commit + UInt64(transactions.count)
    )
    for slot in version.directory.names.indices where version.directory.names[slot] != nil {
      slots[version.roots[slot].treeID] = slot
    }
    do throws(StoreError) {
      for transaction in transactions { try collect(transaction) }
      try makeAllChanges()
    } catch {
      state.end()
      state.dirty.abort()
      throw error
    }
    if let last = transactions.last { finish(last.record.header, transactions.count, pool) }
  }

  private func finish(_ last: LogRecordHeader, _ count: Int, _ pool: PagePool) {
    state.end()
    dirtyPageCount = state.dirty.filePageCount
    // There are no readers yet, so replaced memory is freed at once.
    retired = state.dirty.finish()
    pool.free(retired)
    version = Version(
      commit: last.commit,
      timestamp: last.timestamp,
      generation: version.generation + UInt64(count),
      directory: state.directory,
      roots: state.roots,
      nextTreeID: state.nextTreeID,
      sequence: last.sequence,
      durability: .full,
      link: CommitLink(last.commit)
    )
  }

  // MARK: Transactions

  private func collect(_ transaction: LogChain.Transaction) throws(StoreError) {
    let header = transaction.record.header
    let offset = transaction.offset
    guard header.commit == lastCommit + 1 else {
      throw Self.damaged("commit \(header.commit) follows commit \(lastCommit)", at: offset)
    }
    lastCommit = header.commit
    var selected: UInt32?
    var reader = ByteReader(transaction.record.payload)
    while !reader.isAtEnd {
      guard let operation = LogOperation(&reader) else {
        throw Self.damaged("an operation can't be decoded", at: offset)
      }
      switch operation {
      case .createTree(let id, let name):
        slots[id] = try create(name, id, at: offset)
      case .dropTree(let id):
        try drop(id, at: offset)
        // Dropping a tree leaves the selection as it is, unless the tree was selected.
        if selected == id { selected = nil }
      case .selectTree(let id):
        guard slots[id] != nil else { throw Self.unknownTree(id, at: offset) }
        selected = id
      case .put(let key, let value):
        try note(.init(key: key, value: value), in: selected, at: offset)
      case .remove(let key):
        try note(.init(key: key, value: nil), in: selected, at: offset)
      case .removeRange(let range):
        guard let selected, let slot = slots[selected] else { throw Self.unselected(at: offset) }
        try makeChanges(of: selected)
        _ = try state.editor(slot).removeRange(range)
      }
    }
  }

  private func note(
    _ change: ReplayBatch.Change,
    in tree: UInt32?,
    at offset: UInt64
  ) throws(StoreError) {
    guard let tree else { throw Self.unselected(at: offset) }
    // The tree would refuse the key, but only if this change reaches it: a later change of the key, or the
    // dropping of the tree, may replace this one.
    guard change.key.count <= StoreLimits.keyByteCount else {
      let limit = StoreLimits.keyByteCount
      throw Self.damaged("a key has \(change.key.count) bytes; the limit is \(limit)", at: offset)
    }
    batches[tree, default: ReplayBatch()].append(change)
    batchedCount += 1
    if batchedCount == Self.batchLimit { try makeAllChanges() }
  }

  private func makeAllChanges() throws(StoreError) {
    for id in batches.keys.sorted() { try makeChanges(of: id) }
    batchedCount = 0
  }

  private func makeChanges(of id: UInt32) throws(StoreError) {
    guard let batch = batches.removeValue(forKey: id), let slot = slots[id] else { return }
    try batch.makeChanges(in: state.editor(slot))
  }

  private func drop(_ id: UInt32, at offset: UInt64) throws(StoreError) {
    guard let slot = slots.removeValue(forKey: id), state.directory.names[slot] != nil else {
      throw Self.unknownTree(id, at: offset)
    }
    batches[id] = nil
    try state.dropTree(slot)
  }

  private func create(
    _ nameBytes: UnsafeRawBufferPointer,
    _ id: UInt32,
    at offset: UInt64
  ) throws(StoreError) -> Int {
    guard let name = Catalogue.name(nameBytes), id >= state.nextTreeID, id < UInt32.max,
      state.directory.slot(of: name) == nil, slots[id] == nil
    else { throw Self.damaged("a new tree's name or number is invalid or already used", at: offset) }
    return state.add(name, treeID: id)
  }

  // MARK: Errors

  private static func unselected(at offset: UInt64) -> StoreError {
    damaged("a change comes while no tree is selected", at: offset)
  }

  private static func unknownTree(_ id: UInt32, at offset: UInt64) -> StoreError {
    damaged("it refers to tree \(id), which doesn't exist", at: offset)
  }

  private static func damaged(_ what: String, at offset: UInt64) -> StoreError {
    StoreError(
      .corrupt,
      "a transaction record of the log has invalid contents: \(what)",
      context: .init(offset: offset)
    )
  }
}
