import PageStore
import Predicates

// Leasing numbers of objects, where no save has done so ahead of need.

extension PageStoreEngine {
  /// Returns a number that no object of the entity has had, and that only the object it is taken for will have.
  /// O(1), except for the first number of each block, which may wait for the writer's turn and for the device.
  ///
  /// Numbers are handed out when the commit that leased them is durable. This commit is synced whatever the
  /// durability of saves, because a program can see a number before anything is saved. One sync is worth thousands
  /// of numbers. Only a store with the durability `none`, which allows a power failure to lose everything, is not
  /// synced for numbers.
  ///
  /// A store that is open for reading only leases nothing: its new objects can't be saved, so their numbers are
  /// used in this process alone.
  ///
  /// - Parameter timeout: the longest wait for the writer's turn; nil for no limit.
  /// - Throws: `tooManyObjects` when no number is left; the errors of a save when the lease can't be written or
  ///   synced.
  func takeNumber(of entity: StoredEntity, timeout: Duration?) throws(ContextError) -> ObjectNumber {
    while true {
      if let number = numbers.take(entity.ordinal) { return number }
      do { try lease(entity, timeout) } catch { throw ContextError(any: error) }
    }
  }

  private func lease(_ entity: StoredEntity, _ timeout: Duration?) throws {
    if store.options.isReadOnly {
      numbers.didLease([try endOfNextBlock(of: entity, stored: 0)], isDurable: true)
    } else if numbers.awaitsDurability(entity.ordinal) {
      try makeLeasesDurable()
    } else {
      try leaseBlocks(including: entity, timeout)
    }
  }

  /// Makes all commits durable, and the leases with them.
  func makeLeasesDurable() throws(StoreError) {
    let ends = numbers.committedEnds
    try store.makeDurable()
    numbers.didMakeDurable(ends)
  }

  /// Leases a block for the entity, and for each other entity that has no number left, because objects of several
  /// entities are inserted together.
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
    numbers.didLease(ends, isDurable: true)
  }

  /// Leases a block for an entity; nil when no number is left, and the block isn't needed.
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
