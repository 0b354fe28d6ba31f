import Foundation
import Synchronization

/// An operation that runs asynchronous code, for chains that have other operations in them. Cancelling the operation
/// cancels the code's task.
public final class TaskOperation<Output: Sendable>: RetryingOperation<Output>, @unchecked Sendable {
  // Safety: the task has a lock, and the closure never changes.
  private let body: @Sendable () async throws -> Output
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Makes an operation whose output is what the closure returns or throws.
  public init(retryStrategy: RetryStrategy = .none, _ body: @escaping @Sendable () async throws -> Output) {
    self.body = body
    super.init(retryStrategy: retryStrategy)
  }

  /// Runs the closure in a task.
  public override func execute() {
    task.withLock { task in
      task = Task { [self] in
        do { finish(with: .success(try await body())) } catch { finish(with: .failure(error)) }
      }
    }
    if isCancelled { cancelTask() }
  }

  /// Cancels the operation and its task.
  public override func cancel() {
    super.cancel()
    cancelTask()
  }

  private func cancelTask() { task.withLock { $0 }?.cancel() }
}
