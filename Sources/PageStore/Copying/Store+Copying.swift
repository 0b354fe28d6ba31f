/// The progress of a copy.
public struct CopyProgress: Sendable, Hashable {
  /// Number of entries copied so far, and of entries in all trees.
  public var copiedEntries: Int
  /// Number of entries in all trees.
  public var totalEntries: Int
  /// Bytes of their keys and values.
  public var copiedBytes: UInt64
}

extension Store {
  /// Writes what the newest snapshot shows to a new file: the same trees with the same entries, and the same commit number
  /// and timestamp. Others read and write meanwhile.
  ///
  /// The file appears at `path` when it is complete and durable. Until then it lies beside it, with `.cambium-copy` added to its name; what
  /// a crash leaves there is removed by the next copy to the same path. Pages are filled one after the other. At most a
  /// sixty-fourth of the live bytes, 256 KiB and 16 pages of the new file are not live. The new file has the permissions of this store's file, that of a
  /// store in memory ``StoreOptions/filePermissions``; it belongs to the user of this process.
  ///
  /// O(size of the store). Needs memory for some 32 MiB of pages, and for two copies of the longest value.
  ///
  /// - Parameters:
  ///   - pageSize: bytes in a page of the copy, from 4,096 to 65,536; this store's if nil.
  ///   - keepsUUID: true gives the copy this store's UUID, which a copy that is to replace the store needs. False gives it a
  ///     new UUID, so that programs can tell the two stores apart.
  ///   - progress: called now and then, on this thread; if it returns false, or throws, nothing remains of the copy.
  /// - Returns: false if `progress` ended it.
  /// - Throws: `inputOutput` if there is a file at `path`, `diskFull`, `storeInUse` if another copy to the same path is being
  ///   made, `invalidOptions`, `corrupt`; nothing remains of the copy then. `outcomeUnknown` if the folder can't be synced: then the copy is
  ///   at `path`, and may be gone after a power failure.
  @discardableResult
  public func copy(
    to path: String,
    pageSize: Int? = nil,
    keepsUUID: Bool = false,
    progress: (CopyProgress) throws -> Bool = { _ in true }
  ) throws -> Bool {
    let permissions = file.permissions ?? UInt32(options.filePermissions)
    let place = PosixCopyPlace(path: path, .newFile(permissions: permissions))
    return try copy(to: place, pageSize: pageSize, keepsUUID: keepsUUID, progress: progress)
  }

  /// `copy(to:pageSize:keepsUUID:progress:)` to a place that was handed in.
  @_spi(Testing)
  public func copy(
    to place: any CopyPlace,
    pageSize: Int? = nil,
    keepsUUID: Bool,
    progress: (CopyProgress) throws -> Bool = { _ in true }
  ) throws -> Bool {
    // A feature that this library does not know would be missing in the copy.
    try committer.identity.checkSupported(forWriting: true)
    var options = StoreOptions()
    options.pageSize = pageSize ?? Int(committer.identity.pageSize)
    options.cacheBytes = StoreCopy.cacheByteCount
    options.createsIfMissing = false
    try options.check()
    let snapshot = try snapshot(label: "a copy of the store")
    let copy = StoreCopy(
      snapshot: snapshot,
      uuid: keepsUUID ? uuid : StoreUUID(low: environment.random(), high: environment.random()),
      options: options,
      environment: StoreEnvironment(now: environment.now, random: environment.random)
    )
    return try copy.run(in: place, progress)
  }

  /// Writes the store at `path` anew, as `copy(to:pageSize:keepsUUID:progress:)` does, and puts the copy in its place: with
  /// the same UUID, commit number, permissions and owner, but no extended attributes. The store must not be open in any process, and opening it
  /// throws `storeInUse` meanwhile. A symbolic link stays; what it leads to is replaced.
  ///
  /// After a crash at any moment either the old file or the new one is there, complete. The folder has to have room for both.
  ///
  /// - Parameters:
  ///   - pageSize: bytes in a page from then on, from 4,096 to 65,536; as before if nil.
  ///   - progress: called now and then, on this thread; if it returns false, or throws, the store stays as it was.
  /// - Returns: false if `progress` ended it.
  /// - Throws: `storeInUse`, `diskFull`, `corrupt`, `inputOutput`, also if the owner can't be kept; the store is as it was then. `outcomeUnknown` if the folder
  ///   can't be synced: after a power failure either file may be there.
  @discardableResult
  public static func rewrite(
    at path: String,
    pageSize: Int? = nil,
    progress: (CopyProgress) throws -> Bool = { _ in true }
  ) throws -> Bool {
    let original = try PosixFile.openLocked(path: path)
    // The original and the copy stay locked until the rename is durable, so that no process can open either.
    defer { original.close() }
    var options = StoreOptions()
    // What recovery finds stays in memory: the original is not touched.
    options.isReadOnly = true
    options.createsIfMissing = false
    options.cacheBytes = StoreCopy.cacheByteCount
    let store = try open(file: original, path: path, options: options, environment: .system)
    let place = PosixCopyPlace(path: try PosixFile.resolved(path), .replacing(original))
    return try store.copy(to: place, pageSize: pageSize, keepsUUID: true, progress: progress)
  }
}
