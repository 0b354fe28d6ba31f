/// The names of a store's trees, and their place in the versions' arrays of roots. Changes only when a tree is made or
/// dropped, so versions share it.
final class TreeDirectory: Sendable {
  /// Place by name.
  let slots: [String: Int]
  /// Name by place; nil where a dropped tree was.
  let names: [String?]

  static let empty = TreeDirectory(names: [])

  init(names: [String?]) {
    self.names = names
    var slots: [String: Int] = [:]
    for (slot, name) in names.enumerated() {
      if let name { slots[name] = slot }
    }
    self.slots = slots
  }

  func adding(_ name: String) -> TreeDirectory { TreeDirectory(names: names + [name]) }

  func removing(slot: Int) -> TreeDirectory {
    var names = names
    names[slot] = nil
    return TreeDirectory(names: names)
  }

  /// Trees in order of their names' bytes.
  var sortedNames: [String] { slots.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}

/// One committed state of the store: immutable, shared by everyone who reads it.
final class Version: Sendable {
  let commit: UInt64
  /// Milliseconds since 1970.
  let timestamp: Int64
  /// Distinguishes the states before and after a checkpoint of the same commit. Ascends.
  let generation: UInt64
  let directory: TreeDirectory
  /// By slot of the directory.
  let roots: [TreeRoot]
  /// The number that the next tree will get.
  let nextTreeID: UInt32
  /// The log record that contains it, and what its writer waits for.
  let sequence: UInt64
  let durability: Durability

  init(
    commit: UInt64,
    timestamp: Int64,
    generation: UInt64,
    directory: TreeDirectory,
    roots: [TreeRoot],
    nextTreeID: UInt32,
    sequence: UInt64,
    durability: Durability
  ) {
    self.commit = commit
    self.timestamp = timestamp
    self.generation = generation
    self.directory = directory
    self.roots = roots
    self.nextTreeID = nextTreeID
    self.sequence = sequence
    self.durability = durability
  }
}
