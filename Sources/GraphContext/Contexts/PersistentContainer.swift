import Dispatch
import Foundation
import Logging
import PageStore
import Predicates

/// Where a container keeps its objects.
public enum StoreLocation: Sendable, Hashable {
  /// In a file, made if there is none.
  case file(URL)
  /// In memory, as long as the container lives.
  case inMemory
}

/// A store and its models: what an app opens once, and gets its contexts from.
///
/// ```swift
/// let music = try await PersistentContainer("Music", models: Song.self, Album.self, at: url)
/// ```
///
/// A store keeps the schema that it was last opened for writing with. Opening it with other models brings it to them, where the two
/// schemas tell what has changed; what the models lack is removed with its values, and one commit switches to the new schema. A change that can't be inferred is refused with
/// `schemaMismatch`, objects that break a rule of the models with `missingValue`, `notUnique` or `indexedValueTooLong`; then the store is left as it
/// was, and ``ContextError/refusal`` lists everything that is in the way.
public final class PersistentContainer: Sendable {
  /// What to call the container in messages.
  public let name: String
  package let coordinator: StoreCoordinator
  /// This container's own handle. The coordinator is shared with other containers on the same file.
  private let store: Store
  private let queue: DispatchQueue
  @MainActor private var viewContextHolder: ViewContextHolder?

  /// Opens a store in a file.
  ///
  /// - Parameters:
  ///   - showsValuesInErrors: whether errors (`notUnique`) show the values of properties, or their names alone, for programs whose logs must
  ///     not have them. Containers on the same file share it: if one says false, it holds for all.
  ///   - logger: where to log what was recovered, checkpoints, entities that were removed, and what failed; nil for nowhere.
  ///   - monitor: watches a change of the store's schema, and can cancel it.
  ///   - takesOver: whether to take the store over from containers that this process has open on it with other models. Otherwise there must be none.
  ///     Their contexts read on while the schema changes, and save nothing: `schemaChanging`. Afterwards they keep what they show, and
  ///     everything else throws `schemaChanged`. If opening fails, they go on as before.
  public convenience init<each Model: ManagedObject>(
    _ name: String,
    models: repeat (each Model).Type,
    at url: URL,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false
  ) async throws(ContextError) {
    try await self.init(
      name,
      models: repeat each models,
      at: .file(url),
      options: options,
      showsValuesInErrors: showsValuesInErrors,
      logger: logger,
      monitor: monitor,
      takesOver: takesOver
    )
  }

  /// Opens a store in a file or in memory.
  public convenience init<each Model: ManagedObject>(
    _ name: String,
    models: repeat (each Model).Type,
    at location: StoreLocation,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false
  ) async throws(ContextError) {
    var list: [any ManagedObject.Type] = []
    repeat list.append((each models).self)
    try await self.init(
      name,
      models: list,
      at: location,
      options: options,
      showsValuesInErrors: showsValuesInErrors,
      logger: logger,
      monitor: monitor,
      takesOver: takesOver
    )
  }

  /// The same for a list of models.
  ///
  /// - Throws: `schemaMismatch` when the models don't go together with each other, or the store can't be brought to them; `missingValue`,
  ///   `notUnique` or `indexedValueTooLong` when objects in the store break a rule of the models; `invalidURL` for a URL that isn't a file's;
  ///   `store` when the store can't be opened.
  public convenience init(
    _ name: String,
    models: [any ManagedObject.Type],
    at location: StoreLocation,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false
  ) async throws(ContextError) {
    try await self.init(
      name,
      ContainerModels(classes: models),
      at: location,
      ContainerOpening(
        options: options,
        showsValues: showsValuesInErrors,
        logger: logger,
        monitor: monitor,
        takesOver: takesOver
      )
    )
  }

  init(
    _ name: String,
    _ models: ContainerModels,
    at location: StoreLocation,
    _ opening: ContainerOpening
  ) async throws(ContextError) {
    defer { opening.monitor.finish() }
    let queue = DispatchQueue(label: "cambium.\(name)", attributes: .concurrent)
    self.name = name
    self.queue = queue
    (store, coordinator) = try await queue.run { () throws(ContextError) in
      let store = try Self.open(location, opening)
      return (store, try StoreCoordinator.open(store, models: models, as: opening))
    }
  }

  /// A container of a store that is open: for tests, whose stores are on simulated disks.
  @_spi(Testing)
  public convenience init(
    _ name: String,
    models: [any ManagedObject.Type],
    on store: Store,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false
  ) throws(ContextError) {
    let opening = ContainerOpening(monitor: monitor, takesOver: takesOver)
    try self.init(name, ContainerModels(classes: models), on: store, opening)
  }

  init(
    _ name: String,
    _ models: ContainerModels,
    on store: Store,
    _ opening: ContainerOpening = ContainerOpening()
  ) throws(ContextError) {
    self.name = name
    queue = DispatchQueue(label: "cambium.\(name)", attributes: .concurrent)
    self.store = store
    coordinator = try StoreCoordinator.open(store, models: models, as: opening)
  }

  private static func open(
    _ location: StoreLocation,
    _ opening: ContainerOpening
  ) throws(ContextError) -> Store {
    do {
      switch location {
      case .file(let url):
        return try Store.open(at: path(of: url), options: opening.options, logger: opening.logger)
      case .inMemory: return try Store.inMemory(options: opening.options)
      }
    } catch {
      throw ContextError(any: error)
    }
  }

  private func checkOpen() throws(ContextError) {
    do throws(StoreError) { try store.checkOpen() } catch { throw ContextError(error) }
  }

