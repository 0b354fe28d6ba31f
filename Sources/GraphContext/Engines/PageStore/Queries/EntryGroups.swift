import PageStore
import Predicates

/// Groups of neighbouring entries of an index: the keys of a group have their first columns in common. The first
/// entries of a large group are read, and the others are counted.
struct EntryGroups {
  let tree: TreeReader
  /// The kinds of the columns that the entries of a group have in common.
  let kinds: [AttributeKind]
  /// True for a walk from the last entry to the first.
  var isReversed = false
  /// The error for a key without these columns, and for a tree that counts more entries than it has.
  let damage: ContextError

  /// One group: the beginning that its keys share, and the number of its entries.
  struct Group {
    /// The first columns of the keys.
    let prefix: [UInt8]
    /// The value of the last of these columns.
    let lastValue: AttributeValue
    fileprivate(set) var count = 0
    /// The entries that were read.
    fileprivate(set) var readCount = 0
  }

  /// The number of entries of a group that are read before the rest is counted.
  private static let readLimit = 16

  /// Calls `body` with each group of the entries from one rank up to another one, until it returns false. Of a
  /// group that begins before the first rank, only the entries from this rank on are counted.
  ///
  /// O(log n) for a large group, and O(1) for a small one that follows another.
  ///
  /// - Parameters:
  ///   - rank: the rank of the first entry.
  ///   - end: the rank behind the last entry, in the direction of the walk.
  func forEach(from rank: Int, to end: Int, _ body: (Group) throws -> Bool) throws {
    if rank == end { return }
    var cursor = tree.cursor()
    var rank = rank
    guard try cursor.seek(toPosition: rank) else { throw damage }
    while rank != end {
      let group = try group(at: &cursor, &rank, end)
      if try !body(group) { return }
    }
  }

  /// Walks over a group, and leaves the cursor at the entry that follows.
  private func group(at cursor: inout TreeCursor, _ rank: inout Int, _ end: Int) throws -> Group {
    var group = try group(of: cursor.key())
    let first = rank
    rank = try rankBehind(&group, at: &cursor, rank, end)
    group.count = abs(rank - first)
    return group
  }

  /// Reads the beginning of a group, and counts the rest.
  ///
  /// - Returns: the rank of the entry that follows the group. The cursor is at this entry then.
  private func rankBehind(
    _ group: inout Group,
    at cursor: inout TreeCursor,
    _ rank: Int,
    _ end: Int
  ) throws -> Int {
    var rank = rank
    repeat {
      group.readCount += 1
      rank += isReversed ? -1 : 1
      if rank == end { return end }
      guard try isReversed ? cursor.previous() : cursor.next() else { throw damage }
      if try !cursor.key().starts(with: group.prefix) { return rank }
    } while group.readCount < Self.readLimit
    let next = try countedRank(behind: group.prefix, rank, end)
    if next != end, try !cursor.seek(toPosition: next) { throw damage }
    return next
  }

  /// Returns the rank of the entry that follows those with a prefix: at `rank` or behind it, and no further than `end`.
  private func countedRank(behind prefix: [UInt8], _ rank: Int, _ end: Int) throws -> Int {
    if isReversed { return max(min(rank, try tree.rank(of: prefix) - 1), end) }
    guard case .excluding(let bound) = KeyRange.successor(ofPrefix: prefix) else { return end }
    return min(max(rank, try tree.rank(of: bound)), end)
  }

  /// Returns the group that a key belongs to.
  private func group(of key: UnsafeRawBufferPointer) throws -> Group {
    var reader = KeyReader(key)
    var value: AttributeValue?
    for kind in kinds {
      value = reader.next(kind)
      if value == nil { throw damage }
    }
    guard let value else { throw damage }
    return Group(prefix: [UInt8](key.prefix(key.count - reader.remaining)), lastValue: value)
  }
}
