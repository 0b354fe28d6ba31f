import Glibc
import Logging

extension Store {
  /// Opens the store at `path`, and makes it if there is none and the options allow that. After a crash this
  /// recovers the store. If the process has it open already, this gives another handle, which has to be
  /// closed as well.
  ///
  /// Throws `storeInUse` while another process has the store open for writing, or has it open at all if this
  /// opening is for writing. Throws `storeInUse`, too, while this process has the store open with options
  /// that differ in more than `createsIfMissing`. Throws `notAStore`, `unsupportedFormat`, `corrupt` and
  /// `inputOutput`.
  ///
  /// The `logger` gets the store's events: recovery, checkpoints, failures. A store that the process has open
  /// already keeps the logger that it has. It is called with locks of the store held, so its handler mustn't
  /// use the store.
  public static func open(
    at path: String,
    options: StoreOptions = .init(),
    logger: Logger? = nil
  ) throws(StoreError) -> Store {
    try options.check()
    for _ in 0..<PosixFile.patience {
      if let store = try openOnce(at: path, options: options, logger: logger) { return store }
    }
    throw PosixFile.keepsChanging(path)
  }

  /// Opens the store once. Nil if the file was replaced between its opening and its locking, as
  /// ``rewrite(at:pageSize:progress:)`` does: commits to the old file would be lost.
  private static func openOnce(
    at path: String,
    options: StoreOptions,
    logger: Logger?
  ) throws(StoreError) -> Store? {
    let file: PosixFile
    do throws(StoreError) {
      file = try PosixFile.open(
        path: path,
        isReadOnly: options.isReadOnly,
        createsIfMissing: options.createsIfMissing,
        permissions: options.filePermissions
      )
    } catch {
      throw error.explained(forOpening: path, options)
    }
    let identity = try file.identity()
    var isUsed = false
    defer { if !isUsed { file.close() } }
    return try ProcessRegistry.shared.store(for: identity, options: options, path: path) {
      () throws(StoreError) -> SharedStore? in
      try FileLock.acquire(file, path: path, isExclusive: !options.isReadOnly)
      guard try file.isAt(path) else { return nil }
      var environment = StoreEnvironment.system
      environment.logger = logger
      // If the path is a link, the folder is that of the file to which the link leads now.
      let resolvedPath = Result { () throws(StoreError) in try PosixFile.resolved(path) }
      environment.makeSpillFile = { () throws(StoreError) in
        try PosixFile.openUnnamed(beside: resolvedPath.get())
      }
      environment.synchronizeFolder = { () throws(StoreError) in
        try PosixFile.synchronizeFolder(of: resolvedPath.get())
      }
      let committer = try StoreOpener(
        file: StoreFile(file, path: path, resolvedPath: try? resolvedPath.get()),
        options: options,
        environment: environment
      ).open()
      // Nothing can fail from here on. The store closes the file when it is deallocated.
      isUsed = true
      return SharedStore(committer, path: path, options: options, registration: identity)
    }.map { Store($0) }
  }

  /// Makes a store in memory. It is deallocated with the last reference to it.
  public static func inMemory(options: StoreOptions = .init()) throws(StoreError) -> Store {
    var options = options
    options.isReadOnly = false
    options.createsIfMissing = true
    return try open(file: MemoryFile(), path: "", options: options, environment: .system)
  }

  /// Opens the store in a file that the caller provides, with the clock and the randomness of `environment`.
  /// The file is neither locked nor registered.
  @_spi(Testing)
  public static func open(
    file: any RandomAccessFile,
    path: String,
    options: StoreOptions,
    environment: StoreEnvironment
  ) throws(StoreError) -> Store {
    let committer = try StoreOpener(
      file: StoreFile(file, path: path),
      options: options,
      environment: environment
    ).open()
    return Store(SharedStore(committer, path: path, options: options, registration: nil))
  }
}

@_spi(Testing)
extension StoreEnvironment {
  /// The system's clock and randomness, and threads for later and concurrent work.
  public static let system = StoreEnvironment(
    now: {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    },
    random: { UInt64.random(in: .min ... .max) },
    schedule: { BackgroundThread.shared.schedule(milliseconds: $0, $1) },
    runConcurrently: { DetachedThread.run($0) }
  )
}
