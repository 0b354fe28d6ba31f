import Foundation
import PageStore

/// Removes the oldest transactions of a history.
struct HistoryPruner {
  private let tree: WriteTree
  private let now: Date

  init(_ tree: WriteTree, _ now: Date = Date()) {
    self.tree = tree
    self.now = now
  }

  /// Removes the oldest transactions, as long as each is beyond the limits of a policy, except the newest one.
  /// O(removed + log n).
  func prune(_ policy: HistoryPolicy) throws {
    if let newest = try tree.newestTransaction() { try prune(policy, upTo: newest) }
  }

  /// - Parameter newest: the newest transaction of the tree.
  func prune(_ policy: HistoryPolicy, upTo newest: HistoryMark) throws {
    let isCounted = policy.limits.transactionCount != nil || policy.consumerLimits.transactionCount != nil
    var count = isCounted ? try tree.count(in: HistoryTree.transactions) : 0
    // Most commits look at the oldest transaction and nothing else.
    guard let oldest = try tree.oldestTransaction(), oldest.commit != newest.commit,
      isBeyond(policy.limits, oldest, count, newest.end)
        || isBeyond(policy.consumerLimits, oldest, count, newest.end)
    else { return }
    let read = try tree.historyConsumers().values.min() ?? .max
    var last: UInt64?
    var cursor = try tree.cursor(in: HistoryTree.transactions)
    while try cursor.next(), let mark = try HistoryMark(&cursor), mark.commit != newest.commit {
      let limits = mark.commit <= read ? policy.limits : policy.consumerLimits
      guard isBeyond(limits, mark, count, newest.end) else { break }
      last = mark.commit
      count -= 1
    }
    if let last { try remove(through: last) }
  }

  private func isBeyond(_ limits: HistoryLimits, _ mark: HistoryMark, _ count: Int, _ end: UInt64) -> Bool {
    if let limit = limits.transactionCount, count > limit { return true }
    if let limit = limits.byteCount, Int(clamping: end &- mark.header.position) > limit { return true }
    guard let age = limits.age else { return false }
    return now.timeIntervalSince(mark.header.date) * 1_000 >= Double(age.wholeMilliseconds)
  }

  /// Removes all transactions. The history continues after the commit `start`, and tokens of the commits before it
  /// expire.
  func removeAll(before start: UInt64) throws {
    _ = try tree.removeRange(HistoryTree.transactions)
    var settings = try tree.historySettings()
    settings.start = start
    try tree.put(HistoryTree.settingsKey, settings.bytes)
  }

  /// Removes the transactions up to a commit, the newest one too. Returns how many there were. O(log n).
  @discardableResult
  func remove(through commit: UInt64) throws -> Int {
    let newest = try tree.newestTransaction()
    let range = KeyRange(
      lower: HistoryTree.transactions.lower,
      upper: .including(HistoryTree.transactionKey(commit))
    )
    let count = try tree.removeRange(range)
    if let newest, newest.commit <= commit {
      // From now on only the settings say after which commit the history continues.
      var settings = try tree.historySettings()
      settings.start = newest.commit
      try tree.put(HistoryTree.settingsKey, settings.bytes)
    }
    return count
  }
}
