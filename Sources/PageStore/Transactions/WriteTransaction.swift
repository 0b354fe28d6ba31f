/// The write transaction that `Store.write(durability:timeout:_:)` passes to its closure. There is one at a
/// time.
///
/// It sees the store after the last commit, with its own changes. Other threads don't see its changes before
/// they are committed.
public struct WriteTransaction: ~Copyable {
  let state: TransactionState

  init(_ state: TransactionState) {
    self.state = state
  }

  /// The number that this transaction gets if it is committed.
  public var commit: UInt64 { state.commit }
  /// The number of the commit that it builds on.
  public var baseCommit: UInt64 { state.base.commit }

  /// Attaches an object to the commit, for ``Snapshot/attachments(after:)``. The object is attached before
  /// any reader sees the commit.
  package mutating func attach(_ attachment: any Sendable) { state.attachment = attachment }

  /// Declares that the transaction carries out a deletion. If it removes entries, and puts no more than it
  /// removes, it may use half of the room that is kept for removals on a full disk.
  package mutating func markAsDeletion() { state.isDeletion = true }

  /// The names of all trees, in order of their bytes.
  public var treeNames: [String] { state.directory.sortedNames }

  /// Returns the tree of this name, which is created if there is none. A name has 1 to 1,024 bytes.
  public mutating func tree(_ name: String) throws(StoreError) -> WriteTree {
    if let tree = try treeIfPresent(name) { return tree }
    return WriteTree(editor: try state.editor(state.createTree(name)), recorder: state)
  }

  /// Returns the tree of this name, or nil.
  public mutating func treeIfPresent(_ name: String) throws(StoreError) -> WriteTree? {
    guard let slot = try state.slot(of: name) else { return nil }
    return WriteTree(editor: try state.editor(slot), recorder: state)
  }

  /// Removes the tree of this name and everything in it. Throws `noSuchTree`.
  public mutating func dropTree(_ name: String) throws(StoreError) {
    guard let slot = try state.slot(of: name) else { throw .noSuchTree(name) }
    try state.dropTree(slot)
  }
}
