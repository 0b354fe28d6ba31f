import Glibc

/// Operations on the file of a store that isn't open.
extension Store {
  /// Copies the store at `path`, as `copy(to:pageSize:keepsUUID:progress:)` does, and replaces it by the
  /// copy. The copy has the same UUID, commit number, permissions and owner, but no extended attributes. The
  /// store must not be open in any process, and opening it throws `storeInUse` meanwhile. If `path` is a
  /// symbolic link, the file that it leads to is replaced.
  ///
  /// After a crash at any moment the file is either the old or the new one, complete. The file system must
  /// have room for both. The copy has a temporary name until then, so the file's name may be no longer than
  /// that of a copy.
  ///
  /// - Parameters:
  ///   - path: the path of the store's file.
  ///   - pageSize: bytes in a page of the new file, from 4,096 to 65,536; nil for the same as before.
  ///   - progress: called repeatedly, on this thread; if it returns false, or throws, the store stays as it
  ///     was.
  /// - Returns: false if `progress` ended it.
  /// - Throws: `storeInUse`, `diskFull`, `corrupt`, `inputOutput`, also if the owner can't be kept or the
  ///   name is too long; the store is as it was then. `outcomeUnknown` if the folder can't be synced: after a
  ///   power failure either file may be there.
  @discardableResult
  public static func rewrite(
    at path: String,
    pageSize: Int? = nil,
    progress: (CopyProgress) throws -> Bool = { _ in true }
  ) throws -> Bool {
    let original = try PosixFile.openLocked(path: path)
    // The original and the copy stay locked until the rename is durable, so that no process can open either.
    defer { original.close() }
    return try replace(original, at: path, byContentsOf: original, at: path, pageSize, progress)
  }

  /// Replaces the store at `path` by a copy of the one at `source`, such as a backup. The copy has the UUID,
  /// the commit number and the page size of the source, and the permissions and the owner of the file that it
  /// replaces. The source stays as it is.
  ///
  /// The store that is replaced must not be open in any process, and opening it throws `storeInUse` meanwhile.
  /// It may be damaged. The source may be open for reading. If `path` is a symbolic link, the file that it
  /// leads to is replaced.
  ///
  /// After a crash at any moment the file is either the old or the new one, complete. The folder's file system
  /// must have room for both. As with ``rewrite(at:pageSize:progress:)``, the file's name may be no longer
  /// than that of a copy.
  ///
  /// - Parameters:
  ///   - path: the path of the store's file.
  ///   - source: the path of another store's file.
  ///   - progress: called repeatedly, on this thread; if it returns false, or throws, the store stays as it
  ///     was.
  /// - Returns: false if `progress` ended it.
  /// - Throws: `storeInUse` if the store is open, or the source is open for writing; `notAStore` if either
  ///   file isn't a store; `corrupt` if the source can't be read; `diskFull`; `inputOutput`, also if a file
  ///   is missing, the name is too long or the owner can't be kept. The store is as it was then.
  ///   `outcomeUnknown` if the folder can't be synced: after a power failure either file may be there.
  @discardableResult
  public static func replace(
    at path: String,
    byCopyOf source: String,
    progress: (CopyProgress) throws -> Bool = { _ in true }
  ) throws -> Bool {
    let original = try PosixFile.openLocked(path: path)
    defer { original.close() }
    try checkIsStore(original, at: path)
    let other = try PosixFile.openLocked(path: source, isReadOnly: true)
    defer { other.close() }
    return try replace(original, at: path, byContentsOf: other, at: source, nil, progress)
  }

  /// Removes the file of the store at `path`, and what an unfinished copy has left beside it. The store must
  /// not be open in any process. It may be damaged. If `path` is a symbolic link, the file that it leads to is
  /// removed, and the link stays.
  ///
  /// After a crash at any moment the file is either complete or removed, and another call finishes the
  /// removal. When this returns, the removal is durable. It is durable, too, when this throws because there
  /// is no file.
  ///
  /// - Throws: `storeInUse` if the store is open, or being copied; `notAStore` if the file isn't a store;
  ///   `inputOutput`, also if there is no file. The store is as it was then. `outcomeUnknown` if the folder
  ///   can't be synced: after a power failure the file may be there.
  public static func destroy(at path: String) throws(StoreError) {
    var absence: StoreError?
    var original: PosixFile?
    do throws(StoreError) { original = try PosixFile.openLocked(path: path) } catch {
      guard error.systemError?.errno == ENOENT else { throw error }
      absence = error
    }
    // Locked until the removal of its name is durable: no process may commit to a file without a name.
    defer { original?.close() }
    if let original { try checkIsStore(original, at: path) }
    try destroy(at: PosixDestructionPlace(of: path, absence: absence))
  }

  /// Replaces a locked file by a copy of the store in `source`, which may be the file itself.
  private static func replace(
    _ original: PosixFile,
    at path: String,
    byContentsOf source: PosixFile,
    at sourcePath: String,
    _ pageSize: Int?,
    _ progress: (CopyProgress) throws -> Bool
  ) throws -> Bool {
    var options = StoreOptions()
    // Read-only: the transactions that recovery replays stay in memory, and the source isn't changed.
    options.isReadOnly = true
    options.createsIfMissing = false
    options.cacheBytes = StoreCopy.cacheByteCount
    let store = try open(file: source, path: sourcePath, options: options, environment: .system)
    let place = PosixCopyPlace(path: try PosixFile.resolved(path), .replacing(original))
    return try store.copy(to: place, pageSize: pageSize, keepsUUID: true, progress: progress)
  }

  /// Throws `notAStore` unless the file has the marks of a store. A damaged store has them, as long as one
  /// copy is legible, and so has one of a format that this library doesn't know.
  private static func checkIsStore(_ file: PosixFile, at path: String) throws(StoreError) {
    do throws(StoreError) {
      if case .store = try FixedBlocks.read(StoreFile(file, path: path)) { return }
    } catch {
      if error.code == .unsupportedFormat { return }
      throw error
    }
    throw StoreError(
      .notAStore,
      "the file is not a store: it has none of a store's marks",
      context: .init(path: path)
    )
  }
}