  static func path(of url: URL) throws(ContextError) -> String {
    if url.isFileURL { return url.path }
    throw ContextError(
      .invalidURL,
      "\(url.absoluteString) is not the URL of a file; make one by URL(fileURLWithPath:)"
    )
  }

  /// The entities of the store.
  public var schema: Schema { coordinator.schema.schema }
  /// The store's identifier, which every object's ID repeats.
  public var storeID: UUID { coordinator.storeID }
}

// MARK: - Contexts

extension PersistentContainer {
  /// The context of the main actor, for what people look at. It follows the saves of other contexts by itself: between two
  /// turns of the main actor it moves to the newest commit. First asked for after ``close()``, it throws `closed` at whatever it is asked.
  @MainActor public var viewContext: ManagedObjectContext {
    if let viewContextHolder { return viewContextHolder.context }
    let holder = ViewContextHolder(coordinator, store)
    viewContextHolder = holder
    return holder.context
  }

  /// Runs `body` on a background queue with a context of its own, at the newest commit. What isn't saved when `body`
  /// returns is dropped.
  ///
  /// Objects can't leave the block: return their IDs. When the task that waits is cancelled, a query in the block that goes on through
  /// thousands of rows throws `CancellationError`; nothing else is interrupted.
  public func performBackgroundTask<Result: Sendable>(
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try checkOpen()
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await queue.run { [coordinator] in
        let context = try ManagedObjectContext(coordinator: coordinator)
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

  /// A context on a background queue, to be used again and again.
  public func newBackgroundContext(name: String? = nil) throws(ContextError) -> BackgroundContext {
    try checkOpen()
    return try BackgroundContext(coordinator: coordinator, name: name)
  }
}

// MARK: - The store

extension PersistentContainer {
  /// Writes everything since the last checkpoint to its place, so that the next open has nothing to replay.
  public func checkpoint() throws(ContextError) {
    do throws(StoreError) { try store.checkpoint() } catch { throw ContextError(error) }
  }

  /// Writes everything as the newest commit left it to a new file, as small as it can be, while others read and save: a backup. The file
  /// appears at `url` when it is complete and durable. O(size of the store).
  ///
  /// - Parameters:
  ///   - keepsObjectIDs: whether the copy's objects have the IDs that they have here, as they should in a backup that may take this file's
  ///     place. Otherwise the copy is a store of its own, and an ID of one of them names nothing in the other.
  /// - Throws: `store` if there is a file at `url`, or it can't be written; nothing is left there then. Also after a folder could not be synced, with
  ///   the code `outcomeUnknown`: then the copy may be gone after a power failure.
  public func copy(to url: URL, keepsObjectIDs: Bool = true) async throws(ContextError) {
    try await queue.run { [store] () throws(ContextError) in
      do { try store.copy(to: Self.path(of: url), keepsUUID: keepsObjectIDs) } catch {
        throw ContextError(any: error)
      }
    }
  }

  /// Rewrites the records that were stored before the schema changed in the form that new ones have, while others read and save.
  ///
  /// Reading such a record costs a little more than reading a new one, until its object is saved for another reason or this was called; nothing
  /// else depends on it. Objects don't change. Waits for the writer's turn for each commit. O(records of entities that have changed).
  ///
  /// - Parameter monitor: tells how far it has come, and can cancel it.
  /// - Returns: how many records were rewritten.
  /// - Throws: `cancelled`; `store` when something can't be written. What was rewritten stays so.
  @discardableResult
  public func upgradeRecords(
    monitor: MigrationMonitor = MigrationMonitor()
  ) async throws(ContextError) -> Int {
    defer { monitor.finish() }
    try checkOpen()
    return try await queue.run { [coordinator] () throws(ContextError) in
      do { return try coordinator.upgradeRecords(monitor) } catch { throw ContextError(any: error) }
    }
  }

  /// Closes the container. What was saved is durable afterwards.
  ///
  /// Containers on the same file are counted: each is closed once. Closing it again does nothing, and a container that is let go of without
  /// being closed counts no more. Closing the last one closes the store: it writes a checkpoint and gives up the process's lock on
  /// the file, and contexts can't be used any more, whichever container they are of. Until then contexts that are there can be used; a
  /// closed container gives no new ones.
  ///
  /// - Throws: `store` if something could not be written; the container is closed all the same. Inside a save it throws the same with a
  ///   `storeError` of code `nestedWrite`, and does nothing.
  public func close() throws(ContextError) {
    do throws(StoreError) { try store.close() } catch { throw ContextError(error) }
  }

  /// What the store has done since it was opened, and how big it is.
  public var statistics: StoreStatistics {
    get throws(ContextError) {
      do throws(StoreError) { return try store.statistics } catch { throw ContextError(error) }
    }
  }

  /// Counts the bytes of the store's file by use: live, dead, pinned by snapshots, log, reserved, free. Exact at every commit.
  public func spaceLedger() throws(ContextError) -> SpaceLedger {
    do throws(StoreError) { return try store.spaceLedger() } catch { throw ContextError(error) }
  }

  /// Reads everything and compares everything with everything: pages, the schema, records, index entries, relationships. Returns
  /// every problem found; what can't be read is one, and the rest is looked at all the same. O(size of the store).
  ///
  /// - Parameter includingWarnings: whether to return, too, what is whole but rests on the last of two copies.
  public func verify(includingWarnings: Bool = false) throws(ContextError) -> [IntegrityProblem] {
    try checkOpen()
    let problems: [IntegrityProblem]
    do throws(StoreError) {
      problems = try store.verifyObjects(as: coordinator.schema, includingWarnings: includingWarnings)
    } catch {
      throw ContextError(error)
    }
    try coordinator.checkCurrent()
    return problems
  }
}
