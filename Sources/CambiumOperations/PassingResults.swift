import Foundation

// Operations that hand their output on.

/// Held while a result is handed over: several operations may finish at the same time. Recursive, because an input may be a property of the program's own.
private let handingOver = NSRecursiveLock()

/// The consumers that were handed a failure.
private let failed = OperationSet()

/// Gives a consumer its input. A success doesn't take the place of a failure that was handed over. That there is no result is neither.
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
  /// Makes the consumer wait for this operation, and hands it the output, a failure as well. If this operation was cancelled or ends without a result, it hands over nothing. If another operation has
  /// handed over a failure, a success doesn't take its place.
  ///
  /// - Returns: the consumer, for the next link of a chain.
  @discardableResult
  public func passesResult<Consumer: ConsumesResult>(to consumer: Consumer) -> Consumer
  where Consumer.Input == Output {
    pass(to: consumer) { hand($0, to: consumer) }
    return consumer
  }

  /// Hands the output to each of several operations.
  public func passesResult<Consumer: ConsumesResult>(to consumers: some Sequence<Consumer>)
  where Consumer.Input == Output {
    for consumer in consumers { passesResult(to: consumer) }
  }

  /// Makes the consumer wait for this operation, and gives it the output beside those of others.
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

  /// Makes the consumer wait for this operation, and hands it a failure. Success is not handed on, so what the two work with may differ.
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
