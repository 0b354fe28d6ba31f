import PageStore
import Predicates

/// Values whose parts are stored before the save that refers to them. The tree `schema` has an entry for each of
/// them, so that a value which no save refers to is removed later.
enum StagedBlobs {
  /// The ordinal of a staged value among the values of its commit.
  static let ordinal: UInt32 = 1
  private static let head = "staged/"

  static func isKey(_ key: [UInt8]) -> Bool { key.starts(with: head.utf8) }

  /// - Parameters:
  ///   - commit: the commit that stored the value's first part.
  ///   - treeName: the tree of the value.
  static func key(_ commit: UInt64, in treeName: String) -> [UInt8] {
    Array("\(head)\(commit)/\(treeName)".utf8)
  }

  /// Returns the commit and the tree of a staged value from its key; nil for a malformed key.
  private static func place(_ key: [UInt8]) -> (commit: UInt64, treeName: String)? {
    let parts = String(decoding: key.dropFirst(head.utf8.count), as: UTF8.self)
      .split(separator: "/", maxSplits: 1)
    // A key must name a tree of values: entries of no other tree are removed because of a key.
    guard parts.count == 2, let commit = UInt64(parts[0]), parts[1].hasPrefix("\(TreeKind.blobs.rawValue)/")
    else { return nil }
    return (commit, String(parts[1]))
  }

  /// Returns the keys of all staged values.
  private static func keys(in catalogue: some OrderedTree) throws(StoreError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var cursor = try catalogue.cursor(in: .prefix(Array(head.utf8)))
    while try cursor.next() { keys.append([UInt8](try cursor.key())) }
    return keys
  }

  /// Returns the prefixes of the keys of a tree's staged values.
  static func prefixes(
    of treeName: String,
    in catalogue: some OrderedTree
  ) throws(StoreError) -> Set<[UInt8]> {
    var prefixes: Set<[UInt8]> = []
    for key in try keys(in: catalogue) {
      guard let place = place(key), place.treeName == treeName else { continue }
      prefixes.insert(BlobKey.prefix(place.commit, ordinal))
    }
    return prefixes
  }

  /// Returns the number of a tree's parts that belong to staged values.
  static func partCount(of treeName: String, in snapshot: Snapshot) throws(StoreError) -> Int {
    guard let catalogue = try snapshot.treeIfPresent(SchemaTree.name),
      let tree = try snapshot.treeIfPresent(treeName)
    else { return 0 }
    var count = 0
    for prefix in try prefixes(of: treeName, in: catalogue) { count += try tree.count(in: .prefix(prefix)) }
    return count
  }

  /// Removes a value if it is still staged. A save that seemed to fail may refer to the value by now.
  static func remove(_ key: [UInt8], _ transaction: inout WriteTransaction) throws(StoreError) {
    guard try transaction.tree(SchemaTree.name).remove(key), let place = place(key),
      let tree = try transaction.treeIfPresent(place.treeName)
    else { return }
    _ = try tree.removeRange(.prefix(BlobKey.prefix(place.commit, ordinal)))
  }

  /// Removes all staged values. They were staged by a process that has ended since, or by containers from which
  /// another container has taken the store over.
  static func removeAll(in store: Store) throws {
    guard let catalogue = try store.snapshot().treeIfPresent(SchemaTree.name) else { return }
    let keys = try keys(in: catalogue)
    if keys.isEmpty { return }
    try store.write { transaction in
      for key in keys { try remove(key, &transaction) }
    }
  }
}
