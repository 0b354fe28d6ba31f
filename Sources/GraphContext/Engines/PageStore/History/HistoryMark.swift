import PageStore

/// A transaction of a history, without its changes.
struct HistoryMark {
  let commit: UInt64
  let header: HistoryEntry.Header
  /// The number of bytes of the key and the value.
  let byteCount: Int

  /// Bytes of all transactions up to this one.
  var end: UInt64 { header.position + UInt64(byteCount) }

  init(commit: UInt64, header: HistoryEntry.Header, byteCount: Int) {
    (self.commit, self.header, self.byteCount) = (commit, header, byteCount)
  }

  /// The entry that a cursor is at; nil for one that isn't a transaction.
  init?(_ cursor: inout TreeCursor) throws {
    let key = try cursor.key()
    guard let commit = HistoryTree.commit(key) else { return nil }
    let keyByteCount = key.count
    let value = try cursor.value()
    guard let header = HistoryEntry.Header(value, of: commit) else { throw HistoryTree.damaged }
    self.init(commit: commit, header: header, byteCount: keyByteCount + value.count)
  }
}

extension OrderedTree {
  func historySettings() throws -> HistorySettings {
    let bytes = try value(for: HistoryTree.settingsKey)
    guard let settings = bytes?.withUnsafeBytes({ HistorySettings($0) }) else { throw HistoryTree.damaged }
    return settings
  }

  /// O(log n).
  func newestTransaction() throws -> HistoryMark? {
    var cursor = try cursor(in: .all)
    return try cursor.previous() ? HistoryMark(&cursor) : nil
  }

  /// Returns the last transaction up to a commit. O(log n).
  func lastTransaction(through commit: UInt64) throws -> HistoryMark? {
    var cursor = try cursor(in: HistoryTree.transactions(through: commit))
    return try cursor.previous() ? HistoryMark(&cursor) : nil
  }

  /// O(log n).
  func oldestTransaction() throws -> HistoryMark? {
    var cursor = try cursor(in: HistoryTree.transactions)
    return try cursor.next() ? HistoryMark(&cursor) : nil
  }

  /// Returns the commits up to which consumers have read, by the names of the consumers. Of several spellings of a
  /// name, which earlier versions of the library stored, the greatest commit counts.
  func historyConsumers() throws -> [String: UInt64] {
    var consumers: [String: UInt64] = [:]
    var cursor = try cursor(in: HistoryTree.consumers)
    while try cursor.next() {
      guard let name = HistoryTree.consumer(try cursor.key()) else { throw HistoryTree.damaged }
      let value = try cursor.value()
      guard value.count == 8 else { throw HistoryTree.damaged }
      let commit = UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
      consumers[name] = max(commit, consumers[name] ?? 0)
    }
    return consumers
  }

  /// Returns the consumer of a name, with the name's spelling in the tree. Equal strings may have different bytes, as
  /// when a letter and its accent are one scalar or two.
  func historyConsumer(_ name: String) throws -> (name: String, commit: UInt64)? {
    let consumers = try historyConsumers()
    return consumers.index(forKey: name).map { (consumers[$0].key, consumers[$0].value) }
  }
}
