import Synchronization

/// Whether the work of a context that runs on a queue, outside of any task, is still wanted by the task that waits for it.
final class Cancellation: Sendable {
  private let flag = Atomic(false)
  /// Whether what is read now is read in any case.
  @TaskLocal fileprivate static var isIgnored = false

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() { flag.store(true, ordering: .relaxed) }

  /// Reads in any case. Observers follow the context in whichever task its turn ends: if that task is cancelled, they must not stay behind.
  static func ignored<Result>(_ body: () throws(ContextError) -> Result) throws(ContextError) -> Result {
    try $isIgnored.withValue(true) { Swift.Result { () throws(ContextError) in try body() } }.get()
  }
}

extension ObjectSource {
  /// Rows between two looks at whether a query is still wanted.
  static var rowsBetweenChecks: Int { 4_096 }

  /// - Throws: `cancelled` when the task that the query runs in, or that waits for it, is cancelled, unless ``Cancellation/ignored(_:)`` reads.
  func checkCancellation() throws(ContextError) {
    let isCancelled = Task.isCancelled || cancellation?.isCancelled == true
    if isCancelled, !Cancellation.isIgnored { throw ContextError.cancelledQuery() }
  }
}

extension ManagedObjectContext {
  /// Whether the task that waits for the context's block is cancelled. `Task.isCancelled` doesn't say so within the block, which runs outside of any task.
  package var isWorkCancelled: Bool { cancellation?.isCancelled == true }
}
