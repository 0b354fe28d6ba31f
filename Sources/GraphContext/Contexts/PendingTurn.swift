import Synchronization

/// Whether a turn of an executor is on its way. News that come before it needn't ask for another.
final class PendingTurn: Sendable {
  private let isPending = Atomic<Bool>(false)

  /// False if a turn is on its way already.
  func begin() -> Bool { !isPending.exchange(true, ordering: .acquiringAndReleasing) }

  /// The turn has come. What is news from now on needs another.
  func end() { isPending.store(false, ordering: .releasing) }
}
