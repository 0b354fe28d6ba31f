import Dispatch

// Blocks of work with a context of their own.

extension PersistentContainer {
  /// Runs `body` on a background queue with a context of its own, at the newest commit. Changes that aren't saved when
  /// `body` returns are dropped.
  ///
  /// Objects can't leave the block: return their IDs. When the waiting task is cancelled, a query in the block that
  /// reads thousands of rows throws a ``ContextError`` of code `cancelled`; nothing else is interrupted.
  public func performBackgroundTask<Result: Sendable>(
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await running { cancellation in
      try await queue.run { [self] in
        try work(cancelledBy: cancellation) { context in
          let result = try body(context)
          try context.endBlock()
          return result
        }
      }
    }
  }

  /// Runs `body` with a context of its own, and saves its changes when it returns. Blocks of several calls run one
  /// after the other, first in, first out, for all containers of the process on the store: they never conflict with
  /// each other.
  ///
  /// ```swift
  /// let id = try await bank.write { context in
  ///   let account = Account(owner: "Ada")
  ///   context.insert(account)
  ///   return account.objectID
  /// }
  /// ```
  ///
  /// A block that throws changes nothing, except by the saves that it made itself. Changes that `didSave` of objects
  /// makes after the last save are dropped with the context.
  ///
  /// - Parameters:
  ///   - mergePolicy: what the save does with objects that other contexts have changed since the block began.
  ///   - durability: when the save at the end of the block counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history, unless the block sets another one in its context.
  ///   - body: the block. Objects can't leave it: return their IDs.
  public func write<Result: Sendable>(
    mergePolicy: MergePolicy = .error,
    durability: Durability? = nil,
    author: String? = nil,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await write(mergePolicy: mergePolicy, durability: durability, author: author) { context, _ in
      try body(context)
    }
  }

  /// Does what ``write(mergePolicy:durability:author:_:)`` does, with a block that can choose to save nothing.
  ///
  /// - Parameters:
  ///   - mergePolicy: what the save does with objects that other contexts have changed since the block began.
  ///   - durability: when the save at the end of the block counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history, unless the block sets another one in its context.
  ///   - body: the block. Its second argument is true; set to false, it drops the changes.
  public func write<Result: Sendable>(
    mergePolicy: MergePolicy = .error,
    durability: Durability? = nil,
    author: String? = nil,
    _ body: @Sendable @escaping (ManagedObjectContext, _ shouldSave: inout Bool) throws -> Result
  ) async throws -> Result {
    try await running { cancellation in
      try await coordinator.writer.run { [self] in
        // The container may have been closed while the block waited.
        try handle.checkOpen()
        return try work(cancelledBy: cancellation) { context in
          try Self.write(in: context, mergePolicy, durability, author, body)
        }
      }
    }
  }

  /// Does what `write` does, for code that can't be suspended: the calling thread waits for its turn among the blocks,
  /// and until the changes are saved.
  ///
  /// The view context shows the changes in a later turn of the main actor; ``waitForViewContext()`` brings it up to
  /// date at once.
  ///
  /// - Parameters:
  ///   - mergePolicy: what the save does with objects that other contexts have changed since the block began.
  ///   - durability: when the save at the end of the block counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history, unless the block sets another one in its context.
  ///   - body: the block. Objects can't leave it: return their IDs.
  /// - Throws: `saveNotAllowed` in a block that writes, which would wait for itself; what `body` and the save throw.
  ///   Nothing is changed then.
  public func writeAndWait<Result: Sendable>(
    mergePolicy: MergePolicy = .error,
    durability: Durability? = nil,
    author: String? = nil,
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    try writeAndWait(mergePolicy: mergePolicy, durability: durability, author: author) { context, _ in
      try body(context)
    }
  }

