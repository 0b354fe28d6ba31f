/// The names of trees by slot; nil in the slot of a dropped tree.
struct TreeNames: RandomAccessCollection, Sendable {
  /// Empty for nil: no tree has an empty name. The standard library has the type of such an array ready,
  /// while that of an array of optional strings would be made when a store is opened.
  private var names: [String] = []

  var startIndex: Int { 0 }
  var endIndex: Int { names.count }

  subscript(slot: Int) -> String? {
    get { names[slot].isEmpty ? nil : names[slot] }
    set { names[slot] = newValue ?? "" }
  }

  mutating func append(_ name: String) { names.append(name) }
}

/// The names of a store's trees, and their slots in the versions' arrays of roots. Copies share their
/// storage, so versions share it until a tree is made or dropped.
struct TreeDirectory: Sendable {
  /// Names by slot; nil in the slot of a dropped tree.
  private(set) var names: TreeNames
  /// Slots in order of their names' bytes. An array, because making the first dictionary of its kind takes
  /// longer than reading the catalogue.
  private var sortedSlots: [Int]
  /// Slots of dropped trees, for new ones.
  private var freeSlots: [Int] = []
  /// The number of trees whose entry in the catalogue may take more than a sixteenth of half a leaf.
  private(set) var longNameCount: Int

  /// - Parameter names: in order of their bytes.
  init(sortedNames names: TreeNames) {
    self.names = names
    sortedSlots = Array(names.indices)
    longNameCount = names.count { $0.map(Self.isLong) ?? false }
  }

  private static func isLong(_ name: String) -> Bool { name.utf8.count > 64 }

  /// The number of trees.
  var count: Int { sortedSlots.count }

  /// Returns the slot of the tree with this name. O(log n).
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
    if Self.isLong(name) { longNameCount += 1 }
    return slot
  }

  mutating func remove(slot: Int) {
    guard let name = names[slot] else { return }
    sortedSlots.remove(at: rank(of: name).rank)
    names[slot] = nil
    if Self.isLong(name) { longNameCount -= 1 }
    freeSlots.append(slot)
  }

  /// The names of the trees, in order of their bytes.
  var sortedNames: [String] { sortedSlots.compactMap { names[$0] } }

  /// Returns the rank of the name among the sorted ones, or the rank that it would have. Names are compared
  /// by bytes: canonically equivalent strings are different names.
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

/// One committed state of the store: immutable, and shared by all its readers.
final class Version: Sendable {
  let commit: UInt64
  /// Milliseconds since 1970.
  let timestamp: Int64
  /// An ascending number, which distinguishes the states before and after a checkpoint of the same commit.
  let generation: UInt64
  let directory: TreeDirectory
  /// By slot of the directory.
  let roots: [TreeRoot]
  /// The number that the next tree will get.
  let nextTreeID: UInt32
  /// The sequence number of the log record that contains the commit, for which its writer waits.
  let sequence: UInt64
  let durability: Durability
  /// The link of the commit in the list of commits. Versions of one commit share it.
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

  /// Returns the same state with a link of its own, to which no later commit is added.
  func withoutLaterCommits() -> Version {
    Version(
      commit: commit,
      timestamp: timestamp,
      generation: generation,
      directory: directory,
      roots: roots,
      nextTreeID: nextTreeID,
      sequence: sequence,
      durability: durability,
      link: CommitLink(commit)
    )
  }
}
