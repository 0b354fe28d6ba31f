import Synchronization

/// The conditions under which a store makes its file shorter by itself while it is in use. It does so as
/// `Store.compact(progress:)` does, without packing.
///
/// Later checkpoints reuse free pages. Compaction is for a file that once had much more data than now. It
/// writes at most the file's live bytes. With the default share, one and a half times as many bytes must
/// become loose before the next compaction.
public struct CompactionPolicy: Sendable, Hashable {
  /// The share of the file, from 0 to 1, that must be free, dead or log. A file with random writes everywhere
  /// takes about twice its live bytes: with less than 0.55 and no idle time, the store would shorten it and
  /// let it grow again all the time. With 0.5, random overwrites of 7 MB moved 19 bytes for each byte that was
  /// committed; with the default, none.
  public var looseShare: Double = 0.6
  /// The least number of free, dead and log bytes.
  public var leastLooseBytes: UInt64 = 16 << 20
  /// The time for which nothing must have been committed. With zero, the store need not be idle.
  public var idleTime: Duration = .seconds(2)

  /// Makes the default policy.
  public init() {}

  /// Returns whether a file of `total` bytes, of which `loose` could be given back, should be made shorter.
  func asksForCompaction(loose: UInt64, of total: UInt64) -> Bool {
    loose >= leastLooseBytes && Double(loose) >= looseShare * Double(total)
  }
}

extension SharedStore {
  /// Schedules a check of whether the file should be made shorter.
  func tidyLater() {
    guard let policy = options.compaction, !isTidying.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    let commit = newestCommit
    environment.schedule(max(Self.leastTidyingMilliseconds, policy.idleTime.timerMilliseconds)) {
      [weak self] in
      guard let self else { return }
      isTidying.store(false, ordering: .releasing)
      guard (try? file.checkOpen()) != nil else { return }
      if policy.idleTime > .zero, newestCommit != commit { return tidyLater() }
      environment.runConcurrently { [weak self] in self?.tidy(policy) }
    }
  }

  /// The shortest time between two checks of the file's size.
  private static let leastTidyingMilliseconds = 20

  /// Makes the log and the file shorter if they are much too long. After a failure they stay as they are; a
  /// failure of the log has fenced the store.
  func tidy(_ policy: CompactionPolicy) {
    // A compaction under way ends early after a commit; that commit needs another check later.
    guard !isCompacting.exchange(true, ordering: .acquiringAndReleasing) else { return tidyLater() }
    defer { isCompacting.store(false, ordering: .releasing) }
    do {
      let ledger = try spaceLedger()
      // Pages that are only in memory will need room; the pages that they replace are dead by now.
      let used = ledger.liveBytes + ledger.unwrittenBytes + ledger.pinnedBytes + ledger.headerBytes
      let loose = ledger.totalBytes - min(ledger.totalBytes, used)
      let newest = newestCommit
      let isToGoOn = { policy.idleTime == .zero || self.newestCommit == newest }
      if policy.asksForCompaction(loose: loose, of: ledger.totalBytes) {
        var compaction = try Compaction(store: self)
        try compaction.run(packing: false) { _ in isToGoOn() }
      } else if policy.idleTime > .zero, committer.limits.isLong(ledger.logBytes, storing: ledger.liveBytes) {
        try committer.checkpointConcurrently()
        try committer.shortenFile(writerLock)
      }
    } catch let error as StoreError where error.code != .closed {
      committer.events.compactionFailed(error)
    } catch {}
  }
}
