#if CAMBIUM_THREAD_SANITIZER
  import Glibc

  /// A replacement for the standard library's `Mutex` in builds with ThreadSanitizer. ThreadSanitizer knows
  /// only the mutexes of POSIX: the standard library isn't built with it, so that accesses under its `Mutex`
  /// would be reported as races.
  // Safety: the mutex and the value have stable addresses, and the value is only touched with the mutex
  // locked.
  package struct SanitizedMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initialValue: consuming sending Value) {
      mutex = .allocate(capacity: 1)
      mutex.initialize(to: pthread_mutex_t())
      pthread_mutex_init(mutex, nil)
      value = .allocate(capacity: 1)
      value.initialize(to: initialValue)
    }

    deinit {
      value.deinitialize(count: 1)
      value.deallocate()
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }
  }

  typealias Mutex = SanitizedMutex
#endif
