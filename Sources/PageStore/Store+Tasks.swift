extension Store {
  /// ``write(durability:_:)`` for tasks: waiting for the writer's turn and for the disk holds up no other task.
  ///
  /// `body` runs on a thread of its own. Tasks that commit at the same moment share a sync; none waits for company.
  /// Cancelling the task doesn't cancel the transaction.
  @discardableResult
  public func write<Result: Sendable>(
    durability: Durability? = nil,
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DetachedThread.run {
        continuation.resume(with: Swift.Result { try self.write(durability: durability, body) })
      }
    }
  }
}
