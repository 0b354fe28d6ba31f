import Glibc
import Synchronization

/// A store that is open, which all handles on it (``Store``) share. What the store does by itself, it does here: a handle may go at any moment.
///
/// It is closed when the last counted handle is. If that one was let go of instead, it stays open as long as snapshots, and what else has
/// it, are there.
final class SharedStore: Sendable {
  /// Where the store is; empty for one in memory.
  let path: String
  let options: StoreOptions
  let file: StoreFile
  let pool: PagePool
  let versions: VersionTable
  let writerLock = WriterLock()
  let committer: Committer
  let environment: StoreEnvironment
  /// What the process knows the open file by; nil for one that was handed in, of which there is one handle.
  private let registration: PosixFile.Identity?
  private let isSettling = Atomic(false)
  private let isCheckpointing = Atomic(false)
  private let isSyncing = Atomic(false)
  /// Whether somebody looks later whether the file is too long, and whether it is being made shorter.
  let isTidying = Atomic(false)
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
    // A store that is let go without being closed leaves what a crash would leave, but keeps its promises: relaxed
    // commits are synced. A failure has nobody to be told to, and recovery copes with it.
    if (try? file.checkOpen()) != nil, !options.isReadOnly, options.durability != .none,
      committer.log.hasUnsynced
    {
      try? committer.log.drain()
    }
    closeFile()
  }

  /// The newest commit that the log has taken up, whether or not readers see it yet.
  var newestCommit: UInt64 { versions.latest.commit }

  /// What the bytes of the file are used for.
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

  /// One counted handle less, because it was let go of.
  func dropHandle() {
    guard let registration else { return }
    _ = ProcessRegistry.shared.releaseHandle(of: ObjectIdentifier(self), registration, isClosing: false)
  }

  private func closeFile() {
    file.close()
    if let registration { ProcessRegistry.shared.remove(registration, of: ObjectIdentifier(self)) }
  }

  // MARK: Upkeep

  /// The checkpoint that the store makes by itself, now and on this thread: commits can go on beside it.
  func checkpointConcurrently() throws(StoreError) {
    isCheckpointing.store(true, ordering: .releasing)
    defer { isCheckpointing.store(false, ordering: .releasing) }
    try committer.checkpointConcurrently()
  }

  /// A commit that made the log long enough, or changed enough pages, starts a checkpoint. If there was none for so long
  /// that memory would grow without bound, the commit waits for one.
  ///
  /// The commit is done, so a failure isn't its own; if it was serious the store is fenced, otherwise the next commit
  /// tries again.
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

  /// Syncs relaxed commits when what they have replaced takes much memory: beside the commits that follow, or, if they
  /// are quicker than that, in this one. A failure isn't this commit's own: it fences the store.
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

  /// Relaxed commits are synced, and a store that goes idle gets a watermark, within a second.
  func settleLater() {
    guard options.durability != .none, !isSettling.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    environment.schedule(Self.settlingMilliseconds) { [weak self] in self?.settle() }
  }

  private static let settlingMilliseconds = 500

  /// Syncs what is unsynced. If nothing was committed since the last time, the last records get a watermark that vouches
  /// for them; otherwise this happens again later. A failure fences, which every later call reports.
  ///
  /// It never waits for the writer lock: a long transaction must not delay the sync that earlier commits were
  /// promised, or that of another store. While a transaction runs the store isn't idle.
  private func settle() {
    isSettling.store(false, ordering: .releasing)
    let log = committer.log
    guard (try? file.checkOpen()) != nil, !log.isFenced, log.lacksWatermark else { return }
    guard !log.hasUnsynced else {
      if (try? log.drain()) != nil { settleLater() }
      return
    }
    guard writerLock.acquireIfFree() else { return settleLater() }
    defer { writerLock.release() }
    if (try? file.checkOpen()) != nil { try? committer.vouchForLastRecord() }
  }
}
