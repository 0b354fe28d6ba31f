/// Where a write transaction notes what was done to its trees, for the log.
protocol ChangeRecorder: AnyObject {
  /// Called after `value` was stored under `key` in the tree.
  func recordPut(
    treeID: UInt32,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer
  ) throws(StoreError)
  /// Called after `key` was removed from the tree.
  func recordRemove(treeID: UInt32, key: UnsafeRawBufferPointer) throws(StoreError)
  /// Called after every key in `range` was removed from the tree.
  func recordRemoveRange(treeID: UInt32, range: KeyRange) throws(StoreError)
}

/// A tree as a write transaction has it: reads see the transaction's own changes.
///
/// A small handle; copies of it are the same tree. After the transaction's end every call throws
/// `.transactionEnded`.
public struct WriteTree: OrderedTree {
  let editor: TreeEditor
  private let recorder: any ChangeRecorder

  init(editor: TreeEditor, recorder: any ChangeRecorder) {
    self.editor = editor
    self.recorder = recorder
  }

  public var core: TreeCore {
    get throws(StoreError) {
      guard editor.isIntact else {
        throw StoreError(.transactionEnded, "The write transaction has ended or has failed.")
      }
      return editor.core
    }
  }

  public func cursor(in range: KeyRange = .all) throws(StoreError) -> TreeCursor {
    TreeCursor(core: try core, range: range, owner: editor, changes: UnsafePointer(editor.changes))
  }
}

extension WriteTree {
  /// Stores `value` under `key`. Returns whether the key had a value before. O(log *n*).
  @discardableResult
  public func put(_ key: [UInt8], _ value: [UInt8]) throws(StoreError) -> Bool {
    try key.withBytes { key throws(StoreError) in
      try value.withBytes { value throws(StoreError) in try put(key, value) }
    }
  }

  /// ``put(_:_:)`` for borrowed bytes.
  @discardableResult
  package func put(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    let replaced = try editor.put(key, value)
    try recorder.recordPut(treeID: editor.root.treeID, key: key, value: value)
    return replaced
  }
}
