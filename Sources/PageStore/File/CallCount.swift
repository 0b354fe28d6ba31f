import Synchronization

/// Counts the calls on a file that are under way, so that the file is closed after the last of them, and no
/// call begins later.
///
/// The system reuses the number of a closed descriptor at once: a late call would read or write another file.
struct CallCount: ~Copyable, Sendable {
  /// The number of calls under way; the highest bit is set when no more may begin.
  private let word = Atomic<UInt64>(0)
  private let monitor = Monitor()

  private static let closed: UInt64 = 1 << 63

  /// True if no more calls may begin.
  var isClosed: Bool { word.load(ordering: .relaxed) & Self.closed != 0 }

  /// Begins a call, which ``end()`` ends. False if no more calls may begin; then there is nothing to end.
  func begin() -> Bool {
    if word.wrappingAdd(1, ordering: .acquiring).oldValue & Self.closed == 0 { return true }
    end()
    return false
  }

  func end() {
    guard word.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == Self.closed else { return }
    monitor.withLock { monitor.wakeAll() }
  }

  /// Lets no more calls begin. True for the first call of this function.
  func close() -> Bool {
    word.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue & Self.closed == 0
  }

  /// Blocks until no call is under way. Called after ``close()``.
  func waitForLast() {
    monitor.withLock {
      while word.load(ordering: .acquiring) != Self.closed { monitor.wait() }
    }
  }
}
