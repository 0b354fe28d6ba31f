import Foundation
import Synchronization

/// A rule that says after a failure whether to try again.
public struct RetryStrategy: Sendable {
  /// Whether to try again, after this many failures, the last with this error.
  public let retries: @Sendable (_ failureCount: Int, _ error: any Error) -> Bool

  /// Makes a rule.
  public init(_ retries: @escaping @Sendable (_ failureCount: Int, _ error: any Error) -> Bool) {
    self.retries = retries
  }

  /// Never tries again.
  public static let none = RetryStrategy { _, _ in false }

  /// Tries again up to a number of times: the work is done once more often at most.
  public static func `repeat`(times: Int) -> RetryStrategy { RetryStrategy { count, _ in count <= times } }
}

/// An operation that is executed again while it fails and its strategy says so. The failures in between are not reported.
///
/// An operation that ends without a result hasn't failed. Each attempt ends once: what its code calls afterwards, until the next begins, does nothing.
open class RetryingOperation<Output: Sendable>: ResultOperation<Output>, @unchecked Sendable {
  // Safety: what changes has a lock.

  private struct Retrying {
    var strategy: RetryStrategy
    var failureCount = 0
    /// Whether the next attempt has been decided on, and has not begun.
    var isWaiting = false
  }

  private let retrying: Mutex<Retrying>

  /// Makes an operation with a strategy.
  public init(retryStrategy: RetryStrategy = .none) {
    retrying = Mutex(Retrying(strategy: retryStrategy))
    super.init()
  }

  /// The rule that says whether to try again.
  public final var retryStrategy: RetryStrategy {
    get { retrying.withLock(\.strategy) }
    set { retrying.withLock { $0.strategy = newValue } }
  }

  /// How often the operation has failed so far.
  public final var failureCount: Int { retrying.withLock(\.failureCount) }

  /// Ends the operation, or executes it again: after a failure, if the strategy says so and the operation isn't cancelled.
  open override func finish() {
    if isBetweenAttempts { return }
    guard state == .executing, !isCancelled, hasResult, case .failure(let error) = output else {
      return super.finish()
    }
    let attempt = retrying.withLock { retrying -> (RetryStrategy, Int)? in
      if retrying.isWaiting { return nil }
      retrying.isWaiting = true
      retrying.failureCount += 1
      return (retrying.strategy, retrying.failureCount)
    }
    guard let (strategy, count) = attempt else { return }
    guard strategy.retries(count, error), !isCancelled else { return super.finish() }
    // Not called directly: every retry would deepen the stack.
    DispatchQueue.global().async { [self] in
      let endsCancelled = isCancelled
      if !endsCancelled { forgetOutcome() }
      retrying.withLock { $0.isWaiting = false }
      if endsCancelled { finish() } else { execute() }
    }
  }

  final override var isBetweenAttempts: Bool { retrying.withLock(\.isWaiting) }
}
