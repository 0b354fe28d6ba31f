import Foundation
import PageStore
import Predicates

/// Appends the transaction of a save to the history, in the transaction of the save: so a store has a commit if and only if it has its history.
struct HistoryWriter {
  private let tree: WriteTree
  private let commit: UInt64
  private let now = Date()
  private var settings: HistorySettings
  /// Last values of deleted objects.
  private var tombstones: [EntityNumber: [ObjectNumber: [HistoryEntry.Tombstone]]] = [:]

  /// Nil for a store that keeps no history. O(log n).
  init?(_ transaction: inout WriteTransaction) throws {
    guard let tree = try transaction.treeIfPresent(HistoryTree.name) else { return nil }
    try self.init(tree, transaction.commit)
  }

  private init(_ tree: WriteTree, _ commit: UInt64) throws {
    self.tree = tree
    self.commit = commit
    settings = try tree.historySettings()
  }

  /// Notes the values of a record that is about to be deleted.
  mutating func noteDeleted(
    _ record: RecordView,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ origin: SaveOrigin
  ) {
    guard !origin.preservedSlots.isEmpty else { return }
    var rest = origin.preservedSlots[entity.ordinal]
    var values: [HistoryEntry.Tombstone] = []
    while rest != 0 {
      let slot = rest.trailingZeroBitCount
      rest &= rest - 1
      if record.isNull(slot) { continue }
      values.append(.init(property: entity.propertyNumber(at: slot), value: record.value(slot)))
    }
    if !values.isEmpty { tombstones[entity.number, default: [:]][number] = values }
  }

  /// Appends the entry of the commit, and removes what is beyond the limits.
  func append(_ changes: ChangeSet, _ origin: SaveOrigin, _ schema: StoredSchema) throws {
    if changes.isEmpty { return }
    let newest = try tree.newestTransaction()
    let previousCommit = newest?.commit ?? settings.start
    // The tree comes from disk: an entry of a commit that is yet to come is no entry.
    guard previousCommit < commit else { throw HistoryTree.damaged }
    let header = HistoryEntry.Header(
      position: newest.map { $0.header.position + UInt64($0.byteCount) } ?? 0,
      previousCommit: previousCommit,
      date: now
    )
    var entry = HistoryEntry(header: header, author: origin.author, contextName: origin.contextName)
    entry.objects = changes.objects.sorted { $0.key < $1.key }.compactMap { number, objects in
      schema.entity(number).map { HistoryEntry.Objects(objects, $0, tombstones[number] ?? [:]) }
    }
    entry.links = changes.links.map(HistoryEntry.Links.init).sorted {
      ($0.relationship.entity, $0.relationship.property) < ($1.relationship.entity, $1.relationship.property)
    }
    try tree.put(HistoryTree.transactionKey(commit), entry.bytes(of: commit))
    try HistoryPruner(tree, now).prune(settings.policy)
  }
}

extension HistoryEntry.Objects {
  fileprivate init(
    _ changes: ChangeSet.Objects,
    _ entity: StoredEntity,
    _ tombstones: [ObjectNumber: [HistoryEntry.Tombstone]]
  ) {
    self.entity = entity.number
    inserted = changes.inserted.ranges
    var groups: [UInt64: [ObjectNumber]] = [:]
    for update in changes.updated { groups[update.slots, default: []].append(update.number) }
    updated = groups.sorted { $0.key < $1.key }.map { slots, numbers in
      let properties = (0..<64).filter { slots & 1 << UInt64($0) != 0 }.map(entity.propertyNumber)
      return HistoryEntry.Update(properties: properties, numbers: numbers)
    }
    deleted = changes.deleted.map { .init(number: $0, tombstones: tombstones[$0] ?? []) }
  }
}

extension HistoryEntry.Links {
  fileprivate init(_ relationship: ChangeSet.Relationship, _ links: ChangeSet.Links) {
    let all = links.added + links.removed
    self.init(
      relationship: relationship,
      owners: Set(all.map(\.owner)).sorted(),
      elements: Set(all.map(\.element)).sorted()
    )
  }
}

/// A transaction of a history, without what it changed.
struct HistoryMark {
  let commit: UInt64
  let header: HistoryEntry.Header
  /// Of the key and the value.
  let byteCount: Int

  /// The entry that a cursor is at; nil for one that isn't a transaction.
  fileprivate init?(_ cursor: inout TreeCursor) throws {
    let key = try cursor.key()
    guard let commit = HistoryTree.commit(key) else { return nil }
    let keyByteCount = key.count
    let value = try cursor.value()
    guard let header = HistoryEntry.Header(value, of: commit) else { throw HistoryTree.damaged }
    (self.commit, self.header, byteCount) = (commit, header, keyByteCount + value.count)
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

  /// O(log n).
  func oldestTransaction() throws -> HistoryMark? {
    var cursor = try cursor(in: HistoryTree.transactions)
    return try cursor.next() ? HistoryMark(&cursor) : nil
  }

  /// The commits that consumers have read up to, by their names.
  func historyConsumers() throws -> [String: UInt64] {
    var consumers: [String: UInt64] = [:]
    var cursor = try cursor(in: HistoryTree.consumers)
    while try cursor.next() {
      guard let name = HistoryTree.consumer(try cursor.key()) else { throw HistoryTree.damaged }
      let value = try cursor.value()
      guard value.count == 8 else { throw HistoryTree.damaged }
      consumers[name] = UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
    }
    return consumers
  }
}

/// Removes the oldest transactions of a history.
struct HistoryPruner {
  private let tree: WriteTree
  private let now: Date

  init(_ tree: WriteTree, _ now: Date = Date()) {
    self.tree = tree
    self.now = now
  }

  /// Removes what is beyond the limits of a policy, but not the newest transaction. O(removed + log n).
  func prune(_ policy: HistoryPolicy) throws {
    guard let newest = try tree.newestTransaction() else { return }
    let end = newest.header.position + UInt64(newest.byteCount)
    var count = try tree.count(in: HistoryTree.transactions)
    // Most commits look at the oldest transaction and nothing else.
    guard let oldest = try tree.oldestTransaction(), oldest.commit != newest.commit,
      isBeyond(policy.limits, oldest, count, end)
    else { return }
    let read = try tree.historyConsumers().values.min() ?? .max
    var last: UInt64?
    var cursor = try tree.cursor(in: HistoryTree.transactions)
    while try cursor.next(), let mark = try HistoryMark(&cursor), mark.commit != newest.commit {
      let limits = mark.commit <= read ? policy.limits : policy.consumerLimits
      guard isBeyond(limits, mark, count, end) else { break }
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

  /// Removes all transactions. The history goes on after a commit, and tokens of the commits before it expire.
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
      // Nothing else says any more where the history goes on.
      var settings = try tree.historySettings()
      settings.start = newest.commit
      try tree.put(HistoryTree.settingsKey, settings.bytes)
    }
    return count
  }
}
