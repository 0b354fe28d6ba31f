import Glibc

/// Who may write: one thread at a time, in the order they asked.
// Safety: `holder` and `waiting` are only touched with the monitor's lock held.
final class WriterTurn: @unchecked Sendable {
  private final class Waiter {
    let monitor = Monitor()
    let thread = pthread_self()
    // Touched only with this waiter's own lock held.
    var isServed = false

    /// Waits to be served; false if `timeout` passes first.
    func wait(for timeout: Duration?) -> Bool {
      let deadline = timeout.map(Self.deadline)
      return monitor.withLock {
        while !isServed {
          if let deadline {
            guard monitor.wait(until: deadline) else { return isServed }
          } else {
            monitor.wait()
          }
        }
        return true
      }
    }

    private static func deadline(_ timeout: Duration) -> timespec {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      // A year is as good as any longer time, and can be added to any moment.
      let (seconds, attoseconds) = min(max(timeout, .zero), .seconds(31_536_000)).components
      time.tv_sec += Int(seconds)
      time.tv_nsec += Int(attoseconds / 1_000_000_000)
      if time.tv_nsec >= 1_000_000_000 {
        time.tv_sec += 1
        time.tv_nsec -= 1_000_000_000
      }
      return time
    }
  }

  private let monitor = Monitor()
  private var holder: pthread_t?
  private var waiting: [Waiter] = []

  /// Waits for the turn. Throws `nestedWrite` if this thread has it already, for it would wait for itself; `timedOut` if
  /// `timeout` passes first.
  func acquire(timeout: Duration? = nil) throws(StoreError) {
    monitor.lock()
    guard let holder else {
      self.holder = pthread_self()
      monitor.unlock()
      return
    }
    if pthread_equal(holder, pthread_self()) != 0 {
      monitor.unlock()
      throw StoreError(.nestedWrite, "a write transaction of this thread is still going on")
    }
    let waiter = Waiter()
    waiting.append(waiter)
    monitor.unlock()
    if waiter.wait(for: timeout) { return }
    let hasLeft = monitor.withLock {
      guard let place = waiting.firstIndex(where: { $0 === waiter }) else { return false }
      waiting.remove(at: place)
      return true
    }
    if hasLeft { throw StoreError(.timedOut, "others have been writing for too long") }
    // The turn was being handed over at that moment.
    _ = waiter.wait(for: nil)
  }

  /// Takes the turn if nobody has it; never waits.
  func acquireIfFree() -> Bool {
    monitor.withLock {
      guard holder == nil else { return false }
      holder = pthread_self()
      return true
    }
  }

  /// Hands the turn to the one who has waited longest.
  func release() {
    let next: Waiter? = monitor.withLock {
      let next = waiting.isEmpty ? nil : waiting.removeFirst()
      holder = next?.thread
      return next
    }
    guard let next else { return }
    next.monitor.withLock {
      next.isServed = true
      next.monitor.wakeAll()
    }
  }
}
