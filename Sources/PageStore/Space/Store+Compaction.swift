/// The progress of a compaction.
public struct CompactionProgress: Sendable, Hashable {
  /// Bytes of the pages that were written so far: packed leaves, and pages that were moved to the front of
  /// the file.
  public var movedBytes: UInt64
  /// Bytes of the file at the start.
  public var startBytes: UInt64
  /// Bytes of the file at this moment.
  public var currentBytes: UInt64
}

extension Store {
  /// Makes the file as short as its contents allow: packs half-empty leaves, moves pages from the end of the
  /// file to free room before them, and gives the rest back to the file system. Other threads can read and
  /// write meanwhile: the writer lock is held for a few pages at a time, and concurrent checkpoints write
  /// them. Pages that snapshots read are not moved, and keep the file from being cut before them.
  ///
  /// Reads every leaf once, and writes the packed leaves and every page that moves. A crash at any moment
  /// leaves the file as it was, or shorter. On a full disk a few pages are changed at a time, in half of the
  /// room that is kept for removals. Throws `diskFull` if that isn't enough: for example if a snapshot holds
  /// the pages that were replaced.
  ///
  /// - Parameter progress: called repeatedly, on this thread; compaction ends when it returns false. What was
  ///   done stays.
  /// - Returns: the progress at the end.
  @discardableResult
  public func compact(
    progress: (CompactionProgress) throws -> Bool = { _ in true }
  ) throws -> CompactionProgress {
    try checkWritable()
    var compaction = try Compaction(store: shared)
    try compaction.run(packing: true, progress)
    return compaction.state
  }
}

/// A compaction, on one thread, concurrent with readers and writers.
struct Compaction {
  private let store: SharedStore
  private(set) var state: CompactionProgress

  /// The largest number of rounds of moving. Each frees the pages that the one before has replaced.
  private static let roundLimit = 8
  /// Pages that are changed while the writer lock is held once: for 0.1 or 0.2 ms.
  private static let slicePageCount = 16
  /// The same on a full disk where there is no room for more.
  private static let leastSlicePageCount = 2
  /// After so many slices `progress` is called, whether they have changed pages or not.
  private static let reportedSliceCount = 16
  /// The most pages that are changed before a checkpoint writes them. In a small store fewer, so that commits
  /// don't wait for the checkpoint.
  private static let batchPageCount: UInt64 = 2_048

  init(store: SharedStore) throws {
    self.store = store
    let start = try store.spaceLedger().totalBytes
    state = CompactionProgress(movedBytes: 0, startBytes: start, currentBytes: start)
  }

  /// - Parameter packing: whether to read all leaves first and pack half-empty ones.
  mutating func run(packing: Bool, _ progress: (CompactionProgress) throws -> Bool) throws {
    if packing { guard try run(.pack, progress) else { return } }
    // Removed pages become free only when a checkpoint has recorded that.
    try store.committer.checkpointConcurrently()
    for _ in 0..<Self.roundLimit {
      let before = state
      guard try move(progress), try cut(progress) else { return }
      if state.currentBytes >= before.currentBytes { break }
    }
  }

  /// Moves pages to the front of the file as long as that frees pages at its end. False if `progress` ended
  /// it.
  private mutating func move(_ progress: (CompactionProgress) throws -> Bool) throws -> Bool {
    let committer = store.committer
    for _ in 0..<Self.roundLimit {
      try committer.restateConcurrently()
      let before = state.movedBytes
      guard
        let limit = try committer.state.withLock({ () throws(StoreError) in try committer.compactionLimit() })
      else { break }
      guard try run(.move(behind: limit), progress) else { return false }
      if state.movedBytes == before { break }
    }
    return true
  }

  /// Cuts off the free end of the file. False if `progress` ended it.
  private mutating func cut(_ progress: (CompactionProgress) throws -> Bool) throws -> Bool {
    try store.committer.shortenFile(store.writerLock)
    return try report(progress)
  }

  private mutating func run(
    _ pass: Committer.CompactionPass,
    _ progress: (CompactionProgress) throws -> Bool
  ) throws -> Bool {
    var position: Committer.CompactionPosition? = .init()
    var slicePageCount = Self.slicePageCount
    while position != nil {
      let batch = try runBatch(of: pass, from: &position, slicePageCount: slicePageCount, progress)
      if batch.isCancelled { return false }
      if let refusal = batch.refusal {
        // The pages that were replaced so far become free.
        try store.committer.checkpointConcurrently()
        try store.committer.restateConcurrently()
        if batch.pageCount == 0 {
          if slicePageCount == Self.leastSlicePageCount { throw refusal }
          slicePageCount = max(slicePageCount / 2, Self.leastSlicePageCount)
        }
      } else if batch.pageCount > 0 {
        try store.committer.checkpointConcurrently(after: pass)
      }
      state.movedBytes += UInt64(batch.pageCount) * store.committer.pageSize
      guard try report(progress) else { return false }
    }
    return true
  }

  /// The progress of a pass since the last checkpoint.
  private struct Batch {
    /// The number of pages that were changed.
    var pageCount = 0
    /// The error of the last slice if the disk had no room for it.
    var refusal: StoreError?
    /// True if `progress` has ended the compaction.
    var isCancelled = false
  }

  /// Continues a pass until a checkpoint should write the pages that it has changed, or the disk is full.
  private mutating func runBatch(
    of pass: Committer.CompactionPass,
    from position: inout Committer.CompactionPosition?,
    slicePageCount: Int,
    _ progress: (CompactionProgress) throws -> Bool
  ) throws -> Batch {
    let committer = store.committer
    let pageLimit = min(Self.batchPageCount, committer.concurrentPageCount)
    var (batch, sliceCount) = (Batch(), 0)
    while position != nil, batch.pageCount < pageLimit {
      store.writerLock.letOthersGoFirst(for: .milliseconds(5))
      do throws(StoreError) {
        batch.pageCount += try store.withWriterLock { () throws(StoreError) in
          try store.file.checkOpen()
          return try committer.runConcurrently(pass, from: &position, pageLimit: slicePageCount)
        }
      } catch {
        guard error.code == .diskFull else { throw error }
        batch.refusal = error
        return batch
      }
      sliceCount += 1
      if sliceCount % Self.reportedSliceCount == 0, try !report(progress) {
        batch.isCancelled = true
        return batch
      }
    }
    return batch
  }

  private mutating func report(_ progress: (CompactionProgress) throws -> Bool) throws -> Bool {
    state.currentBytes = try store.spaceLedger().totalBytes
    return try progress(state)
  }
}
