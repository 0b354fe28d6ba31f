/// Limits of trees.
enum TreeLimits {
  /// More levels than a tree of 2⁴⁸ entries needs if every page has at least four entries.
  static let height = 24

  /// Returns the most entries that `pageCount` pages can have: each takes at least a slot and the length of
  /// its value.
  ///
  /// - Parameter pageCount: at most ``PageTable/count``.
  static func entryCount(ofPages pageCount: UInt64, pageSize: Int) -> UInt64 {
    pageCount * UInt64(pageSize / (PageSlot.byteCount + LeafCell.keyOffset))
  }
}
