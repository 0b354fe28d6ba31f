/// Limits of trees.
enum TreeLimits {
  /// More levels than a tree of 2⁴⁸ entries can need, every page holding four at the least.
  static let height = 24

  /// Entries that so many pages can have at the most: each takes a slot and the length of its value.
  ///
  /// - Parameter pageCount: at most ``PageTable/count``.
  static func entryCount(ofPages pageCount: UInt64, pageSize: Int) -> UInt64 {
    pageCount * UInt64(pageSize / (PageSlot.byteCount + LeafCell.keyOffset))
  }
}
