import Dispatch
import Foundation
import PageStore

// Operations of a container on its store as a whole.

extension PersistentContainer {
  /// Writes all changes since the last checkpoint to their pages, so that the next opening has nothing to replay.
  public func checkpoint() throws(ContextError) {
    try ContextError.mapping { () throws(StoreError) in try handle.store.checkpoint() }
  }

  /// Makes the store's file as short as its contents allow, while other tasks read and save: packs half-empty pages,
  /// moves pages from the end of the file to free room before them, and gives the rest back to the file system.
  /// O(size of the store).
  ///
  /// Pages that contexts at older commits and pinned commits read are not moved, and keep the file from being cut
  /// before them. A crash at any moment leaves the file as it was, or shorter. A store that is in use makes its file
  /// shorter by itself as well, and so does `close()`, but neither packs pages.
  ///
  /// - Parameter progress: called repeatedly, on the thread that does the work. The work ends when it returns false.
  ///   What was done stays.
  /// - Returns: the progress at the end.
  /// - Throws: `store` if something can't be written, with the code `diskFull` also if there is no room for the next
  ///   checkpoint, and `readOnly` for a store that was opened for reading only.
  @discardableResult
  public func compact(
    progress: (CompactionProgress) -> Bool = { _ in true }
  ) throws(ContextError) -> CompactionProgress {
    try ContextError.mapping { try handle.store.compact(progress: progress) }
  }

  /// Writes a backup: the complete state of the newest commit in a new file, as small as it can be, while other
  /// tasks read and save. The file appears at `url` when it is complete and durable. O(size of the store).
  ///
  /// - Parameters:
  ///   - url: where to write the copy. No file may be there. The file's name may have 242 bytes where the file system
  ///     allows 255, because `.cambium-copy` is added to it until the copy is complete.
  ///   - keepsObjectIDs: whether the copy's objects have the same IDs as in this store, as a backup needs: when it
  ///     replaces this file, IDs and history tokens that the program has kept stay valid. If false, the copy is a
  ///     separate store, and an ID of one store names no object in the other. Pass false for a copy in which the
  ///     program saves beside this store: otherwise both stores give the same ID to different new objects, and
  ///     neither refuses an ID of the other.
  /// - Throws: `store` if there is a file at `url`, or it can't be written; nothing is left there then. Also if a
  ///   folder could not be synced, with the code `outcomeUnknown`: then a power failure may remove the copy.
  public func copy(to url: URL, keepsObjectIDs: Bool = true) async throws(ContextError) {
    try await queue.run { [handle] () throws(ContextError) in
      do { try handle.store.copy(to: Self.path(of: url), keepsUUID: keepsObjectIDs) } catch {
        throw ContextError(any: error)
      }
    }
  }

  /// Removes the file of the store at `url`. The store must not be open, in this process or another. It may be damaged.
  /// If the URL is that of a symbolic link, the file that it leads to is removed, and the link stays.
  ///
  /// After a crash at any moment the file is either complete or removed, and another call finishes the removal.
  /// When this returns, the file is removed durably. It is also removed durably when this throws because there is
  /// no file.
  ///
  /// - Throws: `store` with a `storeError` of code `storeInUse` if the store is open or being copied, `notAStore`
  ///   if the file is no store, `inputOutput` also if there is no file; `outcomeUnknown` if the folder can't be
  ///   synced: after a power failure the file may be there. `invalidURL`.
  public static func destroyStore(at url: URL) async throws(ContextError) {
    let path = try path(of: url)
    try await DispatchQueue.global().run { () throws(ContextError) in
      try ContextError.mapping { () throws(StoreError) in try Store.destroy(at: path) }
    }
  }

