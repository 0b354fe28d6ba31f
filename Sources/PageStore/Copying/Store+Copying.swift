/// The progress of a copy.
public struct CopyProgress: Sendable, Hashable {
  /// Number of entries copied so far.
  public var copiedEntries: Int
  /// Number of entries in all trees.
  public var totalEntries: Int
  /// Bytes of the keys and values copied so far.
  public var copiedBytes: UInt64
}

extension Store {
  /// Writes the contents of the newest snapshot to a new file: the same trees with the same entries, and the
  /// same commit number and timestamp. Other threads can read and write meanwhile.
  ///
  /// The file appears at `path` when it is complete and durable. Until then it has a temporary name in the
  /// same folder, with `.cambium-copy` added; a file that a crash leaves there is removed by the next copy to
  /// the same path. So where the file system allows names of 255 bytes, the file's name may have 242.
  ///
  /// Pages are filled one after the other. The new file is longer than its live bytes by a sixty-fourth of
  /// them, 256 KiB and 16 pages at most. The new file has the permissions of this store's file, or
  /// ``StoreOptions/filePermissions`` if this store is in memory. It belongs to the user of this process.
  ///
  /// O(size of the store). Takes some 32 MiB of memory for pages, and room for two copies of the longest
  /// value.
  ///
  /// - Parameters:
  ///   - path: where to write the copy. No file may be there.
  ///   - pageSize: bytes in a page of the copy, from 4,096 to 65,536; nil for that of this store.
  ///   - keepsUUID: whether the copy has this store's UUID, as a backup needs: what programs keep together with
  ///     the UUID, such as IDs of objects, stays valid when the copy replaces the store. If false, the copy
  ///     gets a new UUID. Pass false for a copy that is to have commits of its own beside this store, so that
  ///     programs can tell the two apart.
  ///   - progress: called repeatedly, on this thread; if it returns false, or throws, nothing remains of the
  ///     copy.
  /// - Returns: false if `progress` ended it.
  /// - Throws: `inputOutput` if there is a file at `path` or the name is too long, `diskFull`,
  ///   `storeInUse` if another copy to the same path is being made, `invalidOptions`, `corrupt`; nothing
  ///   remains of the copy then. `outcomeUnknown` if the folder can't be synced: then the copy is at `path`,
  ///   but a power failure may remove it.
  @discardableResult
  public func copy(
    to path: String,
    pageSize: Int? = nil,
    keepsUUID: Bool = true,
    progress: (CopyProgress) throws -> Bool = { _ in true }
  ) throws -> Bool {
    let permissions = file.permissions ?? UInt32(options.filePermissions)
    let place = PosixCopyPlace(path: path, .newFile(permissions: permissions))
    return try copy(to: place, pageSize: pageSize, keepsUUID: keepsUUID, progress: progress)
  }

  /// Does what `copy(to:pageSize:keepsUUID:progress:)` does, with a destination that the caller provides.
  @_spi(Testing)
  public func copy(
    to place: any CopyPlace,
    pageSize: Int? = nil,
    keepsUUID: Bool,
    progress: (CopyProgress) throws -> Bool = { _ in true }
  ) throws -> Bool {
    // The copy would lack features of the file that this library doesn't know.
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
}
