import Glibc

/// One thread for the whole process that does small things later. It starts with the first of them, and ends when there
/// is nothing left to do.
// Safety: mutable state is only touched with `monitor` locked.
final class BackgroundThread: @unchecked Sendable {
  static let shared = BackgroundThread()

  private struct Item {
    var dueMilliseconds: Int
    var work: @Sendable () -> Void
  }

  private let monitor = Monitor()
  /// Woken when there is more to do.
  private var hasMore = Monitor.Condition()
  /// Those of the processes that this one was forked from: destroying one waits for its waiters.
  private var inherited: [Monitor.Condition] = []
  private var items: [Item] = []
  private var isRunning = false
  /// The process that the thread runs in: a forked child has none.
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
    // Without a thread the work waits for the next time something is scheduled.
    isRunning = DetachedThread.start { BackgroundThread.shared.run() }
  }

  private func run() {
    while runDueItems() {}
  }

  /// Runs what is due, and waits for what is due next; false if there is nothing left.
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

  /// Milliseconds on a clock that nobody sets.
  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }
}

extension Duration {
  /// Milliseconds, rounded down; none if it is negative.
  var wholeMilliseconds: Int {
    // A year is as good as any longer time, and its parts are small enough to be counted.
    let (seconds, attoseconds) = min(max(self, .zero), .seconds(31_536_000)).components
    return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}
