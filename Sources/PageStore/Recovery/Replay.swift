/// Applies the log's transactions to the trees of a checkpoint.
///
/// Nobody sees the versions between, so all transactions change the same frames: a page that many of them change is copied
/// once. Every page that they make is stamped with the last one's commit.
struct Replay {
  private let pool: PagePool
  /// The commit after the last transaction.
  private let lastCommit: UInt64
  private(set) var version: Version
  /// Bytes of pages that exist only in memory now.
  private(set) var dirtyPageCount = 0

  /// - Parameter transactionCount: how many transactions will be applied.
  init(_ version: Version, pool: PagePool, transactionCount: Int) {
    self.version = version
    self.pool = pool
    lastCommit = version.commit + UInt64(transactionCount)
  }

  /// Applies one transaction. Throws `corrupt` if it doesn't follow from the state, which a log of ours always does.
  mutating func apply(_ transaction: LogChain.Transaction) throws(StoreError) {
    let header = transaction.record.header
    let offset = transaction.offset
    guard header.commit == version.commit + 1 else {
      throw Self.damaged("it is of commit \(header.commit), after \(version.commit)", at: offset)
    }
    let state = TransactionState(base: version, pool: pool, log: TransactionLog(), stampingPages: lastCommit)
    do {
      try apply(transaction.record.payload, to: state, at: offset)
    } catch {
      state.end()
      state.dirty.abort()
      throw error
    }
    state.end()
    let roots = state.roots
    dirtyPageCount += state.dirty.filePageCount
    // Nobody reads yet, so what the transaction replaced can go at once.
    pool.free(state.dirty.finish())
    version = Version(
      commit: header.commit,
      timestamp: header.timestamp,
      generation: version.generation + 1,
      directory: state.directory,
      roots: roots,
      nextTreeID: state.nextTreeID,
      sequence: header.sequence,
      durability: .full
    )
  }

  private func apply(
    _ payload: UnsafeRawBufferPointer,
    to state: TransactionState,
    at offset: UInt64
  ) throws(StoreError) {
    var slots: [UInt32: Int] = [:]
    for slot in state.directory.names.indices where state.directory.names[slot] != nil {
      slots[state.base.roots[slot].treeID] = slot
    }
    var selected: (id: UInt32, editor: TreeEditor)?
    var reader = ByteReader(payload)
    while !reader.isAtEnd {
      guard let operation = LogOperation(&reader) else {
        throw Self.damaged("an operation makes no sense", at: offset)
      }
      switch operation {
      case .createTree(let id, let name):
        slots[id] = try create(name, id, in: state, slots, at: offset)
      case .dropTree(let id):
        guard let slot = slots.removeValue(forKey: id), let name = state.directory.names[slot] else {
          throw Self.unknownTree(id, at: offset)
        }
        // Dropping a tree selects no other, unless it was the selected one.
        if selected?.id == id { selected = nil }
        try state.dropTree(slot, name: name)
      case .selectTree(let id):
        guard let slot = slots[id] else { throw Self.unknownTree(id, at: offset) }
        selected = (id, try state.editor(slot))
      case .put, .remove, .removeRange:
        guard let selected else { throw Self.damaged("a change names no tree", at: offset) }
        try change(selected.editor, operation)
      }
    }
  }

  private func change(_ tree: TreeEditor, _ operation: LogOperation) throws(StoreError) {
    switch operation {
    case .put(let key, let value): _ = try tree.put(key, value)
    case .remove(let key): _ = try tree.remove(key)
    case .removeRange(let range): _ = try tree.removeRange(range)
    case .createTree, .dropTree, .selectTree: break
    }
  }

  private func create(
    _ nameBytes: UnsafeRawBufferPointer,
    _ id: UInt32,
    in state: TransactionState,
    _ slots: [UInt32: Int],
    at offset: UInt64
  ) throws(StoreError) -> Int {
    guard let name = String(validating: nameBytes, as: UTF8.self), !name.isEmpty,
      name.utf8.count <= TransactionState.nameByteLimit,
      id >= state.nextTreeID, id < UInt32.max, state.directory.slot(of: name) == nil, slots[id] == nil
    else { throw Self.damaged("a tree is created that can't be", at: offset) }
    return state.add(name, treeID: id)
  }

  private static func unknownTree(_ id: UInt32, at offset: UInt64) -> StoreError {
    damaged("it is about tree \(id), which doesn't exist", at: offset)
  }

  private static func damaged(_ what: String, at offset: UInt64) -> StoreError {
    StoreError(
      .corrupt,
      "a transaction record of the log makes no sense: \(what)",
      context: .init(offset: offset)
    )
  }
}
