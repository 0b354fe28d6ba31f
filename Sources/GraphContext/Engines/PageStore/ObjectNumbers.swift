import Predicates
import Synchronization

/// Hands out the numbers of new objects: final at insertion, never used twice.
///
/// For each entity, the catalogue keeps the end of the numbers that were leased. Only numbers below this end are
/// handed out, and only once the commit that leased them can't be lost any more. So a program that reads a number,
/// from a file or in another process, never finds another object with this number, even after a crash or a power
/// failure. The rest of a lease is skipped when the store is closed.
///
/// Numbers are leased in blocks. A save leases the next block in its own transaction when less than half of the last
/// one is left (``endWanted(_:stored:)``); where a lease is used up all the same,
/// ``PageStoreEngine/takeNumber(of:timeout:)`` leases a block. Each block of an entity is twice as long as the one
/// before, from ``shortestBlockCount`` to ``longestBlockCount``.
final class ObjectNumbers: Sendable {
  static let shortestBlockCount: UInt64 = 1_024
  static let longestBlockCount: UInt64 = 65_536
  /// The greatest end of a lease.
  static let greatest = ObjectNumber.greatestSequence

  /// The state of one entity's lease. All values are sequences; an end is the first sequence that is not leased.
  private struct Lease {
    /// The next to hand out.
    var next: UInt64
    /// The end of the numbers that can be handed out.
    var end: UInt64
    /// The end in the store, which a power failure may still take back; never below `end`.
    var committedEnd: UInt64
    /// How long the last block was; 0 before the first.
    var blockCount: UInt64 = 0

    var nextBlockCount: UInt64 {
      min(max(2 * blockCount, ObjectNumbers.shortestBlockCount), ObjectNumbers.longestBlockCount)
    }
  }

  /// The leases, by the entity's ordinal.
  private let leases: Mutex<[Lease]>

  /// - Parameter leased: the ends of the leases in the catalogue, by the entity's ordinal. All numbers below them
  ///   may have been handed out.
  init(leased: [UInt64]) {
    leases = Mutex(leased.map { Lease(next: max($0, 1), end: $0, committedEnd: $0) })
  }

  /// Returns a number that no object of the entity has had; nil when the lease is used up. O(1).
  func take(_ ordinal: Int) -> ObjectNumber? {
    leases.withLock { leases in
      let sequence = leases[ordinal].next
      guard sequence < leases[ordinal].end else { return nil }
      leases[ordinal].next = sequence + 1
      return ObjectNumber(sequence: sequence)
    }
  }

  /// The ordinals of the entities that have no number left to hand out.
  var usedUp: [Int] {
    leases.withLock { leases in leases.indices.filter { leases[$0].next >= leases[$0].end } }
  }

  /// Returns whether a commit that can still be lost has leased numbers of the entity.
  func awaitsDurability(_ ordinal: Int) -> Bool {
    leases.withLock { $0[ordinal].end < $0[ordinal].committedEnd }
  }

  /// Returns the end of the entity's lease after one more block, if the lease ends at `stored` in the store; nil
  /// when all numbers are leased.
  func endOfNextBlock(_ ordinal: Int, stored: UInt64) -> UInt64? {
    leases.withLock { leases in
      let end = max(stored, leases[ordinal].committedEnd, 1)
      guard end < Self.greatest else { return nil }
      return min(end + leases[ordinal].nextBlockCount, Self.greatest)
    }
  }

  /// Returns the end of the block that a save leases ahead of need: nil also when at least half of the last block
  /// is left.
  func endWanted(_ ordinal: Int, stored: UInt64) -> UInt64? {
    let hasEnough = leases.withLock { leases in
      stored > leases[ordinal].next && stored - leases[ordinal].next >= leases[ordinal].blockCount / 2
    }
    return hasEnough ? nil : endOfNextBlock(ordinal, stored: stored)
  }

  /// Notes that leases were committed.
  ///
  /// - Parameter isDurable: whether no failure can take the commit back, or no failure that the store's durability
  ///   protects against.
  func didLease(_ ends: [LeaseEnd], isDurable: Bool) {
    leases.withLock { leases in
      for (ordinal, end) in ends {
        leases[ordinal].blockCount = leases[ordinal].nextBlockCount
        leases[ordinal].committedEnd = max(leases[ordinal].committedEnd, end)
        if isDurable { leases[ordinal].end = max(leases[ordinal].end, end) }
      }
    }
  }

  /// Leaves out numbers that another container has leased.
  ///
  /// - Parameter ends: the ends in the store, by the entity's ordinal.
  func skip(to ends: [UInt64]) {
    leases.withLock { leases in
      for (ordinal, end) in ends.enumerated() where end > leases[ordinal].committedEnd {
        leases[ordinal] = Lease(next: end, end: end, committedEnd: end)
      }
    }
  }

  /// The ends in the store, by the entity's ordinal.
  var committedEnds: [UInt64] { leases.withLock { $0.map(\.committedEnd) } }

  /// Notes that no failure can take back the leases up to these ends, by the entity's ordinal.
  func didMakeDurable(_ ends: [UInt64]) {
    leases.withLock { leases in
      for (ordinal, end) in ends.enumerated() { leases[ordinal].end = max(leases[ordinal].end, end) }
    }
  }
}

/// The end of an entity's lease.
typealias LeaseEnd = (ordinal: Int, end: UInt64)
