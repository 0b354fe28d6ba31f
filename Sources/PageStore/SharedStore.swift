import Glibc
import Synchronization

/// An open store, which all handles on it (``Store``) share. The store's background work belongs to it,
/// because a handle may be deallocated at any moment.
///
/// It is closed together with its last counted handle. If that handle is deallocated without being closed,
/// the store stays open as long as snapshots or other objects refer to it.
final class SharedStore: Sendable {
  /// The path of the store; empty for a store in memory.
  let path: String
  let options: StoreOptions
  let file: StoreFile
  let pool: PagePool
  let versions: VersionTable
  let writerLock = WriterLock()
  let committer: Committer
  let environment: StoreEnvironment
  /// The identity under which the process registry has the file; nil for a file that the caller provided,
  /// which has one handle.
  let registration: PosixFile.Identity?
  private let isFinishScheduled = Atomic(false)
  private let isCheckpointing = Atomic(false)
  private let isSyncing = Atomic(false)
  /// True if ``tidy(_:)`` is scheduled.
  let isTidying = Atomic(false)
  /// True if the store is making its file shorter by itself.
  let isCompacting = Atomic(false)

  init(_ committer: Committer, path: String, options: StoreOptions, registration: PosixFile.Identity?) {
    self.path = path
    self.options = options
    self.registration = registration
    self.committer = committer
    environment = committer.environment
    file = committer.file
    pool = committer.pool
    versions = committer.versions
  }

  deinit {
    // A store that is deallocated without being closed leaves the file as a crash would, but keeps its
    // promises: relaxed commits are synced. A failure can't be reported here; recovery handles it.
    if (try? file.checkOpen()) != nil, !options.isReadOnly, options.durability != .none,
      committer.log.hasUnsynced
    {
      try? committer.log.drain()
    }
    closeFile()
  }

  /// The newest commit whose record was appended to the log, whether or not readers see it yet.
  var newestCommit: UInt64 { versions.latest.commit }

  /// Returns the uses of the file's bytes.
  func spaceLedger() throws(StoreError) -> SpaceLedger {
    try file.checkOpen()
    return try committer.state.withLock { () throws(StoreError) in try committer.spaceLedger() }
  }

  func withWriterLock<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try writerLock.acquire()
    defer { writerLock.release() }
    return try body()
  }

  // MARK: Handles

  /// Releases a counted handle that is being closed; the last one closes the store. Called with the writer
  /// lock held. False if others are left.
  func closeHandle() throws(StoreError) -> Bool {
    if let registration,
      !ProcessRegistry.shared.releaseHandle(of: ObjectIdentifier(self), registration, isClosing: true)
    {
      return false
    }
    defer { closeFile() }
    if !options.isReadOnly { try committer.close() }
    return true
  }

  /// Releases a counted handle that is deallocated without having been closed.
  func dropHandle() {
    guard let registration else { return }
    _ = ProcessRegistry.shared.releaseHandle(of: ObjectIdentifier(self), registration, isClosing: false)
  }

  private func closeFile() {
    file.close()
    if let registration { ProcessRegistry.shared.remove(registration, of: ObjectIdentifier(self)) }
  }

  // MARK: Upkeep

  /// Writes a concurrent checkpoint on this thread: other threads can commit meanwhile.
  func checkpointConcurrently() throws(StoreError) {
    isCheckpointing.store(true, ordering: .releasing)
    defer { isCheckpointing.store(false, ordering: .releasing) }
    try committer.checkpointConcurrently()
  }

  /// Called after a commit. Starts a checkpoint if the log is long enough, or enough pages were changed. If
  /// one is overdue, so that memory would grow without bound, the commit waits for it.
  ///
  /// The commit is complete, so it doesn't fail if the checkpoint does. A failure of the log has fenced the
  /// store; after any other failure, the next commit tries again.
  func checkpointIfDue() {
    switch committer.checkpointNeed() {
    case .none: break
    case .overdue: try? committer.checkpointConcurrently(if: .overdue)
    case .due:
      guard !isCheckpointing.exchange(true, ordering: .acquiringAndReleasing) else { return }
      environment.runConcurrently { [weak self] in
        guard let self else { return }
        try? committer.checkpointConcurrently(if: .due)
        isCheckpointing.store(false, ordering: .releasing)
      }
    }
  }

  /// Called after a commit. Syncs relaxed commits when the memory that they have replaced takes too much
  /// room. It does so on another thread, or on this thread if the other one is too slow for the commits. A
  /// failure of the sync doesn't fail this commit: it fences the store.
  func syncIfDue() {
    switch committer.syncNeed() {
    case .none: break
    case .overdue: try? committer.sync()
    case .due:
      guard !isSyncing.exchange(true, ordering: .acquiringAndReleasing) else { return }
      environment.runConcurrently { [weak self] in
        guard let self else { return }
        try? committer.sync()
        isSyncing.store(false, ordering: .releasing)
      }
    }
  }

  /// Schedules ``finishLog()``: relaxed commits are synced, and an idle store gets a watermark, within a
  /// second.
  func finishLogLater() {
    if options.durability == .none { return }
    if isFinishScheduled.exchange(true, ordering: .acquiringAndReleasing) { return }
    environment.schedule(Self.finishDelayMilliseconds) { [weak self] in self?.finishLog() }
  }

  private static let finishDelayMilliseconds = 500

  /// Syncs unsynced records. If there are none, appends a watermark that vouches for the last ones; otherwise
  /// this runs again later. A failure fences the store, which later calls report.
  ///
  /// It never waits for the writer lock: a long transaction must not delay the promised sync of earlier
  /// commits, or the sync of another store. While a transaction runs the store isn't idle.
  private func finishLog() {
    isFinishScheduled.store(false, ordering: .releasing)
    let log = committer.log
    guard (try? file.checkOpen()) != nil, !log.isFenced, log.lacksWatermark else { return }
    guard !log.hasUnsynced else {
      if (try? log.drain()) != nil { finishLogLater() }
      return
    }
    guard writerLock.acquireIfFree() else { return finishLogLater() }
    defer { writerLock.release() }
    if (try? file.checkOpen()) != nil { try? committer.vouchForLastRecord() }
  }
}
