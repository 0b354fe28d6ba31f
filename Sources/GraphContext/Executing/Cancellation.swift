import Synchronization

/// A flag for a context's work that runs on a queue, outside of any task: set when the waiting task no longer wants
/// the work.
final class Cancellation: Sendable {
  private let flag = Atomic(false)
  /// True if the current reads ignore cancellation.
  @TaskLocal fileprivate static var isIgnored = false

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() { flag.store(true, ordering: .relaxed) }

  /// Calls `body`, whose reads ignore cancellation. The context's turn may end in a cancelled task, and observers
  /// must follow the context all the same.
  static func ignored<Result>(_ body: () throws(ContextError) -> Result) throws(ContextError) -> Result {
    try $isIgnored.withValue(true) { Swift.Result { () throws(ContextError) in try body() } }.get()
  }
}

extension ObjectSource {
  /// The number of rows between two checks of whether a query was cancelled.
  static var rowsBetweenChecks: Int { 4_096 }

  /// Throws `cancelled` when the task that the query runs in, or that waits for it, is cancelled, unless
  /// ``Cancellation/ignored(_:)`` reads.
  func checkCancellation() throws(ContextError) {
    let isCancelled = Task.isCancelled || cancellation?.isCancelled == true
    if isCancelled, !Cancellation.isIgnored { throw ContextError.cancelledQuery() }
  }
}

extension ManagedObjectContext {
  /// True if the task that waits for the context's block is cancelled. Within the block, which runs outside of any
  /// task, `Task.isCancelled` is false all the same.
  package var isWorkCancelled: Bool { cancellation?.isCancelled == true }
}
