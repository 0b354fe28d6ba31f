/// The limits of log and changed pages at which a checkpoint is written.
///
/// The options set limits. Shares of the store's size, with a least amount, set lower limits. The pages that
/// a checkpoint writes need room in addition to the pages that they replace, and so do the pages that are
/// changed meanwhile. A small file must not become a large one because of that. With these shares a file
/// takes about twice its live pages at most. An option that is set to a large value is used as it is: a
/// program that sets it wants fewer checkpoints and has the room.
///
/// Pages that snapshots pin take room as well. The more pages are pinned, the fewer may be changed before a
/// checkpoint: so the file doesn't need the full room for a checkpoint in addition to the room of the pages
/// that a snapshot keeps, which may be a second copy of the store. Checkpoints are more frequent then, and
/// each of them writes less.
struct UpkeepLimits {
  private let checkpointLogBytes: UInt64
  private let dirtyMemory: MemoryBudget
  private let chosenTransactionByteCount: Int?

  private static let defaultLog = UInt64(StoreOptions().checkpointLogBytes)
  private static let smallestLog: UInt64 = 1 << 20
  private static let smallestDirty: UInt64 = 4 << 20
  /// Bytes that are subtracted from the larger share, because single transactions and the log weigh more in a
  /// small store.
  private static let dirtyAllowance: UInt64 = 16 << 20
  private static let smallestPinnedDirty: UInt64 = 1 << 20

  init(_ options: StoreOptions) {
    // Multiples of it have to fit into an integer.
    checkpointLogBytes = min(UInt64(options.checkpointLogBytes), .max / Self.overdueLogShare)
    dirtyMemory = options.dirtyMemory
    chosenTransactionByteCount = options.transactionByteCount
  }

  private var dirtyMemoryBytes: UInt64 { UInt64(dirtyMemory.byteCount) }

  /// True if changed pages may take the bytes that the program has chosen, however small the store is. No
  /// share of the machine's memory is so large.
  private var ignoresStoredBytes: Bool { dirtyMemory.isAtLeast(SystemMemory.largestShare + 1) }

  /// The length of log at which commits wait for a checkpoint, as a multiple of the length that makes a
  /// checkpoint due.
  static let overdueLogShare: UInt64 = 4

  /// Returns the number of bytes of log after which a store with `stored` bytes of pages needs a checkpoint.
  func logByteCount(storing stored: UInt64) -> UInt64 {
    if checkpointLogBytes > Self.defaultLog { return checkpointLogBytes }
    return min(checkpointLogBytes, max(Self.smallestLog, stored / 16))
  }

  /// Returns whether `logBytes` bytes of log extents are more than an idle store should keep.
  func isLong(_ logBytes: UInt64, storing stored: UInt64) -> Bool {
    logBytes > max(Self.smallestLog, stored / 32) + logExtentByteCount(storing: stored)
  }

  /// Returns the size up to which new log extents double.
  func logExtentByteCount(storing stored: UInt64) -> UInt64 {
    min(4 << 20, max(64 << 10, logByteCount(storing: stored) / 4))
  }

  /// Bytes of changed pages for which the file and the memory have room.
  struct Room: Equatable {
    /// The bytes after which a store needs a checkpoint.
    let due: UInt64
    /// The bytes of pages that can be changed while a checkpoint is being written, or is due and hasn't
    /// begun, before commits wait for it.
    let meanwhile: UInt64
  }

  /// Returns the room for changed pages.
  ///
  /// - Parameters:
  ///   - stored: bytes of the store's pages in the file.
  ///   - pinned: bytes of pages that only snapshots reach.
  ///   - perChange: bytes of the pages that a commit, or a step of a compaction, changes on average.
  func room(storing stored: UInt64, pinning pinned: UInt64, perChange: UInt64 = 0) -> Room {
    let memory = dirtyMemoryBytes / 2
    if ignoresStoredBytes { return Room(due: memory, meanwhile: memory) }
    let share = checkpointShare(storing: stored, pinning: pinned)
    let spare = max(Self.smallestDirty, stored / 8)
    if pinned > 0 {
      // Pages may be changed before a checkpoint begins and again while it is written: half of the limit each
      // time.
      let due = min(memory, share)
      return Room(due: due, meanwhile: min(due / 2, spare + share - due))
    }
    // If memory makes a checkpoint due earlier than the file's room, the rest of this room is for pages that
    // are changed meanwhile.
    let kept = perChange > spare / Self.concurrentCommitCount ? min(spare, perChange) : spare
    let due = min(memory, share + spare - kept)
    return Room(due: due, meanwhile: min(due, spare + share - due))
  }

  /// The least number of commits for which room is kept while a checkpoint is written. If room for fewer is
  /// left, commits wait for most of the checkpoint anyway. Then room is kept for one commit, so that
  /// checkpoints are rarer.
  private static let concurrentCommitCount: UInt64 = 8

  /// Returns the number of bytes of changed pages for which the file has room before a checkpoint begins.
  private func checkpointShare(storing stored: UInt64, pinning pinned: UInt64) -> UInt64 {
    let unpinned = max(
      Self.smallestDirty,
      stored / 16 * 9,
      stored / 8 * 7 - min(stored / 8 * 7, Self.dirtyAllowance)
    )
    if pinned == 0 { return unpinned }
    let left = unpinned - min(unpinned, min(pinned, stored) / 4 * 3)
    return max(Self.smallestPinnedDirty, stored / 48, left)
  }

  /// Bytes of pages that snapshots may hold only in memory. Beyond that, the pages are spilled.
  var heldByteCount: Int { Int(dirtyMemoryBytes / 4) }

  /// Bytes of changed pages, and of memory that waits for a sync, before commits wait for a checkpoint.
  var memoryByteCount: UInt64 { dirtyMemoryBytes }

  /// Bytes of memory that a transaction may take before it writes pages to the file.
  var transactionByteCount: Int { chosenTransactionByteCount ?? Int(dirtyMemoryBytes) }
  /// True if a transaction may also take the bytes of the cache's budget that no page takes.
  var lendsCacheToTransactions: Bool { chosenTransactionByteCount == nil }

  /// Bytes of memory that may wait for a sync before commits wait for it.
  var unsyncedByteCount: Int { Int(dirtyMemoryBytes / 4) }
}
