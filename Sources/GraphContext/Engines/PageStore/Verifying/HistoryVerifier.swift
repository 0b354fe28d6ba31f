import PageStore

/// Verifies the history of a store. Docs/Records.md, "The tree `history`".
struct HistoryVerifier {
  private let snapshot: Snapshot
  private(set) var problems: [IntegrityProblem] = []
  /// The ends of the leases of each entity's numbers; nil if they are unknown.
  private let leases: [EntityNumber: UInt64]?
  /// The transaction before the current one.
  private var last: (commit: UInt64, end: UInt64)?

  /// - Parameters:
  ///   - format: the version of the store's format.
  ///   - leases: the ends of the leases of each entity's numbers; nil if they are unknown.
  init(_ snapshot: Snapshot, format: UInt64, leases: [EntityNumber: UInt64]?) {
    (self.snapshot, self.leases) = (snapshot, leases)
    do throws(StoreError) { try verify(format) } catch { report(error.message) }
  }

  private mutating func report(_ message: String) {
    problems.append(IntegrityProblem(message: message, tree: HistoryTree.name))
  }

  private mutating func verify(_ format: UInt64) throws(StoreError) {
    let tree = try snapshot.treeIfPresent(HistoryTree.name)
    let historyFormat = UInt64(SchemaTree.historyFormatVersion)
    let isRight = tree == nil ? format != historyFormat : format >= historyFormat
    if !isRight {
      report("the format \(format) is wrong for a store \(tree == nil ? "without" : "with") a history")
    }
    guard let tree else { return }
    var settings: HistorySettings?
    let isComplete = tree.forEachReadable { key, value in
      if key.elementsEqual(HistoryTree.settingsKey) {
        settings = HistorySettings(value)
      } else if let commit = HistoryTree.commit(key) {
        verify(commit, value, keyByteCount: key.count)
      } else if HistoryTree.consumer(key) == nil {
        report("the key \(String(decoding: key, as: UTF8.self)) means nothing")
      } else if value.count != 8 {
        report("the place of a consumer has \(value.count) bytes instead of 8")
      }
    }
    if !isComplete { return report("the tree has damaged pages, so some of the history is unknown") }
    if settings == nil { report("the settings are missing or damaged") }
  }

  private mutating func verify(_ commit: UInt64, _ value: UnsafeRawBufferPointer, keyByteCount: Int) {
    if commit > snapshot.commit { report("the transaction \(commit) is of a later commit") }
    guard let entry = HistoryEntry(value, of: commit) else {
      return report("the transaction \(commit) is damaged")
    }
    verifyInsertions(of: entry, commit)
    if let last {
      if entry.header.previousCommit != last.commit {
        report(
          "the transaction \(commit) says that \(entry.header.previousCommit) is the transaction before it"
            + " instead of \(last.commit)"
        )
      }
      if entry.header.position != last.end {
        report(
          "the transaction \(commit) says that \(entry.header.position) bytes are before it instead of \(last.end)"
        )
      }
    }
    last = (commit, entry.header.position &+ UInt64(keyByteCount + value.count))
  }

  /// Checks what a reader of the history checks, too: that the store has given the numbers of the inserted objects.
  private mutating func verifyInsertions(of entry: HistoryEntry, _ commit: UInt64) {
    for objects in entry.objects {
      guard let end = leases?[objects.entity] else { continue }
      if !objects.hasInserted(below: end) {
        report("the transaction \(commit) says that objects were inserted whose numbers were not leased")
      }
    }
  }
}
