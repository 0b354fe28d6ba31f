import PageStore
import Predicates

/// Entries of a list by rank that have a value in common. They are neighbours: the value is the first key of the
/// list's order, and the columns before it in the index are the same in all entries of the list.
extension RankedEntries {
  /// Returns the kinds of an index's first columns, up to the column that has a path; nil if no column has it
  /// unchanged.
  func columns(of path: ResolvedPath) -> [AttributeKind]? {
    guard case .index(let index, _) = access.source, let slot = path.ownSlot,
      let place = index.columns.firstIndex(where: { $0.slot == slot })
    else { return nil }
    let columns = index.columns[...place]
    guard columns.allSatisfy(\.folding.isEmpty) else { return nil }
    return columns.map { entity.layout.fields[$0.slot].kind }
  }

  /// Calls `body` with each value of the last of some columns, and with the number of entries that have it. Begins
  /// at a position of the results, and ends when `body` returns false.
  ///
  /// O(log n) for a large group, and O(1) for a small one that follows another. Of a group that begins before the
  /// position, only the entries from the position on are counted.
  func forEachGroup(
    by columns: [AttributeKind],
    from position: Int,
    _ body: (AttributeValue, Int) throws -> Bool
  ) throws {
    guard let tree else { return }
    let groups = EntryGroups(tree: tree, kinds: columns, isReversed: access.isReversed, damage: damage)
    var (position, isOver) = (position, false)
    while position < count, !isOver {
      let place = access.isReversed ? count - 1 - position : position
      guard let span = spans.last(where: { $0.start <= place && place < $0.start + $0.count }) else {
        throw damage
      }
      let rank = span.rank + place - span.start
      let end = access.isReversed ? span.rank - 1 : span.rank + span.count
      try groups.forEach(from: rank, to: end) { group in
        view.counters.entriesWalked += group.readCount
        isOver = try !body(group.lastValue, group.count)
        return !isOver
      }
      position += abs(end - rank)
    }
  }
}
