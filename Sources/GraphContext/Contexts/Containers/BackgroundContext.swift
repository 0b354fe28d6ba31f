import Dispatch
import Foundation

/// A context on a queue of its own. The handle can be sent anywhere; the context inside it and its objects can't leave
/// the blocks that work with them.
///
/// ```swift
/// let importer = try container.newBackgroundContext(name: "import")
/// let count = try await importer.perform { context in
///   context.insert(Song(title: "Carey", seconds: 182))
///   try context.save()
///   return context.insertedObjects.count
/// }
/// ```
///
/// Each block starts at the newest commit, with the unsaved changes of earlier blocks. A block that sets
/// ``ManagedObjectContext/automaticallyMergesChangesFromParent`` to false makes the context stay where it is.
public actor BackgroundContext {
  private let executor: QueueExecutor
  private let blocks: ContextBlocks

  init(
    coordinator: StoreCoordinator,
    name: String?,
    mergePolicy: MergePolicy,
    queue: DispatchQueue?
  ) throws(ContextError) {
    executor = QueueExecutor(label: name ?? "cambium.context", target: queue)
    blocks = try ContextBlocks(coordinator: coordinator, name: name, mergePolicy: mergePolicy)
  }

  isolated deinit { blocks.end() }

  /// True if the calling thread is in a block of the context.
  package nonisolated var isCurrent: Bool { executor.isOwnedHere }

  /// The executor that runs the context's work, one block at a time.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Runs `body` with the context, and returns its result.
  ///
  /// An error of a getter makes this block throw, at its end at the latest. The next blocks throw it too, until one of
  /// them rolls the context back or resets it.
  ///
  /// - Throws: what `body` throws; a ``ContextError`` if a value couldn't be read, or, without calling `body`, if the
  ///   context can't move to the newest commit.
  public func perform<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    try blocks.perform(body)
  }

  /// Runs `body` as ``perform(_:)`` does, and blocks the calling thread until it has returned: for code that can't
  /// await.
  ///
  /// A block may call it for its own context: the inner block is then a part of the outer one. On the main actor, or in
  /// a task, prefer ``perform(_:)``: a thread that waits does nothing else. Two blocks that wait for each other's
  /// contexts wait forever.
  public nonisolated func performAndWait<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    try executor.runAndWait { try assumeIsolated { context in try context.perform(body) } }
  }
}
