/// The names of a store's trees, and their slots in the versions' arrays of roots. Copies share their storage, so versions
/// share it until a tree is made or dropped.
struct TreeDirectory: Sendable {
  /// Name by slot; nil where a dropped tree was.
  private(set) var names: [String?]
  /// Slots in order of their names' bytes. No dictionary: making the first one of its kind takes a process longer than
  /// reading the catalogue.
  private var sortedSlots: [Int]
  /// Slots of dropped trees, for new ones.
  private var freeSlots: [Int] = []

  /// The names have to be in order of their bytes.
  init(sortedNames names: [String?]) {
    self.names = names
    sortedSlots = Array(names.indices)
  }

  /// Trees in the store.
  var count: Int { sortedSlots.count }

  /// The slot of the tree with this name. O(log n).
  func slot(of name: String) -> Int? {
    let (rank, isFound) = rank(of: name)
    return isFound ? sortedSlots[rank] : nil
  }

  /// Gives a new tree a slot, and returns it.
  mutating func add(_ name: String) -> Int {
    let (rank, _) = rank(of: name)
    let slot = freeSlots.popLast() ?? names.count
    if slot == names.count { names.append(name) } else { names[slot] = name }
    sortedSlots.insert(slot, at: rank)
    return slot
  }

  mutating func remove(slot: Int) {
    guard let name = names[slot] else { return }
    sortedSlots.remove(at: rank(of: name).rank)
    names[slot] = nil
    freeSlots.append(slot)
  }

  /// Trees in order of their names' bytes.
  var sortedNames: [String] { sortedSlots.compactMap { names[$0] } }

  /// Where the name is, or would be, among the sorted ones. A name is its bytes: strings that Unicode calls equivalent are
  /// different names.
  private func rank(of name: String) -> (rank: Int, isFound: Bool) {
    var name = name
    return name.withUTF8 { wanted in
      var low = 0
      var high = sortedSlots.count
      while low < high {
        let middle = (low + high) / 2
        let order = Self.compare(names[sortedSlots[middle]] ?? "", UnsafeRawBufferPointer(wanted))
        if order == 0 { return (middle, true) }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return (low, false)
    }
  }

  private static func compare(_ name: String, _ bytes: UnsafeRawBufferPointer) -> Int {
    var name = name
    return name.withUTF8 { ByteComparison.compare(UnsafeRawBufferPointer($0), bytes) }
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
  /// The place of the commit among the others of this process. Versions of one commit share it.
  let link: CommitLink

  init(
    commit: UInt64,
    timestamp: Int64,
    generation: UInt64,
    directory: TreeDirectory,
    roots: [TreeRoot],
    nextTreeID: UInt32,
    sequence: UInt64,
    durability: Durability,
    link: CommitLink
  ) {
    self.commit = commit
    self.timestamp = timestamp
    self.generation = generation
    self.directory = directory
    self.roots = roots
    self.nextTreeID = nextTreeID
    self.sequence = sequence
    self.durability = durability
    self.link = link
  }
}
