/// Changes of one tree that the log has in the order of time, made in the order of their keys: the way to a leaf is gone once for all that
/// happened in it, and of several changes of a key the last alone is made.
///
/// Keys and values stay where the log has them.
struct ReplayBatch {
  struct Change {
    let key: UnsafeRawBufferPointer
    /// Nil for a removal.
    let value: UnsafeRawBufferPointer?
  }

  /// A change's sort key.
  private struct Rank {
    /// The key's first eight bytes, zeros after its end: most comparisons need no more.
    let head: UInt64
    /// The position in `changes`, which are in the order of time.
    let position: UInt32
  }

  private var changes: [Change] = []
  private var ranks: [Rank] = []

  mutating func append(_ change: Change) {
    let head = ByteComparison.head(change.key.start, change.key.count, as: UInt64.self)
    ranks.append(Rank(head: head, position: UInt32(changes.count)))
    changes.append(change)
  }

  /// Makes the changes. O(*n* log *n*).
  func makeChanges(in tree: TreeEditor) throws(StoreError) {
    let ranks = ranks.sorted { order($0, $1) < 0 || (order($0, $1) == 0 && $0.position < $1.position) }
    for (index, rank) in ranks.enumerated() {
      if index + 1 < ranks.count, order(rank, ranks[index + 1]) == 0 { continue }
      let change = changes[Int(rank.position)]
      if let value = change.value {
        _ = try tree.put(near: change.key, value)
      } else {
        _ = try tree.remove(change.key)
      }
    }
  }

  /// Of their keys.
  private func order(_ left: Rank, _ right: Rank) -> Int {
    if left.head != right.head { return left.head < right.head ? -1 : 1 }
    return ByteComparison.compare(changes[Int(left.position)].key, changes[Int(right.position)].key)
  }
}
