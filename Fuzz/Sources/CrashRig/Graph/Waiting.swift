import Dispatch
import Synchronization

/// Runs `body` as a task, and waits for it: the rig's threads aren't threads of tasks.
func waiting(_ body: @Sendable @escaping () async throws -> Void) throws {
  final class Outcome: Sendable {
    let failure = Mutex<(any Error)?>(nil)
    let isKnown = DispatchSemaphore(value: 0)
  }
  let outcome = Outcome()
  Task {
    do { try await body() } catch { outcome.failure.withLock { $0 = error } }
    outcome.isKnown.signal()
  }
  outcome.isKnown.wait()
  if let failure = outcome.failure.withLock({ $0 }) { throw failure }
}
