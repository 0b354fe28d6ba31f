import Glibc

/// A mutex with a condition to wait on, which `Synchronization.Mutex` lacks. More conditions can be waited on with its lock.
// Safety: the mutex lives at a stable address, is made for use by many threads, and everything else here is immutable.
final class Monitor: @unchecked Sendable {
  /// Something to wait for.
  // Safety: the POSIX object lives at a stable address and is made for use by many threads.
  final class Condition: @unchecked Sendable {
    fileprivate let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
      condition = .allocate(capacity: 1)
      condition.initialize(to: pthread_cond_t())
      // Deadlines are on a clock that nobody sets.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    }

    deinit {
      pthread_cond_destroy(condition)
      condition.deallocate()
    }

    func wakeAll() { pthread_cond_broadcast(condition) }
    func wakeOne() { pthread_cond_signal(condition) }
  }

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition = Condition()

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
  /// Gives the lock up, sleeps until woken (perhaps for nothing), and has the lock again.
  func wait() { wait(on: condition) }
  func wait(on condition: Condition) { pthread_cond_wait(condition.condition, mutex) }
  /// The same until a moment of the monotonic clock; false when it has passed.
  func wait(on condition: Condition, until deadline: timespec) -> Bool {
    var deadline = deadline
    return pthread_cond_timedwait(condition.condition, mutex, &deadline) != ETIMEDOUT
  }
  func wakeAll() { condition.wakeAll() }

  func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}
