/// Limits of trees.
enum TreeLimits {
  /// More levels than a tree of 2⁴⁸ entries can need, every page holding four at the least.
  static let height = 24
}
