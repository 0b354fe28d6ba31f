import Dispatch
import Foundation
import Predicates

/// A store and its models. An app opens a container once, and gets its contexts from it.
///
/// ```swift
/// let music = try await PersistentContainer("Music", models: Song.self, Album.self, at: url)
/// ```
///
/// A store keeps the schema that it was last opened for writing with. Opening it with other models migrates it, if the
/// changes can be inferred from the two schemas. Entities and properties that the models lack are removed with their
/// values, and one commit switches to the new schema. A change that can't be inferred is refused with `schemaMismatch`.
/// Objects that break a rule of the models are refused with `missingValue`, `notUnique`, `indexedValueTooLong`,
/// `wrongValue` or `validationFailed`. After a refusal the store is as it was, and ``ContextError/refusal`` lists all
/// obstacles. A derived number that its attribute can't hold is found later: then the change is taken back, without a
/// refusal.
public final class PersistentContainer: Sendable {
  /// The container's name in messages.
  public let name: String
  let coordinator: StoreCoordinator
  /// This container's own handle of the store. The coordinator is shared with other containers on the same file.
  let handle: StoreHandle
  let queue: DispatchQueue
  @MainActor private var viewContextHolder: ViewContextHolder?

  init(_ name: String, _ handle: StoreHandle, on queue: DispatchQueue) {
    self.name = name
    self.handle = handle
    self.queue = queue
    coordinator = handle.coordinator
  }

  /// The entities of the store.
  public var schema: Schema { coordinator.schema.schema }
  /// The store's identifier, which every object's ID repeats.
  public var storeID: UUID { coordinator.storeID }
}

// MARK: - Contexts

extension PersistentContainer {
  /// The context of the main actor, for the user interface. It follows the saves of other contexts by itself: between
  /// two turns of the main actor it moves to the newest commit. If it is first asked for after `close()`, each of its
  /// calls throws `closed`.
  @MainActor public var viewContext: ManagedObjectContext {
    if let viewContextHolder { return viewContextHolder.context }
    let holder = ViewContextHolder(coordinator, handle.newestSource())
    viewContextHolder = holder
    return holder.context
  }

  /// Makes a context on a background queue, which can be used again and again.
  ///
  /// - Parameters:
  ///   - name: the context's name in messages.
  ///   - mergePolicy: what its saves do with objects that other contexts have changed since.
  ///   - queue: the queue that its blocks run on, one after the other; nil for a queue of its own. Code that runs on a
  ///     serial queue must not call ``BackgroundContext/performAndWait(_:)`` of a context on that queue: it would wait
  ///     for itself.
  public func newBackgroundContext(
    name: String? = nil,
    mergePolicy: MergePolicy = .error,
    queue: DispatchQueue? = nil
  ) throws(ContextError) -> BackgroundContext {
    try handle.checkOpen()
    return try BackgroundContext(coordinator: coordinator, name: name, mergePolicy: mergePolicy, queue: queue)
  }

  /// Makes a context on an executor of the program's own, which can be used again and again. It has no
  /// `performAndWait`.
  ///
  /// - Parameters:
  ///   - executor: runs the context's blocks, one after the other, among its other jobs. The context keeps it.
  ///   - name: the context's name in messages.
  ///   - mergePolicy: what its saves do with objects that other contexts have changed since.
  public func newBackgroundContext(
    executor: any SerialExecutor,
    name: String? = nil,
    mergePolicy: MergePolicy = .error
  ) throws(ContextError) -> ExecutorContext {
    try handle.checkOpen()
    return try ExecutorContext(
      coordinator: coordinator,
      name: name,
      mergePolicy: mergePolicy,
      executor: executor
    )
  }

  /// Returns when the view context shows everything that was saved before the call, as long as its
  /// ``ManagedObjectContext/automaticallyMergesChangesFromParent`` is true.
  ///
  /// A save by another context reaches the view context in a later turn of the main actor. Code that has saved and is
  /// about to read the view context calls this first.
  @MainActor public func waitForViewContext() throws(ContextError) {
    try viewContext.mergeAutomatically()
  }
}
