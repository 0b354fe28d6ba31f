import Dispatch

/// Runs an actor's jobs one after the other on a dispatch queue, so that waiting for the disk holds up none of the threads
/// that Swift's tasks share.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue
  private static let key = DispatchSpecificKey<ObjectIdentifier>()
  /// The executors whose turn this thread has, through ``runAndWait(_:)``.
  @TaskLocal private static var held: Set<ObjectIdentifier> = []

  /// - Parameter target: the queue that runs the jobs in the end; nil for one of the system's.
  init(label: String, target: DispatchQueue?) {
    queue = DispatchQueue(label: label, target: target)
    queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Runs `body` in a turn of the executor: in the one that the thread has, or else the next, for which the thread waits.
  func runAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
    let known = Self.heldHere
    if known.contains(ObjectIdentifier(self)) { return try body() }
    return try queue.sync {
      try Self.$held.withValue(known.union([ObjectIdentifier(self)])) { try body() }
    }
  }

  private static var heldHere: Set<ObjectIdentifier> {
    DispatchQueue.getSpecific(key: key).map { held.union([$0]) } ?? held
  }

  func isIsolatingCurrentContext() -> Bool? { Self.heldHere.contains(ObjectIdentifier(self)) }
}
