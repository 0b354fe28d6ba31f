import PageStore
import Synchronization

/// The graph before a stage, which refuses saves.
struct ReadOnlyGraph: SaveCompanion {
  func accompany(
    _ request: SaveRequest,
    _ changes: ChangeSet,
    _ transaction: inout WriteTransaction
  ) throws {
    throw ContextError(.saveNotAllowed, "the graph before a stage is read only")
  }
}

/// The saves of the graph that a stage makes: each has the progress of the stage in its transaction, and changes
/// only entities that the stage rebuilds.
final class StageSaves: SaveCompanion {
  private let schema: ResolvedSchema
  /// Ordinals of the entities that the stage leaves as they are.
  private let untouched: Set<Int>
  /// Trees that the store has without the stage.
  private let liveTrees: Set<String>
  private let monitor: MigrationMonitor
  private struct Turn {
    let progress: MigrationState
    var effects: [MigrationEffect] = []
  }
  /// The turn; nil while a pass uses the graph.
  private let turn = Mutex<Turn?>(nil)

  init(_ schema: ResolvedSchema, untouched: Set<Int>, liveTrees: Set<String>, _ monitor: MigrationMonitor) {
    self.schema = schema
    self.untouched = untouched
    self.liveTrees = liveTrees
    self.monitor = monitor
  }

  /// Calls `save`. If it stores anything, it also stores the progress of the stage.
  func withProgress(_ state: MigrationState, _ save: () throws(ContextError) -> Void) throws(ContextError) {
    turn.withLock { $0 = Turn(progress: state) }
    defer { turn.withLock { $0 = nil } }
    try save()
    monitor.note(turn.withLock { $0?.effects } ?? [])
  }

  func accompany(
    _ request: SaveRequest,
    _ changeSet: ChangeSet,
    _ transaction: inout WriteTransaction
  ) throws {
    guard let state = turn.withLock({ $0?.progress }) else {
      throw ContextError(
        .saveNotAllowed,
        "a pass can't save the graph that its stage makes: the graph is saved when the pass returns"
      )
    }
    for ordinal in untouched.sorted() {
      let entity = schema.entities[ordinal]
      if let changes = changeSet.objects[entity.number], !changes.isOfDerivedValues(entity) {
        throw notRebuilt(ordinal)
      }
    }
    let changes = request.entities.filter { !$0.isEmpty }
    if let wrong = changes.first(where: { untouched.contains($0.entity.ordinal) }) {
      throw notRebuilt(wrong.entity.ordinal)
    }
    if let wrong = request.pairs.first(where: { liveTrees.contains($0.trees.forward) }) {
      throw notRebuilt(wrong.source.ordinal)
    }
    try SchemaTree.store(state, in: &transaction)
    let effects = changes.map(MigrationEffect.init)
    turn.withLock { $0?.effects = effects }
  }

  private func notRebuilt(_ ordinal: Int) -> ContextError {
    let name = schema.entities[ordinal].name
    return ContextError(
      .saveNotAllowed,
      "a pass has changed objects of \(name), which is not among the entities that the stage rebuilds",
      context: .init(entity: name)
    )
  }
}

extension ChangeSet.Objects {
  /// Returns whether only derived values have changed.
  fileprivate func isOfDerivedValues(_ entity: StoredEntity) -> Bool {
    inserted.isEmpty && deleted.isEmpty && updated.allSatisfy { $0.slots.isSubset(of: entity.derivedSlots) }
  }
}
