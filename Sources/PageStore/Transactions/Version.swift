/// The names of a store's trees, and their place in the versions' arrays of roots. Copies share their storage, so versions
/// share it until a tree is made or dropped.
struct TreeDirectory: Sendable {
  /// Name by place; nil where a dropped tree was.
  private(set) var names: [String?]
  private var slots: [TreeName: Int] = [:]
  /// Places of dropped trees, for new ones.
  private var freeSlots: [Int] = []

  init(names: [String?]) {
    self.names = names
    for (slot, name) in names.enumerated() {
      if let name { slots[TreeName(name)] = slot } else { freeSlots.append(slot) }
    }
  }

  /// Trees in the store.
  var count: Int { slots.count }

  /// The place of the tree with this name.
  func slot(of name: String) -> Int? { slots[TreeName(name)] }

  /// Gives a new tree a place.
  mutating func add(_ name: String) -> Int {
    let slot = freeSlots.popLast() ?? names.count
    if slot == names.count { names.append(name) } else { names[slot] = name }
    slots[TreeName(name)] = slot
    return slot
  }

  mutating func remove(slot: Int) {
    guard let name = names[slot] else { return }
    slots[TreeName(name)] = nil
    names[slot] = nil
    freeSlots.append(slot)
  }

  /// Trees in order of their names' bytes.
  var sortedNames: [String] {
    names.compactMap { $0 }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// A tree's name as the store sees it: its bytes. Strings that Unicode calls equivalent are different names.
private struct TreeName: Hashable {
  private var text: String

  init(_ text: String) {
    self.text = text
    self.text.makeContiguousUTF8()
  }

  static func == (left: TreeName, right: TreeName) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
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
