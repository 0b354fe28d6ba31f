/// How far a compaction has come.
public struct CompactionProgress: Sendable, Hashable {
  /// Bytes of pages that were written for it so far: packed leaves, and pages that have moved to the front.
  public var movedBytes: UInt64
  /// Bytes that the file had at the start, and has now.
  public var startBytes: UInt64
  /// Bytes that the file has now.
  public var currentBytes: UInt64
}

extension Store {
  /// Makes the file as short as what is in it: lays half-empty leaves out anew, copies pages from the file's end to free room in front,
  /// and gives the rest back to the file system. Others read and write meanwhile: a few pages at a time are changed in the writer's turn,
  /// and checkpoints write them beside commits. What snapshots read stays where it is, and the file as long as that.
  ///
  /// Reads every leaf once, and writes those that are packed and every page that moves. A crash at any moment leaves
  /// the file as it was, or shorter. Throws `diskFull` where even the room for the next checkpoint is missing.
  ///
  /// - Parameter progress: called now and then, on this thread; compaction ends when it returns false. What was done stays.
  /// - Returns: how far it came.
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

/// One compaction, on one thread, beside readers and writers.
struct Compaction {
  private let store: SharedStore
  private(set) var state: CompactionProgress

  /// Rounds of moving. Each frees what the one before has replaced.
  private static let roundLimit = 8
  /// Pages that are changed in one turn: a tenth of a millisecond or two.
  private static let slicePageCount = 16
  /// The most pages that are changed before a checkpoint writes them. In a small store, fewer: so many that commits don't wait for it.
  private static let batchPageCount: UInt64 = 2_048

  init(store: SharedStore) throws {
    self.store = store
    let start = try store.spaceLedger().totalBytes
    state = CompactionProgress(movedBytes: 0, startBytes: start, currentBytes: start)
  }

  /// - Parameter packing: whether to read all leaves and pack those that are half empty first.
  mutating func run(packing: Bool, _ progress: (CompactionProgress) throws -> Bool) throws {
    if packing { guard try run(.pack, progress) else { return } }
    // What was removed before is free only when a checkpoint has said so.
    try store.committer.checkpointConcurrently()
    for _ in 0..<Self.roundLimit {
      let before = state
      guard try move(progress), try cut(progress) else { return }
      if state.currentBytes >= before.currentBytes { break }
    }
  }

  /// Moves pages to the front as long as that helps. False if it was cancelled.
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

  /// Makes the file shorter. False if it was cancelled.
  private mutating func cut(_ progress: (CompactionProgress) throws -> Bool) throws -> Bool {
    try store.committer.shortenFile(store.writerLock)
    return try report(progress)
  }

  private mutating func run(
    _ pass: Committer.CompactionPass,
    _ progress: (CompactionProgress) throws -> Bool
  ) throws -> Bool {
    let batch = min(Self.batchPageCount, store.committer.concurrentPageCount)
    var position: Committer.CompactionPosition? = .init()
    while position != nil {
      var count = 0
      while position != nil, count < batch {
        store.writerLock.letOthersGoFirst(for: .milliseconds(5))
        count += try store.withWriterLock { () throws(StoreError) in
          try store.file.checkOpen()
          return try store.committer.runConcurrently(pass, from: &position, pageLimit: Self.slicePageCount)
        }
      }
      if count > 0 { try store.committer.checkpointConcurrently(after: pass) }
      state.movedBytes += UInt64(count) * store.committer.pageSize
      guard try report(progress) else { return false }
    }
    return true
  }

  private mutating func report(_ progress: (CompactionProgress) throws -> Bool) throws -> Bool {
    state.currentBytes = try store.spaceLedger().totalBytes
    return try progress(state)
  }
}
