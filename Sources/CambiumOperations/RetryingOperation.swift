import Foundation
import Synchronization

/// A rule that decides after a failure whether to try again.
public struct RetryStrategy: Sendable {
  /// The closure that returns whether to try again, after this many failures, the last with this error.
  public let retries: @Sendable (_ failureCount: Int, _ error: any Error) -> Bool

  /// Makes a rule.
  public init(_ retries: @escaping @Sendable (_ failureCount: Int, _ error: any Error) -> Bool) {
    self.retries = retries
  }

  /// A rule that never tries again.
  public static let none = RetryStrategy { _, _ in false }

  /// Tries again up to this number of times: the work is done at most `times` + 1 times.
  public static func `repeat`(times: Int) -> RetryStrategy { RetryStrategy { count, _ in count <= times } }
}

/// An operation that is executed again while it fails and its strategy says so. The failures in between are not
/// reported.
///
/// An operation that ends without a result hasn't failed. Each attempt ends once: further calls of its code have no
/// effect until the next attempt begins. The next attempt begins when `execute()` has returned. So an `execute()`
/// that waits for the end of the operation after a failure waits for ever, unless it finishes the operation once
/// the operation is cancelled.
open class RetryingOperation<Output: Sendable>: ResultOperation<Output>, @unchecked Sendable {
  // Safety: a lock protects what changes.

  private struct Retrying {
    var strategy: RetryStrategy
    var failureCount = 0
    /// True from the end of an attempt until the next attempt begins.
    var isWaiting = false
    /// True from the beginning of an attempt until `execute()` has returned.
    var isExecuting = false
    /// True if the next attempt begins when `execute()` returns.
    var beginsNext = false
  }

  private let retrying: Mutex<Retrying>

  /// Makes an operation with a strategy.
  public init(retryStrategy: RetryStrategy = .none) {
    retrying = Mutex(Retrying(strategy: retryStrategy))
    super.init()
  }

  /// The rule that decides whether to try again.
  public final var retryStrategy: RetryStrategy {
    get { retrying.withLock(\.strategy) }
    set { retrying.withLock { $0.strategy = newValue } }
  }

  /// The number of failures so far.
  public final var failureCount: Int { retrying.withLock(\.failureCount) }

  /// Ends the operation, or executes it again: after a failure, if the strategy decides so and the operation isn't
  /// cancelled.
  open override func finish() {
    if isHeldBack() { return }
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
    let waits = retrying.withLock { retrying in
      retrying.beginsNext = retrying.isExecuting
      return retrying.beginsNext
    }
    if !waits { beginNextAttempt() }
  }

  /// Returns true between attempts. A cancelled operation has no next attempt, so it doesn't wait for the return of
  /// `execute()`.
  private func isHeldBack() -> Bool {
    let isCancelled = isCancelled
    return retrying.withLock { retrying in
      guard retrying.isWaiting, isCancelled, retrying.beginsNext else { return retrying.isWaiting }
      (retrying.isWaiting, retrying.beginsNext) = (false, false)
      return false
    }
  }

  final override func prepareToExecute() { retrying.withLock { $0.isExecuting = true } }

  /// Calls `execute()`, unless the attempt has ended already. Calls that `execute()` makes after its failure belong
  /// to its own attempt, so the next attempt waits until it has returned.
  final override func executeOnce() {
    if !isBetweenAttempts { execute() }
    let beginsNext = retrying.withLock { retrying in
      defer { (retrying.isExecuting, retrying.beginsNext) = (false, false) }
      return retrying.beginsNext
    }
    if beginsNext { beginNextAttempt() }
  }

  /// Executes the operation again, on another thread: each attempt on the same thread would deepen the stack.
  private func beginNextAttempt() {
    DispatchQueue.global().async { [self] in
      let endsCancelled = isCancelled
      if !endsCancelled { output = .failure(ResultError.noResult) }
      retrying.withLock { ($0.isWaiting, $0.isExecuting) = (false, !endsCancelled) }
      if endsCancelled { return finish() }
      acceptOutcome()
      executeOnce()
    }
  }

  final override var isBetweenAttempts: Bool { retrying.withLock(\.isWaiting) }
}
