import Foundation
import PageStore
import Predicates

/// Appends the transaction of a save to the history, in the transaction of the save: so a store has a commit if and
/// only if it has its history.
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
    var values: [HistoryEntry.Tombstone] = []
    for slot in origin.preservedSlots[entity.ordinal] where !record.isNull(slot) {
      values.append(.init(property: entity.propertyNumber(at: slot), value: record.value(slot)))
    }
    if !values.isEmpty { tombstones[entity.number, default: [:]][number] = values }
  }

  /// Appends the entry of the commit, and removes the transactions that are beyond the limits.
  func append(_ changes: ChangeSet, _ origin: SaveOrigin, _ schema: ResolvedSchema) throws {
    if changes.isEmpty { return }
    let newest = try tree.newestTransaction()
    let previousCommit = newest?.commit ?? settings.start
    // The tree's bytes come from disk: an entry of this commit or a later one means damage.
    guard previousCommit < commit else { throw HistoryTree.damaged }
    let header = HistoryEntry.Header(
      position: newest?.end ?? 0,
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
    let (key, value) = (HistoryTree.transactionKey(commit), entry.bytes(of: commit))
    try tree.put(key, value)
    let mark = HistoryMark(commit: commit, header: header, byteCount: key.count + value.count)
    try HistoryPruner(tree, now).prune(settings.policy, upTo: mark)
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
    var groups: [SlotSet: [ObjectNumber]] = [:]
    for update in changes.updated { groups[update.slots, default: []].append(update.number) }
    updated = groups.sorted { $0.key.rawValue < $1.key.rawValue }.map { slots, numbers in
      let properties = slots.map(entity.propertyNumber)
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
      owners: links.reordered.union(all.map(\.owner)).sorted(),
      elements: Set(all.map(\.element)).sorted()
    )
  }
}
