import Predicates

/// Unsaved changes of the order of an owner's members, as differences to what the source has: entries that were added,
/// and entries that were removed.
///
/// Both ascend. An entry is never in both: adding one that was removed only forgets the removal, and the other way
/// round.
struct PendingList {
  private(set) var added: [ListEntry]
  private(set) var removed: [ListEntry]

  /// Makes a list of ascending entries, none of which is in both.
  init(added: [ListEntry] = [], removed: [ListEntry] = []) { (self.added, self.removed) = (added, removed) }

  mutating func insert(_ entry: ListEntry) { Self.move(entry, from: &removed, to: &added) }

  mutating func remove(_ entry: ListEntry) { Self.move(entry, from: &added, to: &removed) }

  private static func move(_ entry: ListEntry, from source: inout [ListEntry], to target: inout [ListEntry]) {
    if let index = source.firstIndex(sorted: entry, by: \.self) {
      source.remove(at: index)
    } else {
      let index = target.insertionIndex(sorted: entry, by: \.self)
      if index == target.count || target[index] != entry { target.insert(entry, at: index) }
    }
  }

  /// Returns how many more members come before an entry than in the source; nil stands for the end.
  func difference(before entry: ListEntry?) -> Int {
    guard let entry else { return added.count - removed.count }
    return added.insertionIndex(sorted: entry, by: \.self) - removed.insertionIndex(sorted: entry, by: \.self)
  }
}

/// Unsaved changes of the order of one relationship's members, by their owners.
struct PendingLists {
  private var lists: [ObjectNumber: PendingList] = [:]

  /// Returns the changes of an owner's list; nil for an owner whose members are as the source has them.
  subscript(owner: ObjectNumber) -> PendingList? { lists[owner] }

  mutating func set(_ list: PendingList, of owner: ObjectNumber) { lists[owner] = list }

  /// Forgets the list of an owner that no longer exists.
  mutating func forget(_ owner: ObjectNumber) { lists[owner] = nil }

  mutating func insert(_ entry: ListEntry, of owner: ObjectNumber) {
    if !owner.isNone { lists[owner, default: PendingList()].insert(entry) }
  }

  mutating func remove(_ entry: ListEntry, of owner: ObjectNumber) {
    if !owner.isNone { lists[owner, default: PendingList()].remove(entry) }
  }
}

/// The members of one owner in their order: the members in the source, merged with the unsaved changes.
struct MergedList {
  let source: any ObjectSource
  let table: ListTable
  let owner: ObjectNumber
  let pending: PendingList?

  /// Returns how many members come before an entry; nil stands for the end. O(log n).
  func count(before entry: ListEntry? = nil) throws(ContextError) -> Int {
    let stored = try source.entryCount(of: owner, before: entry, in: table)
    return max(0, stored + (pending?.difference(before: entry) ?? 0))
  }

  /// Returns the members at these positions, fewer where the list ends. O(log n · log changes + positions).
  func entries(at range: Range<Int>) throws(ContextError) -> [ListEntry] {
    guard let pending else { return try source.entries(of: owner, at: range, in: table) }
    var nextAdded = try addedCount(before: range.lowerBound)
    var nextStored = try storedPosition(range.lowerBound - nextAdded)
    var stored: ArraySlice<ListEntry> = []
    var isAtEnd = false
    var result: [ListEntry] = []
    while result.count < range.count {
      while stored.isEmpty, !isAtEnd {
        let wanted = nextStored..<nextStored + range.count - result.count
        let found = try source.entries(of: owner, at: wanted, in: table)
        (nextStored, isAtEnd) = (nextStored + found.count, found.count < wanted.count)
        stored = found.filter { !pending.removed.contains(sorted: $0, by: \.self) }[...]
      }
      let added = nextAdded < pending.added.count ? pending.added[nextAdded] : nil
      if let added, stored.first.map({ added < $0 }) ?? true {
        result.append(added)
        nextAdded += 1
      } else if let next = stored.popFirst() {
        result.append(next)
      } else {
        break
      }
    }
    return result
  }

  /// Returns how many of the added entries come before a position.
  private func addedCount(before position: Int) throws(ContextError) -> Int {
    let added = pending?.added ?? []
    var (low, high) = (0, added.count)
    while low < high {
      let middle = (low + high) / 2
      if try count(before: added[middle]) < position { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the position in the source of the first entry behind this many entries that are not removed.
  private func storedPosition(_ survivors: Int) throws(ContextError) -> Int {
    let removed = pending?.removed ?? []
    var (low, high) = (0, removed.count)
    while low < high {
      let middle = (low + high) / 2
      let position = try source.entryCount(of: owner, before: removed[middle], in: table)
      if position - middle > survivors { high = middle } else { low = middle + 1 }
    }
    // Not negative, whatever a damaged store has counted.
    return max(0, survivors + low)
  }
}
