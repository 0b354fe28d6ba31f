import GraphContext
import PageStore

/// The titles of a store's trees as the tool shows and accepts them: with their labels, where the schema knows
/// these.
struct TreeTitles {
  private let labels: TreeLabels?
  private let snapshot: Snapshot

  /// There are no labels if the schema can't be read.
  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    labels = (try? SchemaTree.schema(in: snapshot)).map(TreeLabels.init)
  }

  /// The label of the tree, such as `e/Book`.
  func label(of tree: String) -> String? { labels?.label(of: tree) }

  /// The printed title of the tree: `e/Book (e/3)`, or its name alone.
  func title(of tree: String) -> String { labels?.title(of: tree) ?? tree }

  /// Returns the tree with this name or label.
  func tree(_ text: String) throws -> String {
    try snapshot.treeIfPresent(text) == nil ? labels?.tree(text) ?? text : text
  }
}
