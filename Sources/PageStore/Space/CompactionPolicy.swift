import Synchronization

/// When a store makes its file shorter by itself, beside those who use it: `Store.compact(progress:)` without packing.
///
/// Free pages are written over by later checkpoints. Compaction is for a file of which much more was used once than is now. It writes
/// at most the file's live bytes; with the default share, one and a half times as many have to become loose before the next.
public struct CompactionPolicy: Sendable, Hashable {
  /// The share of the file that has to be free, dead or log, from 0 to 1. A file that is written to at random everywhere takes about
  /// twice its live bytes: with less than 0.55 and no idle time, a store would make it shorter and let it grow again all the time.
  public var looseShare: Double = 0.6
  /// The least number of such bytes.
  public var leastLooseBytes: UInt64 = 16 << 20
  /// How long nobody may have written. Zero doesn't wait for that.
  public var idleTime: Duration = .seconds(2)

  /// Makes the default policy.
  public init() {}

  /// Whether a file with so many bytes, of which `loose` could be given back, is to be made shorter.
  func asksForCompaction(loose: UInt64, of total: UInt64) -> Bool {
    loose >= leastLooseBytes && Double(loose) >= looseShare * Double(total)
  }
}

extension SharedStore {
  /// Looks after some time whether the file should be made shorter.
  func tidyLater() {
    guard let policy = options.compaction, !isTidying.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    let commit = newestCommit
    environment.schedule(max(Self.leastTidyingMilliseconds, policy.idleTime.wholeMilliseconds)) {
      [weak self] in
      guard let self else { return }
      isTidying.store(false, ordering: .releasing)
      guard (try? file.checkOpen()) != nil else { return }
      if policy.idleTime > .zero, newestCommit != commit { return tidyLater() }
      environment.runConcurrently { [weak self] in self?.tidy(policy) }
    }
  }

  /// The file's size isn't looked at more often than this.
  private static let leastTidyingMilliseconds = 20

  /// Makes the log and the file shorter, if they are much too long. A failure leaves them as they are, and what was serious has
  /// fenced the store.
  func tidy(_ policy: CompactionPolicy) {
    // One that is under way ends early if somebody has written meanwhile, who has to be looked after.
    guard !isCompacting.exchange(true, ordering: .acquiringAndReleasing) else { return tidyLater() }
    defer { isCompacting.store(false, ordering: .releasing) }
    do {
      let ledger = try spaceLedger()
      // What is only in memory takes the place of something that is dead by now.
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
