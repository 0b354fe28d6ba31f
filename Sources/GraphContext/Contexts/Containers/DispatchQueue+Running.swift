import Dispatch

extension DispatchQueue {
  /// Runs `body` on the queue and waits for it without blocking a thread.
  func run<Success: Sendable, Failure: Error>(
    _ body: @Sendable @escaping () throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
      self.async { continuation.resume(returning: Result(catching: body)) }
    }
    return try result.get()
  }
}
