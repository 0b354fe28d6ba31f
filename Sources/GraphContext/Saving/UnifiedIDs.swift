/// The IDs of new objects that saves of a context have unified with existing ones, and the IDs of the existing ones.
struct UnifiedIDs {
  /// The number of IDs that are kept beside those of the last save.
  static let limit = 10_000

  private(set) var aliases: [ManagedObjectID: ManagedObjectID] = [:]
  /// Their keys, in the order of the saves.
  private var order: [ManagedObjectID] = []

  /// Adds the IDs of a save, and forgets those of the earliest saves beyond the limit.
  mutating func add(_ ids: [ManagedObjectID: ManagedObjectID]) {
    aliases.merge(ids) { $1 }
    order += ids.keys
    let excess = min(order.count - Self.limit, order.count - ids.count)
    guard excess > 0 else { return }
    for id in order.prefix(excess) { aliases[id] = nil }
    order.removeFirst(excess)
  }
}
