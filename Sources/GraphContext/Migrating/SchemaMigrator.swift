import PageStore
import Predicates

/// Brings a store to another schema: builds what the new schema needs in commits of bounded size, switches in one, and removes what is
/// of no use any more.
///
/// A change that fits into one commit is one commit. Otherwise each commit notes how far it came (``MigrationState``), so that a process
/// that was killed, or a change that was cancelled, goes on from there. Nobody writes to the store meanwhile but the migrator.
struct SchemaMigrator {
  private let store: Store
  private let change: SchemaChange
  /// The schema that the store gets, over the records that it has.
  private let schema: StoredSchema
  private let monitor: MigrationMonitor
  private let chunkByteCount: Int
  private var state: MigrationState

  /// - Parameters:
  ///   - resumed: the same change, which was interrupted; `change` has its target.
  init(
    _ store: Store,
    _ change: SchemaChange,
    _ schema: StoredSchema,
    resuming resumed: MigrationState?,
    monitor: MigrationMonitor
  ) throws {
    self.store = store
    self.change = change
    self.schema = schema
    self.monitor = monitor
    chunkByteCount = monitor.chunkByteCount(in: store)
    let snapshot = try store.snapshot()
    try state =
      resumed
      ?? MigrationState(
        target: change.target,
        steps: change.work,
        totalRowCount: change.work.reduce(0) {
          try $0 + (snapshot.treeIfPresent(schema.source(of: $1))?.count ?? 0)
        },
        droppedTrees: change.droppedTrees
      )
  }

  /// - Throws: `cancelled`; what a write throws.
  mutating func run() throws {
    let leases = try EarlierLeases(change, in: try store.snapshot())
    while !state.isSwitched {
      try monitor.checkCancellation()
      var next = state
      try store.write { transaction in
        try advance(&next, &transaction)
        if next.isBuilt {
          try switchOver(&next, leases, &transaction)
        } else {
          try SchemaTree.store(next, in: &transaction)
        }
      }
      state = next
      report()
    }
    try SchemaCleaner(store, monitor).run(state)
  }

  private func report() {
    if state.totalRowCount == 0 { return }
    monitor.report(
      MigrationProgress(completedRowCount: state.rowCount, totalRowCount: state.totalRowCount)
    )
  }

  // MARK: Building

  /// Builds as much as one commit may hold.
  private func advance(_ state: inout MigrationState, _ transaction: inout WriteTransaction) throws {
    var room = chunkByteCount
    while room > 0, !state.isBuilt {
      let chunk = try MigrationChunk(
        state.steps[state.finishedStepCount],
        schema,
        after: state.position,
        byteLimit: room,
        &transaction
      )
      room -= chunk.byteCount
      state.rowCount += chunk.rowCount
      state.position = chunk.position
      if chunk.isLast {
        state.finishedStepCount += 1
        state.position = nil
      }
    }
  }

  private func switchOver(
    _ state: inout MigrationState,
    _ leases: EarlierLeases,
    _ transaction: inout WriteTransaction
  ) throws {
    try SchemaTree.store(
      state.target,
      replacing: leases.isEarlierFormat ? nil : change.old,
      in: &transaction
    )
    try leases.rename(for: state.target, &transaction)
    state.isSwitched = true
    if state.droppedTrees.isEmpty {
      try SchemaTree.removeMigration(in: &transaction)
    } else {
      try SchemaTree.store(state, in: &transaction)
    }
  }
}

extension StoredSchema {
  /// The tree that a step goes through.
  fileprivate func source(of step: MigrationStep) -> String {
    switch step {
    case .index(let number, _): entity(number)?.treeName ?? ""
    case .exchangedPairs(let source, _): source
    }
  }
}

/// A part of a step that one commit holds.
private struct MigrationChunk {
  private(set) var rowCount = 0
  private(set) var byteCount = 0
  /// The key of the source that was done last.
  private(set) var position: [UInt8]?
  private(set) var isLast = true
  private var batch = KeyBatch()

  /// Builds the chunk.
  init(
    _ step: MigrationStep,
    _ schema: StoredSchema,
    after position: [UInt8]?,
    byteLimit: Int,
    _ transaction: inout WriteTransaction
  ) throws {
    self.position = position
    guard let source = try transaction.treeIfPresent(schema.source(of: step)) else { return }
    let range = position.map { KeyRange(lower: .excluding($0)) } ?? .all
    var target: String?
    switch step {
    case .index(let number, let index):
      guard let entity = schema.entity(number), let index = schema.index(index, of: entity) else { return }
      target = entity.treeName(of: index.id)
      try collect(index, of: entity, source, range, byteLimit)
    case .exchangedPairs(_, let to):
      target = to
      try collectExchangedPairs(source, range, byteLimit)
    }
    batch.sort()
    if let target, !batch.isEmpty { try transaction.tree(target).put(batch) }
  }

  private mutating func collect(
    _ index: ResolvedIndex,
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int
  ) throws {
    let reader = RecordReader(entity)
    var key: [UInt8] = []
    var cursor = try records.cursor(in: range)
    while try cursor.next() {
      let number = KeyCoder.objectID(ending: try cursor.key()) ?? .none
      guard let record = reader.view(try cursor.value()) else { throw StoreView.damaged(number, of: entity) }
      key.removeAll(keepingCapacity: true)
      _ = index.appendKey(of: record, number, to: &key)
      if add(key, from: try cursor.key(), byteLimit) { return }
    }
  }

  private mutating func collectExchangedPairs(
    _ pairs: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int
  ) throws {
    let half = KeyCoder.objectIDByteCount
    var cursor = try pairs.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard key.count == 2 * half else { throw SchemaTree.damaged("a link") }
      if add([UInt8](key[half...]) + key[..<half], from: key, byteLimit) { return }
    }
  }

  /// Returns whether the chunk is full.
  private mutating func add(_ key: [UInt8], from source: UnsafeRawBufferPointer, _ byteLimit: Int) -> Bool {
    batch.append(key)
    rowCount += 1
    byteCount += key.count + MemoryLayout<KeyBatch.Entry>.stride
    if byteCount < byteLimit { return false }
    position = [UInt8](source)
    isLast = false
    return true
  }
}

/// The leases of object numbers in a store of an earlier format, where they are kept by the names of entities.
private struct EarlierLeases {
  let isEarlierFormat: Bool
  private var leases: [(EntityNumber, String, UInt64)] = []

  init(_ change: SchemaChange, in snapshot: Snapshot) throws {
    isEarlierFormat = try SchemaTree.isOfEarlierFormat(snapshot)
    guard isEarlierFormat else { return }
    let stored = try StoredSchema(change.old)
    let leased = try SchemaTree.leasedNumbers(in: snapshot, stored)
    leases = zip(stored.entities, leased).map { ($0.number, $0.name, $1) }
  }

  func rename(for target: CataloguedSchema, _ transaction: inout WriteTransaction) throws {
    guard isEarlierFormat else { return }
    let tree = try transaction.tree(SchemaTree.name)
    for (number, name, end) in leases {
      _ = try tree.remove(SchemaEntries.earlierNumbersKey(name))
      guard end > 0, target.entity(number) != nil else { continue }
      try tree.put(SchemaTree.numbersKey(number), SchemaTree.bytes(end))
    }
  }
}
