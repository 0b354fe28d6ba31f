import Dispatch
import Foundation
import Synchronization

/// An executor that runs an actor's jobs one after the other on a dispatch queue, so that waiting for the disk holds up
/// none of the threads that Swift's tasks share.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue
  /// The thread that has the executor's turn; 0 for none. A thread's own value is written by that thread alone.
  private let owner = Atomic<UInt>(0)

  /// - Parameter target: the queue that runs the jobs in the end; nil for one of the system's.
  init(label: String, target: DispatchQueue?) { queue = DispatchQueue(label: label, target: target) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { self.owning { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Runs `body` in a turn of the executor: in the current turn if the calling thread has it, otherwise in the next
  /// one, for which the thread waits.
  func runAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
    if isOwnedHere { return try body() }
    return try queue.sync { try owning(body) }
  }

  /// Runs `body` in a turn of the executor, without blocking the waiting thread.
  func run<Success: Sendable>(_ body: @Sendable @escaping () throws -> Success) async throws -> Success {
    try await queue.run { try self.owning(body) }
  }

  func isIsolatingCurrentContext() -> Bool? { isOwnedHere }

  /// True if the thread has the executor's turn.
  var isOwnedHere: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  private func owning<Result>(_ body: () throws -> Result) rethrows -> Result {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    defer { owner.store(0, ordering: .relaxed) }
    return try body()
  }
}
