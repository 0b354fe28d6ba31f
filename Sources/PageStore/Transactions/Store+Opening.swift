import Glibc
import Logging

extension Store {
  /// Opens the store at `path`, and makes it if there is none and the options say so. After a crash this recovers it. If the process
  /// has it open already, this gives another handle, to be closed for itself.
  ///
  /// Throws `storeInUse` while another process has it open for writing (or at all, if this opening is for writing), or
  /// while this process has it open with options that differ in more than `createsIfMissing`; `notAStore`; `unsupportedFormat`; `corrupt`; `inputOutput`.
  ///
  /// Where there is a `logger`, events worth a line go there: what was recovered, checkpoints, what failed. A store that the
  /// process has open already goes on with the one it has.
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

  /// Nil if somebody has put another file in the place of the one that was opened: ``rewrite(at:pageSize:progress:)`` does. Whoever went on
  /// with the old one would write to a file that nobody finds.
  private static func openOnce(
    at path: String,
    options: StoreOptions,
    logger: Logger?
  ) throws(StoreError) -> Store? {
    let file = try PosixFile.open(
      path: path,
      isReadOnly: options.isReadOnly,
      createsIfMissing: options.createsIfMissing,
      permissions: options.filePermissions
    )
    let identity = try file.identity()
    var isUsed = false
    defer { if !isUsed { file.close() } }
    return try ProcessRegistry.shared.store(for: identity, options: options, path: path) {
      () throws(StoreError) -> SharedStore? in
      try FileLock.acquire(file, path: path, isExclusive: !options.isReadOnly)
      guard try file.isAt(path) else { return nil }
      var environment = StoreEnvironment.system
      environment.logger = logger
      environment.makeSpillFile = { () throws(StoreError) in try PosixFile.openUnnamed(beside: path) }
      // A link's own folder knows nothing of the file's name, and what the link leads to later is another matter.
      let resolvedPath = Result { () throws(StoreError) in try PosixFile.resolved(path) }
      environment.synchronizeFolder = { () throws(StoreError) in
        try PosixFile.synchronizeFolder(of: resolvedPath.get())
      }
      let committer = try StoreOpener(
        file: StoreFile(file, path: path, resolvedPath: try? resolvedPath.get()),
        options: options,
        environment: environment
      ).open()
      // Nothing can fail from here on: a store that is let go closes the file.
      isUsed = true
      return SharedStore(committer, path: path, options: options, registration: identity)
    }.map { Store($0) }
  }

  /// A new store in memory, through the same code; it is gone with the last reference to it.
  public static func inMemory(options: StoreOptions = .init()) throws(StoreError) -> Store {
    var options = options
    options.isReadOnly = false
    options.createsIfMissing = true
    return try open(file: MemoryFile(), path: "", options: options, environment: .system)
  }

  /// Opens the store in a file that was handed in, with the clock and the randomness given. Neither locked nor
  /// registered.
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
  /// The system's clock and randomness, and a thread for what can wait.
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
