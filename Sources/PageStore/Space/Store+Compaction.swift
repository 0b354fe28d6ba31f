/// How far a compaction has come.
public struct CompactionProgress: Sendable, Hashable {
  /// Bytes of pages that were copied to the front so far.
  public var movedBytes: UInt64
  /// Bytes that the file had at the start, and has now.
  public var startBytes: UInt64
  public var currentBytes: UInt64
}

extension Store {
  /// Makes the file as short as what is in it: copies pages from its end to free room in front, and gives the rest back to the file
  /// system. Others read and write meanwhile: a few pages at a time are copied in the writer's turn, and checkpoints write them
  /// beside commits. What snapshots read stays where it is, and the file as long as that.
  ///
  /// Writes every page that moves once: at most as many bytes as there are free ones in the file. A crash at any moment leaves
  /// the file as it was, or shorter. Throws `diskFull` where even the room for the next checkpoint is missing.
  ///
  /// - Parameter progress: called now and then, on this thread; compaction ends when it returns false. What was done stays.
  /// - Returns: how far it came.
  @discardableResult
  public func compact(
    progress: (CompactionProgress) throws -> Bool = { _ in true }
  ) throws -> CompactionProgress {
    try checkWritable()
    let start = try spaceLedger().totalBytes
    var state = CompactionProgress(movedBytes: 0, startBytes: start, currentBytes: start)
    // Each round frees what the one before has replaced.
    for _ in 0..<Self.compactionRoundLimit {
      let before = state
      guard try compactOnce(&state, progress) else { return state }
      if state.movedBytes == before.movedBytes, state.currentBytes >= before.currentBytes { break }
    }
    return state
  }

  private static let compactionRoundLimit = 8
  /// Pages that are copied in one turn: half a millisecond or so.
  private static let slicePageCount = 64
  /// Pages that are copied before a checkpoint writes them.
  private static let batchPageCount = 2_048

  /// False if it was cancelled.
  private func compactOnce(
    _ state: inout CompactionProgress,
    _ progress: (CompactionProgress) throws -> Bool
  ) throws -> Bool {
    try committer.restateBeside()
    let limit = try committer.state.withLock { () throws(StoreError) in try committer.compactionLimit() }
    var position: Committer.RelocationPosition? = limit == nil ? nil : Committer.RelocationPosition()
    while let limit, position != nil {
      var batch = 0
      while position != nil, batch < Self.batchPageCount {
        batch += try withTurn { () throws(StoreError) in
          try committer.relocateBesideCommits(
            behind: limit,
            from: &position,
            pageLimit: Self.slicePageCount
          )
        }
      }
      try committer.checkpointBeside(behind: limit)
      state.movedBytes += UInt64(batch) * committer.pageSize
      state.currentBytes = try spaceLedger().totalBytes
      guard try progress(state) else { return false }
    }
    try withTurn { () throws(StoreError) in try committer.parkLogAndCut() }
    state.currentBytes = try spaceLedger().totalBytes
    return try progress(state)
  }
}
