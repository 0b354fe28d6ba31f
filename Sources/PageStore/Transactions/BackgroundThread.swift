import Glibc

/// One thread for the whole process that runs short work at a later time. It starts with the first piece of
/// work, and ends when no work is left.
// Safety: mutable state is only touched with `monitor` locked.
final class BackgroundThread: @unchecked Sendable {
  static let shared = BackgroundThread()

  private struct Item {
    var dueMilliseconds: Int
    var work: @Sendable () -> Void
  }

  private let monitor = Monitor()
  /// Signalled when more work was added.
  private var hasMore = Monitor.Condition()
  /// The conditions of the processes from which this one was forked. They are kept, because destroying a
  /// condition waits for its waiters, which don't exist here.
  private var inherited: [Monitor.Condition] = []
  private var items: [Item] = []
  private var isRunning = false
  /// The process in which the thread runs: a forked child has no such thread.
  private var process: UInt64 = 0

  func schedule(milliseconds: Int, _ work: @escaping @Sendable () -> Void) {
    monitor.withLock {
      if process != ForkGuard.generation {
        process = ForkGuard.generation
        items = []
        isRunning = false
        inherited.append(hasMore)
        hasMore = Monitor.Condition()
      }
      items.append(Item(dueMilliseconds: Self.now() + milliseconds, work: work))
      if isRunning { hasMore.wakeOne() } else { start() }
    }
  }

  func lockForFork() { monitor.lock() }
  func unlockAfterFork() { monitor.unlock() }

  private func start() {
    // If no thread can be started, the work waits until more work is scheduled.
    isRunning = DetachedThread.start { BackgroundThread.shared.run() }
  }

  private func run() {
    while runDueItems() {}
  }

  /// Runs the work that is due, and waits for the next; false if no work is left.
  private func runDueItems() -> Bool {
    let now = Self.now()
    let due: [Item] = monitor.withLock {
      let due = items.filter { $0.dueMilliseconds <= now }
      items.removeAll { $0.dueMilliseconds <= now }
      return due
    }
    for item in due { item.work() }
    return monitor.withLock {
      guard let next = items.map(\.dueMilliseconds).min() else {
        isRunning = false
        return false
      }
      _ = monitor.wait(
        on: hasMore,
        until: timespec(tv_sec: next / 1_000, tv_nsec: next % 1_000 * 1_000_000)
      )
      return true
    }
  }

  /// Milliseconds of the monotonic clock.
  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }
}

extension Duration {
  /// The duration of a timer in milliseconds, rounded down; 0 if it is negative, and a year at most.
  var timerMilliseconds: Int {
    // A longer time is cut to a year, whose milliseconds can't overflow.
    let (seconds, attoseconds) = min(max(self, .zero), .seconds(31_536_000)).components
    return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}
