import Foundation
import PageStore
import Predicates

/// Migrates a store to another schema: builds the trees that the new schema needs in commits of bounded size, runs
/// the passes of a custom stage, switches in one commit, and removes the trees that aren't used any more.
///
/// A change that fits into one commit is one commit. Otherwise each commit notes the progress (``MigrationState``),
/// so that a change that was cancelled, or whose process was killed, continues from there. Only the migrator writes
/// to the store meanwhile.
struct SchemaMigrator {
  private let store: Store
  private let change: SchemaChange
  /// The schema that the store gets, for reading the existing records.
  private let schema: ResolvedSchema
  private let monitor: MigrationMonitor
  private let chunkByteCount: Int
  /// Nil for a change without passes.
  private let passes: PassRunner?
  /// True if messages show values of the objects that break a rule.
  private let showsValues: Bool
  private var state: MigrationState
  /// True if the store has an entry of the change that is under way.
  private var isNoted: Bool

  /// - Parameters:
  ///   - resumed: the state of the same change, which was interrupted; `change` has its target.
  init(
    _ store: Store,
    _ change: SchemaChange,
    _ schema: ResolvedSchema,
    resuming resumed: MigrationState?,
    custom stage: CustomStage? = nil,
    showsValues: Bool = true,
    monitor: MigrationMonitor
  ) throws {
    self.store = store
    self.change = change
    self.schema = schema
    self.monitor = monitor
    chunkByteCount = monitor.chunkByteCount(in: store)
    passes = try stage.map { try PassRunner($0, change, on: store, monitor) }
    self.showsValues = showsValues
    isNoted = resumed != nil
    state = try resumed ?? MigrationState(change, in: try store.snapshot())
  }

  /// - Throws: `cancelled`; the errors of a write, a pass, a derived value, or the check after the last pass. After
  ///   an error of the latter three the store has the old schema, and everything that the change has stored is
  ///   removed.
  mutating func run() throws {
    do {
      while !state.isSwitched {
        try monitor.checkCancellation()
        try noteBeforePasses()
        state = try next()
        isNoted = true
        report()
      }
    } catch let error as ContextError where error.isOfObjects {
      // If nothing was noted, nothing was written.
      if isNoted { try SchemaCleaner(store, monitor).giveUp(state, of: change.old) }
      throw error
    }
    try SchemaCleaner(store, monitor).run(state)
  }

  /// Notes the change before the first pass. A pass leases numbers of new entities, which have a meaning only in a
  /// store with an entry of the change.
  private mutating func noteBeforePasses() throws {
    guard !isNoted, case .pass? = state.nextStep else { return }
    try store.write { [state] in try SchemaTree.store(state, in: &$0) }
    isNoted = true
  }

  /// Runs one chunk, or one batch of a pass.
  private func next() throws -> MigrationState {
    var next = state
    if let passes, case .pass(let place, let entity)? = state.nextStep {
      try passes.run(place, of: entity, &next)
      return next
    }
    if state.isBuilt { try checkAfterPasses() }
    let mustCheck = !change.lateChecks.isEmpty && !state.isBuilt
    try store.write { transaction in
      try advance(&next, &transaction)
      if next.isBuilt && !mustCheck {
        try switchOver(&next, &transaction)
      } else {
        try SchemaTree.store(next, in: &transaction)
      }
    }
    return next
  }

  /// Checks the objects that the passes of a custom stage have left.
  ///
  /// - Throws: the error that lists every object which breaks a constraint that the stage adds.
  private func checkAfterPasses() throws {
    if change.lateChecks.isEmpty { return }
    let refusal = try SchemaChecker(
      change,
      schema,
      try store.snapshot(),
      store: UUID(store.uuid),
      showsValues: showsValues
    ).lateRefusal()
    if !refusal.isEmpty { throw ContextError.refused(refusal) }
  }

  private func report() {
    if state.totalRowCount == 0 { return }
    monitor.report(completedRowCount: state.rowCount, totalRowCount: state.totalRowCount)
  }

  // MARK: Building

  /// Builds as many entries as one commit may hold.
  private func advance(_ state: inout MigrationState, _ transaction: inout WriteTransaction) throws {
    var room = chunkByteCount
    while room > 0, let step = state.nextStep, !step.isPass {
      let chunk = try MigrationChunk(
        step,
        schema,
        after: state.position,
        byteLimit: room,
        store: UUID(store.uuid),
        &transaction
      )
      room -= chunk.byteCount
      state.advance(to: chunk.position, rowCount: chunk.rowCount)
    }
  }

  private func switchOver(_ state: inout MigrationState, _ transaction: inout WriteTransaction) throws {
    try SchemaTree.store(state.target, replacing: change.old, in: &transaction)
    // The passes have changed objects, and the history doesn't say which.
    if passes != nil, let history = try transaction.treeIfPresent(HistoryTree.name) {
      try HistoryPruner(history).removeAll(before: transaction.commit)
    }
    state.isSwitched = true
    if state.droppedTrees.isEmpty {
      try SchemaTree.removeMigration(in: &transaction)
    } else {
      try SchemaTree.store(state, in: &transaction)
    }
  }
}

extension ContextError {
  /// True if objects prevent a change, and would prevent it again.
  fileprivate var isOfObjects: Bool {
    [.stageFailed, .schemaMismatch, .validationFailed].contains(code) || refusal != nil
  }
}

extension MigrationStep {
  fileprivate var isPass: Bool { if case .pass = self { true } else { false } }
}
