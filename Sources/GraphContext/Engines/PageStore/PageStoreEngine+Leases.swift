import PageStore
import Predicates

// Leasing numbers of objects, where no save has done so ahead of need.

extension PageStoreEngine {
  /// A number that no object of the entity has had, and that none will have but the one it is taken for. O(1), but for the first
  /// number of each block: that may wait for the writer's turn and for the device.
  ///
  /// Numbers are handed out when the commit that leased them is durable: it is synced whatever the durability of saves, because a
  /// number can be seen before anything is saved. One sync is worth thousands of numbers. Only a store that is opened with the durability `none`, which
  /// says that a power failure may lose everything, is not synced for them.
  ///
  /// A store that is open for reading only leases nothing: its numbers are of use in this process alone, as the objects are, which can't be
  /// saved.
  ///
  /// - Parameter timeout: the longest wait for the writer's turn; nil for as long as it takes.
  /// - Throws: `tooManyObjects` when no number is left; what a save throws when the lease can't be written or synced.
  func takeNumber(of entity: StoredEntity, timeout: Duration?) throws(ContextError) -> ObjectNumber {
    while true {
      if let number = numbers.take(entity.ordinal) { return number }
      do { try lease(entity, timeout) } catch { throw ContextError(any: error) }
    }
  }

  private func lease(_ entity: StoredEntity, _ timeout: Duration?) throws {
    if store.options.isReadOnly {
      numbers.didLease([try endOfNextBlock(of: entity, stored: 0)], isSettled: true)
    } else if numbers.hasUnsettled(entity.ordinal) {
      try settleLeases()
    } else {
      try leaseBlocks(including: entity, timeout)
    }
  }

  /// Makes what was committed durable, and with it the leases.
  func settleLeases() throws(StoreError) {
    let ends = numbers.committedEnds
    try store.makeDurable()
    numbers.didSettle(ends)
  }

  /// Leases a block for the entity, and for each other one that has no number left: objects of several come together.
  private func leaseBlocks(including entity: StoredEntity, _ timeout: Duration?) throws {
    let durability = store.options.durability == .none ? nil : Durability.full
    let ends = try store.write(durability: durability, timeout: timeout) { transaction in
      try checkWritable()
      let catalogue = try transaction.tree(SchemaTree.name)
      // Another thread may have been quicker.
      let usedUp = numbers.usedUp
      return try usedUp.contains(entity.ordinal)
        ? usedUp.compactMap {
          try leaseBlock(of: schema.entities[$0], isNeeded: $0 == entity.ordinal, in: catalogue)
        }
        : []
    }
    numbers.didLease(ends, isSettled: true)
  }

  /// Nil when no number is left of an entity that needs none.
  private func leaseBlock(
    of entity: StoredEntity,
    isNeeded: Bool,
    in catalogue: WriteTree
  ) throws -> LeaseEnd? {
    let key = SchemaTree.numbersKey(entity.number)
    let stored = SchemaTree.number(try catalogue.value(for: key))
    guard isNeeded || numbers.endOfNextBlock(entity.ordinal, stored: stored) != nil else { return nil }
    let block = try endOfNextBlock(of: entity, stored: stored)
    try catalogue.put(key, SchemaTree.bytes(block.end))
    return block
  }

  private func endOfNextBlock(of entity: StoredEntity, stored: UInt64) throws(ContextError) -> LeaseEnd {
    guard let end = numbers.endOfNextBlock(entity.ordinal, stored: stored) else {
      throw ContextError(
        .tooManyObjects,
        "no number is left for another \(entity.name)",
        context: .init(entity: entity.name)
      )
    }
    return (entity.ordinal, end)
  }
}
