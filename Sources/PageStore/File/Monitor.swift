import Glibc

/// A mutex with a condition to wait for, which `Synchronization.Mutex` lacks. A thread can wait for other
/// conditions with the same mutex.
// Safety: the mutex has a stable address and is made for use by many threads; everything else here is
// immutable.
final class Monitor: @unchecked Sendable {
  /// A condition to wait for.
  // Safety: the POSIX object has a stable address and is made for use by many threads.
  final class Condition: @unchecked Sendable {
    fileprivate let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
      condition = .allocate(capacity: 1)
      condition.initialize(to: pthread_cond_t())
      // Deadlines are on the monotonic clock, which isn't set.
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
  /// Locks the mutex unless a thread has locked it; false if one has.
  func lockIfFree() -> Bool { pthread_mutex_trylock(mutex) == 0 }
  func unlock() { pthread_mutex_unlock(mutex) }
  /// Unlocks the mutex, sleeps until woken, perhaps spuriously, and locks the mutex again.
  func wait() { wait(on: condition) }
  func wait(on condition: Condition) { pthread_cond_wait(condition.condition, mutex) }
  /// Waits until woken, or until a moment of the monotonic clock; false if that has passed.
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
