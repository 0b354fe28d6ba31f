import Dispatch

// Blocks of work with a context of their own.

extension PersistentContainer {
  /// Runs `body` on a background queue with a context of its own, at the newest commit. What isn't saved when `body`
  /// returns is dropped.
  ///
  /// Objects can't leave the block: return their IDs. When the task that waits is cancelled, a query in the block that goes on through
  /// thousands of rows throws a ``ContextError`` of code `cancelled`; nothing else is interrupted.
  public func performBackgroundTask<Result: Sendable>(
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await run(on: queue, body)
  }

  /// Runs `body` with a context of its own, and saves its changes when it returns. Blocks of several calls run one after the other, first in, first
  /// out, for all containers of the process on the store: they never conflict with each other.
  ///
  /// ```swift
  /// let id = try await bank.write { context in
  ///   let account = Account(owner: "Ada")
  ///   context.insert(account)
  ///   return account.objectID
  /// }
  /// ```
  ///
  /// A block that throws changes nothing, except by the saves that it made itself. What `didSave` of objects changes after the last save is
  /// dropped with the context.
  ///
  /// - Parameters:
  ///   - mergePolicy: what the save does with objects that other contexts have changed since the block began.
  ///   - body: the block. Objects can't leave it: return their IDs.
  public func write<Result: Sendable>(
    mergePolicy: MergePolicy = .error,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await write(mergePolicy: mergePolicy) { context, _ in try body(context) }
  }

  /// As ``write(mergePolicy:_:)``, with a block that can choose to save nothing.
  ///
  /// - Parameters:
  ///   - mergePolicy: what the save does with objects that other contexts have changed since the block began.
  ///   - body: the block. Its second argument is true; set to false, it drops the changes.
  public func write<Result: Sendable>(
    mergePolicy: MergePolicy = .error,
    _ body: @Sendable @escaping (ManagedObjectContext, _ shouldSave: inout Bool) throws -> Result
  ) async throws -> Result {
    try await run(on: coordinator.writerQueue) { context in
      context.mergePolicy = mergePolicy
      var shouldSave = true
      let result = try body(context, &shouldSave)
      try context.checkUsable()
      if shouldSave { try context.save() }
      return result
    }
  }

  /// Runs `body` with a context that only reads, at the newest commit, while other blocks read and write.
  ///
  /// The compiler can't tell a block that changes objects: their setters are there. Such a block throws `readOnlyContext`, at its end at the
  /// latest, and changes nothing in the store.
  public func query<Result: Sendable>(
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await query(at: nil, body)
  }

  /// Runs `body` with a context that only reads, at a commit that the container holds, however many have followed: ``pinCommit(lifetime:)``. Else as
  /// ``query(_:)``; ``ManagedObjectContext/refresh()`` stays at the commit.
  ///
  /// - Throws: `commitNotHeld` after the commit was released, or once its lifetime is over, also in the middle of the block; what `body` throws.
  public func query<Result: Sendable>(
    at commit: PinnedCommit,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try commit.checkIsOf(handle.engine)
    return try await query(at: .some(commit), body)
  }

  private func query<Result: Sendable>(
    at commit: PinnedCommit?,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await run(on: queue, at: commit) { context in
      context.isReadOnly = true
      let result = try body(context)
      if context.hasRefusedChange { throw ContextError.readOnlyContext() }
      return result
    }
  }

  private func run<Result: Sendable>(
    on queue: DispatchQueue,
    at commit: PinnedCommit? = nil,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try handle.checkOpen()
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await queue.run { [coordinator] in
        let source = try commit?.source() ?? coordinator.engine.newestSource()
        let context = ManagedObjectContext(coordinator, showing: source)
        context.pinnedCommit = commit
        context.cancellation = cancellation
        defer { context.end() }
        let result = try body(context)
        try context.checkUsable()
        return result
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}
