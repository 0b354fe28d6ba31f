import PageStore

/// Removes the trees that a change of the schema has left, in commits of bounded size: those of the old schema after the switch, or those
/// that were being built if the change is given up.
struct SchemaCleaner {
  private let store: Store
  private let chunkByteCount: Int

  /// Entries that one commit removes, for each byte that it may hold: removing costs memory by the page.
  private static let bytesPerEntry = 64

  init(_ store: Store, _ monitor: MigrationMonitor) {
    self.store = store
    chunkByteCount = monitor.chunkByteCount(in: store)
  }

  /// Removes the trees of a change that has switched, and what the catalogue says of the change.
  func run(_ state: MigrationState) throws {
    var state = state
    while let tree = state.droppedTrees.last {
      try store.write { transaction in
        if try remove(tree, &transaction) { state.droppedTrees.removeLast() }
        if state.droppedTrees.isEmpty {
          try SchemaTree.removeMigration(in: &transaction)
        } else {
          try SchemaTree.store(state, in: &transaction)
        }
      }
    }
  }

  /// Gives up a change that has not switched: the store has its old schema, and nothing of the new one is left.
  func giveUp(_ state: MigrationState, of schema: CataloguedSchema) throws {
    var state = state
    try forgetLeases(of: state.target, besides: schema)
    state.droppedTrees = state.trees(besides: schema).sorted()
    state.target = schema
    state.isSwitched = true
    if state.droppedTrees.isEmpty {
      try store.write { try SchemaTree.removeMigration(in: &$0) }
    } else {
      try run(state)
    }
  }

  /// Removes the leases of entities that the store never got.
  private func forgetLeases(of target: CataloguedSchema, besides schema: CataloguedSchema) throws {
    let known = Set(schema.entities.map(\.number))
    let numbers = target.entities.map(\.number).filter { !known.contains($0) }
    let tree = try store.snapshot().treeIfPresent(SchemaTree.name)
    let keys = try numbers.map(SchemaTree.numbersKey).filter { try tree?.value(for: $0) != nil }
    if keys.isEmpty { return }
    try store.write { transaction in
      let tree = try transaction.tree(SchemaTree.name)
      for key in keys { _ = try tree.remove(key) }
    }
  }

  /// Removes a tree, or the first part of a large one. Returns whether it is gone.
  private func remove(_ name: String, _ transaction: inout WriteTransaction) throws -> Bool {
    guard let tree = try transaction.treeIfPresent(name) else { return true }
    let count = max(1, chunkByteCount / Self.bytesPerEntry)
    guard try tree.count > count, let entry = try tree.entry(at: count) else {
      try transaction.dropTree(name)
      return true
    }
    _ = try tree.removeRange(KeyRange(upper: .excluding(entry.key)))
    return false
  }
}
