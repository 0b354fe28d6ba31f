import Foundation

// Operations that pass their output to consumers.

/// A lock that is held while a result is passed, because several operations may finish at the same time. It is
/// recursive, because an input may be a property that the program implements.
private let handingOver = NSRecursiveLock()

/// The consumers that have received a failure.
private let failed = OperationSet()

/// Gives a consumer its input. A success doesn't replace a failure that was passed before. ``ResultError/noResult``
/// counts neither as a success nor as a failure.
private func hand<Consumer: ConsumesResult>(
  _ result: Result<Consumer.Input, any Error>,
  to consumer: Consumer
) {
  handingOver.withLock {
    switch result {
    case .failure(ResultError.noResult): break
    case .failure:
      failed.insert(consumer)
      consumer.input = result
    case .success: if !failed.contains(consumer) { consumer.input = result }
    }
  }
}

extension ProducesResult {
  /// Makes the consumer wait for this operation, and passes it the output, a value or a failure. If this operation
  /// was cancelled or ends without a result, it passes nothing. If another operation has passed a failure, a
  /// success doesn't replace it.
  ///
  /// - Returns: the consumer, for the next link of a chain.
  @discardableResult
  public func passesResult<Consumer: ConsumesResult>(to consumer: Consumer) -> Consumer
  where Consumer.Input == Output {
    pass(to: consumer) { hand($0, to: consumer) }
    return consumer
  }

  /// Passes the output to each of several operations.
  public func passesResult<Consumer: ConsumesResult>(to consumers: some Sequence<Consumer>)
  where Consumer.Input == Output {
    for consumer in consumers { passesResult(to: consumer) }
  }

  /// Makes the consumer wait for this operation, and adds the output to the consumer's inputs.
  ///
  /// - Returns: the consumer, for the next link of a chain.
  @discardableResult
  public func passesResult<Consumer: ConsumesMultipleResults>(to consumer: Consumer) -> Consumer
  where Consumer.Input == Output {
    let inputs = consumer.inputs
    let place = inputs.makePlace()
    pass(to: consumer) { inputs.put($0, at: place) }
    return consumer
  }

  /// Makes the consumer wait for this operation, and passes it a failure. A success is not passed, so the types of
  /// the output and the input may differ.
  ///
  /// - Returns: the consumer, for the next link of a chain.
  @discardableResult
  public func passesError<Consumer: ConsumesResult>(to consumer: Consumer) -> Consumer {
    pass(to: consumer) { output in
      if case .failure(let error) = output { hand(.failure(error), to: consumer) }
    }
    return consumer
  }

  /// - Parameter body: keeps the consumer, until this operation finishes. Called at once if it has finished.
  private func pass(
    to consumer: some Operation,
    _ body: @escaping @Sendable (Result<Output, any Error>) -> Void
  ) {
    consumer.addDependency(self)
    addDidFinishBlock { [unowned self] in
      if !isCancelled { body(output) }
    }
  }
}

extension Sequence where Element: ProducesResult {
  /// Makes the consumer wait for all these operations, and gives it their outputs, in their order.
  ///
  /// - Returns: the consumer, for the next link of a chain.
  @discardableResult
  public func passesResults<Consumer: ConsumesMultipleResults>(to consumer: Consumer) -> Consumer
  where Consumer.Input == Element.Output {
    for producer in self { producer.passesResult(to: consumer) }
    return consumer
  }
}
