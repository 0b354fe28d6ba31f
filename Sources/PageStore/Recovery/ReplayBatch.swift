/// Changes of one tree, collected from the log in the order of time, and applied in the order of their keys.
/// Each leaf is searched for once for all its changes, and only the last of several changes of a key is
/// applied.
///
/// Keys and values are pointers into the log's bytes.
struct ReplayBatch {
  struct Change {
    let key: UnsafeRawBufferPointer
    /// Nil for a removal.
    let value: UnsafeRawBufferPointer?
  }

  /// A change's sort key.
  private struct Rank {
    /// The first eight bytes of the key, with zeros after its end. They decide most comparisons.
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

  /// Applies the changes. O(*n* log *n*).
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

  /// Returns the order of the changes' keys: negative, zero or positive.
  private func order(_ left: Rank, _ right: Rank) -> Int {
    if left.head != right.head { return left.head < right.head ? -1 : 1 }
    return ByteComparison.compare(changes[Int(left.position)].key, changes[Int(right.position)].key)
  }
}