  /// Does what the variant above does, with a block that can choose to save nothing.
  ///
  /// - Parameters:
  ///   - mergePolicy: what the save does with objects that other contexts have changed since the block began.
  ///   - durability: when the save at the end of the block counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history, unless the block sets another one in its context.
  ///   - body: the block. Its second argument is true; set to false, it drops the changes.
  public func writeAndWait<Result: Sendable>(
    mergePolicy: MergePolicy = .error,
    durability: Durability? = nil,
    author: String? = nil,
    _ body: (ManagedObjectContext, _ shouldSave: inout Bool) throws -> Result
  ) throws -> Result {
    try handle.checkOpen()
    guard !coordinator.writer.isOwnedHere else {
      throw ContextError(
        .saveNotAllowed,
        "writeAndWait can't be called in a block that writes: it would wait for this block to end"
      )
    }
    return try coordinator.writer.runAndWait {
      try handle.checkOpen()
      return try work { context in try Self.write(in: context, mergePolicy, durability, author, body) }
    }
  }

  /// Runs `body` with a context that only reads, at the newest commit, while other blocks read and write.
  ///
  /// The compiler doesn't reject a block that changes objects, because their setters are available. Such a block throws
  /// `readOnlyContext`, at its end at the latest, and changes nothing in the store.
  public func query<Result: Sendable>(
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await query(at: nil, body)
  }

  /// Runs `body` with a context that only reads, at a commit that the container holds (``pinCommit(lifetime:)``), even
  /// if newer commits have followed. Otherwise it does what ``query(_:)`` does; ``ManagedObjectContext/refresh()``
  /// stays at the commit.
  ///
  /// - Throws: `commitNotHeld` after the commit was released, or once its lifetime is over, also in the middle of the
  ///   block; `schemaChanged` if the store was taken over since the commit was pinned; what `body` throws.
  public func query<Result: Sendable>(
    at commit: PinnedCommit,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try commit.checkIsOf(handle.engine)
    return try await query(at: .some(commit), body)
  }

  /// Does what ``query(_:)`` does, for code that can't be suspended: the block runs on the calling thread.
  public func queryAndWait<Result: Sendable>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result
  {
    try handle.checkOpen()
    return try work { context in try Self.read(in: context, body) }
  }

  private func query<Result: Sendable>(
    at commit: PinnedCommit?,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await running { cancellation in
      try await queue.run { [self] in
        try work(at: commit, cancelledBy: cancellation) { context in try Self.read(in: context, body) }
      }
    }
  }

  private static func write<Result>(
    in context: ManagedObjectContext,
    _ mergePolicy: MergePolicy,
    _ durability: Durability?,
    _ author: String?,
    _ body: (ManagedObjectContext, _ shouldSave: inout Bool) throws -> Result
  ) throws -> Result {
    (context.mergePolicy, context.author) = (mergePolicy, author)
    var shouldSave = true
    let result = try body(context, &shouldSave)
    try context.checkUsable()
    if shouldSave { try context.saveLast(durability: durability) } else { try context.endBlock() }
    return result
  }

  private static func read<Result>(
    in context: ManagedObjectContext,
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    context.isForReading = true
    let result = try body(context)
    if context.hasRefusedChange { throw ContextError.readOnlyContext() }
    try context.endBlock()
    return result
  }

  /// Runs `body` on the calling thread, with a context that ends with the block.
  private func work<Result>(
    at commit: PinnedCommit? = nil,
    cancelledBy cancellation: Cancellation? = nil,
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let source = try commit?.source() ?? coordinator.engine.newestSource()
    let context = ManagedObjectContext(coordinator, showing: source)
    context.pinnedCommit = commit
    context.cancellation = cancellation
    defer { context.end() }
    return try body(context)
  }

  /// Runs a block whose queries end when the task that waits for it is cancelled.
  private func running<Result: Sendable>(_ body: (Cancellation) async throws -> Result) async throws -> Result
  {
    try handle.checkOpen()
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await body(cancellation)
    } onCancel: {
      cancellation.cancel()
    }
  }
}

extension ManagedObjectContext {
  /// Tells listeners of the last changes of a block, and throws the error that was noted while the block or they read
  /// values. Not called after the commit that ends a block: nothing may fail then.
  fileprivate func endBlock() throws(ContextError) {
    processPendingChanges()
    try checkUsable()
  }
}
