import Synchronization

/// Whether the work of a context that runs on a queue, outside of any task, is still wanted by the task that waits for it.
final class Cancellation: Sendable {
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() { flag.store(true, ordering: .relaxed) }
}

extension ObjectSource {
  /// Rows between two looks at whether a query is still wanted.
  static var rowsBetweenChecks: Int { 4_096 }

  /// - Throws: `cancelled` when the task that the query runs in, or that waits for it, is cancelled.
  func checkCancellation() throws(ContextError) {
    if Task.isCancelled || cancellation?.isCancelled == true { throw ContextError.cancelledQuery() }
  }
}
