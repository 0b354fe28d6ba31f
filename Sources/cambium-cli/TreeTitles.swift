import GraphContext
import PageStore

/// The trees of a store as the tool shows and takes them: with what they hold, where the schema tells.
struct TreeTitles {
  private let labels: TreeLabels?
  private let snapshot: Snapshot

  /// A schema that can't be read tells nothing of trees.
  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    labels = (try? SchemaTree.schema(in: snapshot)).map(TreeLabels.init)
  }

  /// What the tree holds, such as `e/Book`.
  func label(of tree: String) -> String? { labels?.label(of: tree) }

  /// What to print for the tree: `e/Book (e/3)`, or its name alone.
  func title(of tree: String) -> String { labels?.title(of: tree) ?? tree }

  /// The tree that a user means by its name or by its label.
  func tree(_ text: String) throws -> String {
    try snapshot.treeIfPresent(text) == nil ? labels?.tree(text) ?? text : text
  }
}
