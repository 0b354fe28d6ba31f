import Glibc

/// Who may write: one thread at a time, in the order they asked.
// Safety: `holder` and `waiting` are only touched with the monitor's lock held.
final class WriterTurn: @unchecked Sendable {
  private final class Waiter {
    let monitor = Monitor()
    let thread = pthread_self()
    // Touched only with this waiter's own lock held.
    var isServed = false
  }

  private let monitor = Monitor()
  private var holder: pthread_t?
  private var waiting: [Waiter] = []

  /// Waits for the turn. Throws `nestedWrite` if this thread has it already, for it would wait for itself.
  func acquire() throws(StoreError) {
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
    waiter.monitor.withLock {
      while !waiter.isServed { waiter.monitor.wait() }
    }
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
