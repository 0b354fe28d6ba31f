/// Records the changes of a write transaction's trees, for the log.
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
  /// Called after a change with which the transaction takes more memory than it may.
  func writeEarly() throws(StoreError)
}

/// A tree of a write transaction. Reads see the transaction's own changes.
///
/// A small handle; its copies are handles of the same tree. After the transaction's end every call throws
/// `.transactionEnded`.
public struct WriteTree: OrderedTree {
  let editor: TreeEditor
  private let recorder: any ChangeRecorder

  init(editor: TreeEditor, recorder: any ChangeRecorder) {
    self.editor = editor
    self.recorder = recorder
  }

  /// The tree with all changes of the transaction so far, valid until its next change of any tree. Throws
  /// `.transactionEnded` after the transaction, `.nestedWrite` in a bulk append.
  public var core: TreeCore {
    get throws(StoreError) {
      try editor.checkIntact()
      return editor.core
    }
  }

  /// Returns a cursor over the entries whose key is in `range`. Throws `.transactionEnded` after the
  /// transaction, `.nestedWrite` in a bulk append.
  public func cursor(in range: KeyRange = .all) throws(StoreError) -> TreeCursor {
    let core = try core
    editor.cursorChanges = editor.changes.pointee
    return TreeCursor(
      core: core,
      range: range,
      owner: editor,
      changes: UnsafePointer(editor.changes),
      countedIn: editor.cursorCount
    )
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

  /// Does what ``put(_:_:)`` does, for borrowed bytes.
  @discardableResult
  package func put(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    try note(key, value)
    let isReplaced = try editor.put(key, value)
    try keepMemoryLimit()
    return isReplaced
  }

  /// Does what ``put(_:_:)`` does, for a key that is probably near the one before.
  @discardableResult
  package func put(
    near key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    try note(key, value)
    let isReplaced = try editor.put(near: key, value)
    try keepMemoryLimit()
    return isReplaced
  }

  /// Replaces the value of a key by the value that `body` returns for it. If `body` returns nil, the value
  /// stays. The key is probably near the key of the last change. `body` mustn't use the tree.
  ///
  /// The key is searched for only once.
  ///
  /// - Returns: whether the tree has the key.
  package func replace(
    near key: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer?
  ) throws(StoreError) -> Bool {
    let isThere = try editor.replace(near: key) { old throws(StoreError) in
      guard let new = body(old) else { return nil }
      try note(key, new)
      return new
    }
    try keepMemoryLimit()
    return isThere
  }

  /// Records a change before it is made, because the change moves the key's and the value's bytes if they are
  /// the tree's own. If the change fails, the transaction can only be aborted, so no recorded change is ever
  /// missing in the tree.
  private func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    try editor.checkIntact()
    try TreeEditor.checkLengths(key, value)
    try recorder.recordPut(treeID: editor.root.treeID, key: key, value: value)
  }

  /// Writes pages early if the transaction takes more memory than it may. Called after each change, when no
  /// operation needs the path, and no cursor over the tree is valid.
  @inline(__always)
  private func keepMemoryLimit() throws(StoreError) {
    if editor.dirty.isOverLimit { try recorder.writeEarly() }
  }

  /// Stores many entries; a key that the tree has gets the new value. Returns how many of the keys had a
  /// value before.
  ///
  /// The keys may come in any order, and more than once: the last value stays. The order isn't checked. O(*n*
  /// log *m*) for *n* entries and *m* in the tree. Ascending keys are quicker: neighbours in one leaf share
  /// the search for it. Keys that are all above the tree's last are quicker still with ``append(sorted:)``.
  ///
  /// Throws `.keyTooLong` or `.valueTooLong` at the first entry whose key or value is too long; the entries
  /// before it stay.
  @discardableResult
  public func put(
    contentsOf entries: some Sequence<(key: [UInt8], value: [UInt8])>
  ) throws(StoreError) -> Int {
    var replacedCount = 0
    for entry in entries {
      try entry.key.withBytes { key throws(StoreError) in
        try entry.value.withBytes { value throws(StoreError) in
          if try put(near: key, value) { replacedCount += 1 }
        }
      }
    }
    return replacedCount
  }
}

