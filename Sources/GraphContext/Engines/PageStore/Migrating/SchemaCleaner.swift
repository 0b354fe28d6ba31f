import PageStore

/// Removes the trees that a change of the schema has left, in commits of bounded size: those of the old schema
/// after the switch, or the trees that were being built, if the change is given up.
struct SchemaCleaner {
  private let store: Store
  private let chunkByteCount: Int

  /// The bytes of a commit's limit that are allowed for each entry it removes: removing costs memory by the page.
  private static let bytesPerEntry = 64

  init(_ store: Store, _ monitor: MigrationMonitor) {
    self.store = store
    chunkByteCount = monitor.chunkByteCount(in: store)
  }

  /// Removes the trees of a change that has switched, and the entry of the change in the catalogue.
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

  /// Gives up a change that has not switched: the store has its old schema, and everything of the new schema is
  /// removed. Only the numbers that it has taken are never given again.
  func giveUp(_ begun: MigrationState, of schema: CataloguedSchema) throws {
    var state = begun
    state.droppedTrees = begun.trees(besides: schema).sorted()
    state.target = schema
    state.isSwitched = true
    try store.write { transaction in
      try forget(begun.target, besides: schema, &transaction)
      if state.droppedTrees.isEmpty {
        try SchemaTree.removeMigration(in: &transaction)
      } else {
        try SchemaTree.store(state, in: &transaction)
      }
    }
    try run(state)
  }

  /// Removes the leases of entities that the store never got, and notes the number that is given next.
  private func forget(
    _ target: CataloguedSchema,
    besides schema: CataloguedSchema,
    _ transaction: inout WriteTransaction
  ) throws {
    let tree = try transaction.tree(SchemaTree.name)
    let known = Set(schema.entities.map(\.number))
    for entity in target.entities where !known.contains(entity.number) {
      _ = try tree.remove(SchemaTree.numbersKey(entity.number))
    }
    if target.nextNumber > schema.nextNumber {
      try tree.put(SchemaTree.spentKey, SchemaTree.bytes(target.nextNumber))
    }
  }

  /// Removes a tree, or the first part of a large one. Returns whether the tree is removed.
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
