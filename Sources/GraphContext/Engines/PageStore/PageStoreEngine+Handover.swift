import PageStore
import Predicates
import Synchronization

// Handing a store over to a container with other models.

extension PageStoreEngine {
  /// The operations that the engine's contexts may do.
  enum Phase {
    case current
    /// Another container changes the store's schema. Contexts can read, and move to newer commits, but can't write.
    /// The bytes are those of the schema in the catalogue before the change.
    case suspended(schema: [UInt8])
    /// The store may have another schema than the engine knows: contexts can read the state that they show, and
    /// nothing newer.
    case retired
  }

  var isRetired: Bool {
    phase.withLock { if case .retired = $0 { true } else { false } }
  }

  /// Called in each transaction that writes for a context.
  ///
  /// - Throws: `schemaChanging` or `schemaChanged` when the engine's contexts may not write.
  func checkWritable() throws(ContextError) {
    switch phase.withLock({ $0 }) {
    case .current: break
    case .suspended:
      throw ContextError(
        .schemaChanging,
        "another container of this process changes the store's schema; nothing is saved meanwhile"
      )
    case .retired: throw Self.changed
    }
  }

  /// - Throws: `schemaChanged` when the contexts must not see newer states.
  func checkCurrent() throws(ContextError) {
    if isRetired { throw Self.changed }
  }

  /// - Parameter snapshot: a snapshot that was taken before the call, so that no change that begins afterwards is
  ///   in it.
  /// - Throws: `schemaChanged` when the snapshot may have another schema than the engine.
  func checkShows(_ snapshot: Snapshot) throws(ContextError) {
    switch phase.withLock({ $0 }) {
    case .current: break
    case .suspended(let schema):
      guard try Self.schemaBytes(in: snapshot) == schema else { throw Self.changed }
    case .retired: throw Self.changed
    }
  }

  private static let changed = ContextError(
    .schemaChanged,
    "another container of this process was opened with other models and has taken the store over; open it again"
  )

  private static func schemaBytes(in snapshot: Snapshot) throws(ContextError) -> [UInt8] {
    try SchemaEntries(snapshot)?.value(for: SchemaTree.modelKey) ?? []
  }

  /// Runs `body`, which opens the store anew, while the contexts of this engine can't write. `body` runs after a
  /// write that is under way.
  ///
  /// If `body` throws and the store still has its schema, the parts of the change that were built are removed, and
  /// the contexts can write again.
  func handOver(
    _ monitor: MigrationMonitor,
    to body: () throws(ContextError) -> OpenedStore
  ) throws(ContextError) -> OpenedStore {
    do {
      try suspend()
      let successor = try body()
      retire()
      return successor
    } catch {
      resumeOrRetire(monitor)
      throw ContextError(any: error)
    }
  }

  private func suspend() throws {
    let schema = try Self.schemaBytes(in: try store.snapshot())
    phase.withLock { $0 = .suspended(schema: schema) }
    // An empty transaction waits for the current writer, which may have missed the new phase; later writers see it.
    try store.write { _ in }
  }

  private func resumeOrRetire(_ monitor: MigrationMonitor) {
    guard (try? giveUpChange(monitor)) != nil, (try? skipForeignLeases()) != nil else { return retire() }
    phase.withLock { $0 = .current }
  }

  /// Removes everything that was built for an unfinished change, because saves would not keep it up to date.
  ///
  /// - Throws: also when the store has another schema by now.
  private func giveUpChange(_ monitor: MigrationMonitor) throws {
    let snapshot = try store.snapshot()
    try checkShows(snapshot)
    guard let begun = try SchemaTree.migration(in: snapshot) else { return }
    try SchemaCleaner(store, monitor).giveUp(begun, of: schema.catalogue)
  }

  /// Skips the numbers that a stage has leased: it has handed out some of them, and none of these may be handed out
  /// again.
  private func skipForeignLeases() throws {
    numbers.skip(to: try SchemaTree.leasedNumbers(in: try store.snapshot(), schema))
  }

  private func retire() {
    phase.withLock { $0 = .retired }
  }
}
