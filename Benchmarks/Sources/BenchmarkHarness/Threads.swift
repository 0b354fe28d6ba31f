import Foundation
import Synchronization

/// Several threads that begin together.
package enum Threads {
  /// Runs `body` with 0, 1, … on as many threads at once, and gives the time from their common start to the last one's
  /// end. Throws the first error.
  package static func measure(
    _ count: Int,
    _ body: @escaping @Sendable (Int) throws -> Void
  ) throws -> Duration {
    let ready = DispatchSemaphore(value: 0)
    let go = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    let failures = Failures()
    for index in 0..<count {
      Thread.detachNewThread {
        ready.signal()
        go.wait()
        do { try body(index) } catch { failures.add(error) }
        done.signal()
      }
    }
    for _ in 0..<count { ready.wait() }
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<count { go.signal() }
    for _ in 0..<count { done.wait() }
    let time = clock.now - start
    if let failure = failures.first { throw failure }
    return time
  }

  private final class Failures: Sendable {
    private let errors = Mutex<[any Error]>([])

    func add(_ error: any Error) { errors.withLock { $0.append(error) } }
    var first: (any Error)? { errors.withLock(\.first) }
  }
}
