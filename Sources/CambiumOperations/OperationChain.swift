import Foundation

// An operation together with all its dependencies.

/// The operations that are no ``ConcurrentOperation`` and were put into a queue: adding them to another queue
/// terminates the program.
private let enqueued = OperationSet()

extension Operation {
  /// Makes the next operation wait for this one. This operation keeps the next one until this one has finished.
  ///
  /// If this operation is no ``ConcurrentOperation``, the program has to keep the next one, or put it into a queue.
  /// Operations of a chain that is never run keep each other.
  ///
  /// - Returns: the next operation.
  @discardableResult
  public func then<Next: Operation>(do next: Next) -> Next {
    next.addDependency(self)
    // Foundation keeps a pointer to the next operation, which it doesn't count as a reference.
    (self as? ConcurrentOperation)?.addDidFinishBlock { withExtendedLifetime(next) {} }
    return next
  }

  /// The operation and all that it depends on, dependencies first, each once.
  public var operationChain: [Operation] {
    var (chain, seen) = ([Operation](), Set<ObjectIdentifier>())
    // An explicit stack instead of a recursion: a long chain would overflow the thread's stack.
    var stack = [(operation: self, isExpanded: false)]
    while let (operation, isExpanded) = stack.popLast() {
      if isExpanded {
        chain.append(operation)
      } else if seen.insert(ObjectIdentifier(operation)).inserted {
        stack.append((operation, true))
        stack += operation.dependencies.reversed().map { ($0, false) }
      }
    }
    return chain
  }

  /// Puts the operation and all that it depends on into a queue.
  ///
  /// Operations that were started, or that this method has put into a queue, are left out. So the parts of one
  /// chain may be in several queues, if earlier parts are enqueued first. An operation that the program itself puts
  /// into a queue must not be in a chain that is enqueued later.
  public func enqueue(on queue: OperationQueue = OperationQueue()) {
    queue.addOperations(waitingChain(for: queue), waitUntilFinished: false)
  }

  /// Has the operation and all its dependencies finish without work. Operations that ``enqueue(on:)`` leaves out
  /// are left out here, too.
  func abandon(on queue: OperationQueue) {
    let waiting = waitingChain(for: queue)
    waiting.forEach { $0.cancel() }
    queue.addOperations(waiting, waitUntilFinished: false)
  }

  /// Returns the operations of the chain that have neither been started nor put into a queue. The caller has to put
  /// them into this queue.
  private func waitingChain(for queue: OperationQueue) -> [Operation] {
    operationChain.filter { operation in
      if let operation = operation as? ConcurrentOperation { return operation.beginEnqueuing() }
      return enqueued.insert(operation) && !operation.isExecuting && !operation.isFinished
        && !queue.operations.contains { $0 === operation }
    }
  }

  /// Returns the progress of the chain: 100 units, or one for each ``ConcurrentOperation`` if there are more
  /// than 100. Each operation has the same number of units, and the last one the rest as well. An operation's
  /// progress can have one parent.
  ///
  /// The progress belongs to the caller: the operations don't keep it.
  public func chainProgress() -> ObservableProgress {
    let parts = operationChain.compactMap { ($0 as? ConcurrentOperation)?.progress }
    let total = max(100, Int64(parts.count))
    let whole = ObservableProgress(total: total)
    guard let last = parts.last else { return whole }
    let share = total / Int64(parts.count)
    for part in parts.dropLast() { whole.addChild(part, withPendingUnitCount: share) }
    whole.addChild(last, withPendingUnitCount: total - share * Int64(parts.count - 1))
    return whole
  }

  /// Puts the operation and all that it depends on into a queue.
  ///
  /// - Returns: the progress of the chain; see ``chainProgress()``.
  public func enqueueWithProgress(on queue: OperationQueue = OperationQueue()) -> ObservableProgress {
    let progress = chainProgress()
    enqueue(on: queue)
    return progress
  }
}

extension ConcurrentOperation {
  /// Puts the operation and all that it depends on into a queue, and calls `completion` when this operation has
  /// finished.
  public func enqueue(
    on queue: OperationQueue = OperationQueue(),
    completion: @escaping @Sendable () -> Void
  ) {
    addDidFinishBlock(completion)
    enqueue(on: queue)
  }
}

extension ProducesResult {
  /// Puts the operation and all that it depends on into a queue, and calls `completion` with this operation's
  /// output when it has finished.
  public func enqueue(
    on queue: OperationQueue = OperationQueue(),
    completion: @escaping @Sendable (Result<Output, any Error>) -> Void
  ) {
    addResultBlock(completion)
    enqueue(on: queue)
  }
}
