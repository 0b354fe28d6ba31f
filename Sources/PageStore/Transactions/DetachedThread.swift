import Glibc

/// Threads that run one piece of work and end.
enum DetachedThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a thread of its own; on this one if the system has no thread left.
  static func run(_ body: @escaping @Sendable () -> Void) {
    if !start(body) { body() }
  }

  /// Runs `body` on a thread of its own while the task is suspended; returns its result, or throws its error.
  /// Cancelling the task has no effect on it.
  static func result<Value: Sendable, Failure: Error>(
    of body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { continuation in
      run { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
    }
    return try result.get()
  }

  /// Starts a thread that runs `body`. False if the system has no thread left.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let result = pthread_create(
      &thread,
      &attributes,
      { argument in
        // The argument is the object that `start` has retained for this thread.
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      },
      work.toOpaque()
    )
    if result != 0 { work.release() }
    return result == 0
  }
}
