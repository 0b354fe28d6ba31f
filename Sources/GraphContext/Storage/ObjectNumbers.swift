import PageStore
import Predicates
import Synchronization

/// Hands out the numbers of new objects: final at insertion, never used twice.
///
/// The catalogue keeps, for each entity, a number that no object has reached: the end of the block it leased. A save
/// that uses numbers beyond it leases the next block in the same transaction. A number that was handed out but never
/// saved is lost with the process, if it lay beyond the lease; it was never in the store.
final class ObjectNumbers: Sendable {
  /// Numbers leased at a time. Also what a reopened store may skip.
  static let blockCount: UInt64 = 1_024
  /// The greatest sequence of a number. What lies beyond was never leased.
  static let greatest = ObjectNumber.greatestSequence

  /// By the entity's ordinal: the sequence of the next number to hand out.
  private let next: Mutex<[UInt64]>

  /// - Parameter leased: by the entity's ordinal, the end of the block that the catalogue leased.
  init(leased: [UInt64]) {
    next = Mutex(leased.map { max($0, 1) })
  }

  /// A number that no object of the entity has had. O(1).
  func take(_ ordinal: Int) -> ObjectNumber {
    next.withLock { next in
      defer { next[ordinal] += 1 }
      return ObjectNumber(rawValue: next[ordinal])
    }
  }

  /// Where the lease must end for the number of a sequence to be within it.
  static func leaseEnd(for sequence: UInt64) -> UInt64 { (sequence / blockCount + 1) * blockCount }
}
