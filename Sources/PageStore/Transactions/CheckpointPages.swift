/// The pages that a checkpoint has written.
struct CheckpointPages {
  var roots: [TreeRoot] = []
  /// The number of each tree's pages in the file, by slot.
  var pageCounts: [Int] = []
  var catalogue: StoredTree
  var images = WrittenPages()
  var replaced = RetiredMemory()
  var stored = StoredFrames()
  /// The number of pages that were written.
  var count: UInt64 = 0
  /// Pages that were taken and not used.
  var spare: [Range<UInt64>] = []
}

/// The pages that a checkpoint has written, and its record of the file.
struct WrittenCheckpoint {
  var pages: CheckpointPages
  var space: SealedSpace

  /// True if the file was synced for the checkpoint.
  var isSynced: Bool { pages.count > 0 || space.needsSync }
}

/// The state of the file that a checkpoint records.
struct SealedSpace {
  /// True if the checkpoint records headers of extents that aren't synced yet.
  var needsSync: Bool
  /// The pages that the checkpoint reaches, and header pages.
  var reached: PageBitmap
  /// The pages of the space tree that records ``reached``.
  var ownPages: [Range<UInt64>]
  /// Pages that were taken for the space tree and not used.
  var spare: [Range<UInt64>]
  /// Pages that were taken for the space tree only when the checkpoint was sealed.
  var extra: [Range<UInt64>]
  /// Pages that the checkpoint before reaches and this one doesn't, and that aren't in ``DeadPages``.
  var deaths: [PageRun]
  var spaceTree: StoredTree
  var end: UInt64
  var tailOffset: UInt64
  var logExtents: [Extent]
  /// Log extents that the checkpoint no longer lists.
  var givenUp: [LogExtentUse]
}
