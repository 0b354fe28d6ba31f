import Synchronization

/// A flag that a turn of an executor is scheduled. A commit that comes before the turn schedules no other one.
package final class PendingTurn: Sendable {
  private let isPending = Atomic<Bool>(false)

  package init() {}

  /// Sets the flag. Returns false if a turn is scheduled already.
  package func begin() -> Bool { !isPending.exchange(true, ordering: .acquiringAndReleasing) }

  /// Clears the flag at the start of the turn. The next commit schedules another one.
  package func end() { isPending.store(false, ordering: .releasing) }
}