extension WriteTree {
  /// Removes `key` and its value. Returns whether it was there. O(log *n*).
  @discardableResult
  public func remove(_ key: [UInt8]) throws(StoreError) -> Bool {
    try key.withBytes { key throws(StoreError) in try remove(key) }
  }

  /// Does what ``remove(_:)`` does, for borrowed bytes.
  @discardableResult
  package func remove(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard try editor.remove(key) else { return false }
    try recorder.recordRemove(treeID: editor.root.treeID, key: key)
    try keepMemoryLimit()
    return true
  }

  /// Does what ``remove(_:)`` does, for a key that is probably near the one before.
  @discardableResult
  package func remove(near key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard try editor.remove(near: key) else { return false }
    try recorder.recordRemove(treeID: editor.root.treeID, key: key)
    try keepMemoryLimit()
    return true
  }

  /// Removes every entry whose key is in `range`; returns how many there were.
  ///
  /// Changes O(log *n*) pages, however many entries there are.
  @discardableResult
  public func removeRange(_ range: KeyRange) throws(StoreError) -> Int {
    let removed = try editor.removeRange(range)
    if removed > 0 { try recorder.recordRemoveRange(treeID: editor.root.treeID, range: range) }
    try keepMemoryLimit()
    return removed
  }

  /// Appends entries whose keys ascend strictly, the first one above the tree's last key: a bulk load, which
  /// fills each page before it begins the next. Returns how many entries there were.
  ///
  /// O(*n* + log *m*) for *n* entries and *m* in the tree.
  ///
  /// Throws `.keysOutOfOrder` at the first key that isn't above the one before it; the entries before it
  /// stay. While `entries` is asked for its next element, the tree can neither be read nor changed:
  /// `.nestedWrite`.
  @discardableResult
  public func append(
    sorted entries: some Sequence<(key: [UInt8], value: [UInt8])>
  ) throws(StoreError) -> Int {
    var iterator = entries.makeIterator()
    return try append { (take) throws(StoreError) in
      guard let entry = iterator.next() else { return false }
      try entry.key.withBytes { key throws(StoreError) in
        try entry.value.withBytes { value throws(StoreError) in try take(key, value) }
      }
      return true
    }
  }

  /// Does what ``append(sorted:)`` does, for borrowed bytes: `next` passes one entry to its argument and
  /// returns true, or returns false if there are no more.
  @discardableResult
  package func append(
    _ next: (
      _ take: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool
  ) throws(StoreError) -> Int {
    try appending { (sink) throws(StoreError) in
      while try next({ (key, value) throws(StoreError) in try sink.append(key, value) }) {}
    }
  }

  /// Runs a bulk append; `body` passes the entries to the sink.
  func appending(_ body: (inout RecordingAppender) throws(StoreError) -> Void) throws(StoreError) -> Int {
    var sink = RecordingAppender(
      appender: try TreeAppender(editor),
      treeID: editor.root.treeID,
      recorder: recorder
    )
    editor.isAppending = true
    do throws(StoreError) {
      try body(&sink)
    } catch {
      if editor.isIntact { _ = try sink.appender.finish() }
      throw error
    }
    return try sink.appender.finish()
  }
}

/// Appends entries to a tree and records them for the log.
struct RecordingAppender: ~Copyable {
  fileprivate var appender: TreeAppender
  fileprivate let treeID: UInt32
  fileprivate let recorder: any ChangeRecorder

  mutating func append(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    try appender.append(key, value)
    try recorder.recordPut(treeID: treeID, key: key, value: value)
    if appender.isOverLimit { try recorder.writeEarly() }
  }
}
