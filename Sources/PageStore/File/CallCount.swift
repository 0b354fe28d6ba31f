import Synchronization

/// Counts the calls on a file that are under way, so that the file is closed after the last of them and none begins later.
///
/// The number of a closed descriptor is given out again at once: a call that is late by an instant would read or write whatever
/// file has it by then.
struct CallCount: ~Copyable, Sendable {
  /// Calls under way, and in the highest bit whether any more may begin.
  private let word = Atomic<UInt64>(0)
  private let monitor = Monitor()

  private static let closed: UInt64 = 1 << 63

  /// Whether no call may begin any more.
  var isClosed: Bool { word.load(ordering: .relaxed) & Self.closed != 0 }

  /// Begins a call, which ``end()`` ends. False if no call may begin any more; there is nothing to end then.
  func begin() -> Bool {
    if word.wrappingAdd(1, ordering: .acquiring).oldValue & Self.closed == 0 { return true }
    end()
    return false
  }

  func end() {
    guard word.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == Self.closed else { return }
    monitor.withLock { monitor.wakeAll() }
  }

  /// Lets no more calls begin. True for the first who asks.
  func close() -> Bool {
    word.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue & Self.closed == 0
  }

  /// Returns when no call is under way. After ``close()``.
  func waitForLast() {
    monitor.withLock {
      while word.load(ordering: .acquiring) != Self.closed { monitor.wait() }
    }
  }
}