  /// Replaces the store at `url` by a copy of the one at `source`, such as a backup that
  /// ``copy(to:keepsObjectIDs:)`` has made. Afterwards the IDs of the source's objects find these objects in the
  /// store. The source stays as it is. O(size of the source).
  ///
  /// The store that is replaced must not be open, in this process or another; it may be damaged. The source may be open
  /// for reading only. The new file has the permissions and the owner of the old one. After a crash at any moment the
  /// file is either the old or the new one, complete. The folder's file system must have room for both. The file's
  /// name may be no longer than that of a copy.
  ///
  /// - Throws: `store` with a `storeError` of code `storeInUse` if the store is open, or the source is open for
  ///   writing, `notAStore` if either file is no store, `corrupt` if the source can't be read, `diskFull`,
  ///   `inputOutput` also if a file is missing: then the store is as it was; `outcomeUnknown` if the folder can't
  ///   be synced: after a power failure either file may be there. `invalidURL`.
  public static func replaceStore(at url: URL, byCopyOf source: URL) async throws(ContextError) {
    let (path, sourcePath) = (try path(of: url), try path(of: source))
    try await DispatchQueue.global().run { () throws(ContextError) in
      try ContextError.mapping { _ = try Store.replace(at: path, byCopyOf: sourcePath) }
    }
  }

  /// Rewrites the records that were stored before the schema changed in the layout of new records, while other
  /// tasks read and save.
  ///
  /// Reading such a record costs a little more than reading a new one, until its object is saved for another reason
  /// or this method is called. There is no other difference. Objects don't change. Waits for the writer's turn for
  /// each commit. O(records of entities that have changed).
  ///
  /// - Parameter monitor: shows the progress of the work, and can cancel it.
  /// - Returns: how many records were rewritten.
  /// - Throws: `cancelled`; `store` when something can't be written. Records that were rewritten stay rewritten.
  @discardableResult
  public func upgradeRecords(
    monitor: MigrationMonitor = MigrationMonitor()
  ) async throws(ContextError) -> Int {
    defer { monitor.finish() }
    try handle.checkOpen()
    return try await queue.run { [handle] () throws(ContextError) in
      do { return try handle.engine.upgradeRecords(monitor) } catch { throw ContextError(any: error) }
    }
  }

  /// Closes the container. Afterwards all saves are durable.
  ///
  /// Containers on the same file are counted: each is closed once. Closing it again does nothing, and a container
  /// that is deallocated without being closed is no longer counted. Closing the last one closes the store: it
  /// writes a checkpoint and gives up the process's lock on the file, and contexts can't be used any more,
  /// whichever container they are of. Until then existing contexts can be used; a closed container makes no new
  /// ones.
  ///
  /// - Throws: `store` if something could not be written; the container is closed all the same. Inside a save it
  ///   throws `store` with a `storeError` of code `nestedWrite`, and does nothing.
  public func close() throws(ContextError) {
    // The sequences that follow the store find it closed, and end.
    defer { coordinator.tellListeners() }
    try ContextError.mapping { () throws(StoreError) in try handle.store.close() }
  }

  /// Counts of the store's work since it was opened, and its size.
  public var statistics: StoreStatistics {
    get throws(ContextError) {
      try ContextError.mapping { () throws(StoreError) in try handle.store.statistics }
    }
  }

  /// Counts the bytes of the store's file by use: live, dead, pinned by snapshots, log, reserved, free. Exact at every
  /// commit.
  public func spaceLedger() throws(ContextError) -> SpaceLedger {
    try ContextError.mapping { () throws(StoreError) in try handle.store.spaceLedger() }
  }

  /// Reads the complete store and compares all its parts with each other: pages, the schema, records, index
  /// entries, relationships. Returns every problem found. Data that can't be read is a problem, and the rest is
  /// checked all the same. O(size of the store).
  ///
  /// - Parameter includingWarnings: whether to return warnings, too: data that is whole, but of which only one of
  ///   two copies is left.
  public func verify(includingWarnings: Bool = false) throws(ContextError) -> [IntegrityProblem] {
    try handle.checkOpen()
    let problems = try ContextError.mapping { () throws(StoreError) in
      try handle.store.verifyObjects(as: coordinator.schema, includingWarnings: includingWarnings)
    }
    try handle.engine.checkCurrent()
    return problems
  }
}
