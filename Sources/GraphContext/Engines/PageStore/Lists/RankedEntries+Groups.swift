import PageStore
import Predicates

/// Entries of a list by rank that have a value in common. They are neighbours: the value is the first key of the list's order, and what an index has before it is the same in all
/// entries of the list.
extension RankedEntries {
  /// The kinds of an index's first columns, up to the one that has a path; nil where no column has it as it is.
  func columns(of path: ResolvedPath) -> [AttributeKind]? {
    guard case .index(let index, _) = access.source, let slot = path.ownSlot,
      let place = index.columns.firstIndex(where: { $0.slot == slot })
    else { return nil }
    let columns = index.columns[...place]
    guard columns.allSatisfy(\.folding.isEmpty) else { return nil }
    return columns.map { entity.layout.fields[$0.slot].kind }
  }

  /// Entries of a group that are read before the rest is counted.
  private static let readCount = 16

  /// Calls `body` with the value of the last one of some columns and how many entries have it, from a position of the results on until it returns false.
  ///
  /// O(log n) for a large group, and O(1) for a small one that follows another. A group that began before the position counts from there.
  func forEachGroup(
    by columns: [AttributeKind],
    from position: Int,
    _ body: (AttributeValue, Int) throws -> Bool
  ) throws {
    guard let tree else { return }
    var position = position
    while position < count {
      var cursor = tree.cursor()
      let place = access.isReversed ? count - 1 - position : position
      guard let span = spans.last(where: { $0.start <= place && place < $0.start + $0.count }),
        try cursor.seek(toPosition: span.rank + place - span.start)
      else { throw damage }
      var rank = span.rank + place - span.start
      let end = access.isReversed ? span.rank - 1 : span.rank + span.count
      while rank != end {
        let (value, next) = try group(at: &cursor, rank, end, by: columns, in: tree)
        let groupCount = abs(next - rank)
        position += groupCount
        rank = next
        if try !body(value, groupCount) { return }
      }
    }
  }

  /// Walks over a group, and leaves the cursor at the entry that follows.
  ///
  /// - Parameters:
  ///   - rank: of the cursor's entry.
  ///   - end: the rank at which the walk ends.
  /// - Returns: the value that the group has in common, and the rank of the entry that follows.
  private func group(
    at cursor: inout TreeCursor,
    _ rank: Int,
    _ end: Int,
    by columns: [AttributeKind],
    in tree: TreeReader
  ) throws -> (value: AttributeValue, next: Int) {
    let step = access.isReversed ? -1 : 1
    var reader = KeyReader(try cursor.key())
    var value: AttributeValue?
    for kind in columns {
      value = reader.next(kind)
      if value == nil { throw damage }
    }
    guard let value else { throw damage }
    let key = try cursor.key()
    let prefix = [UInt8](key.prefix(key.count - reader.remaining))
    var next = rank
    defer { view.counters.entriesWalked += min(abs(next - rank), Self.readCount) }
    repeat {
      next += step
      if next == end { return (value, next) }
      guard try access.isReversed ? cursor.previous() : cursor.next() else { throw damage }
      if try !cursor.key().starts(with: prefix) { return (value, next) }
    } while abs(next - rank) < Self.readCount
    if access.isReversed {
      next = max(min(next, try tree.rank(of: prefix) - 1), end)
    } else if case .excluding(let bound) = KeyRange.successor(ofPrefix: prefix) {
      next = min(max(next, try tree.rank(of: bound)), end)
    } else {
      next = end
    }
    if next != end, try !cursor.seek(toPosition: next) { throw damage }
    return (value, next)
  }
}
