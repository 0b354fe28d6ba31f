/// How much log and how much of changed pages may gather before a checkpoint.
///
/// The options set limits; shares of the store's own size, but never less than a least amount, set lower ones. What a checkpoint writes
/// needs room beside what it replaces, and so does what is changed meanwhile: a small file must not become a large one for that.
/// With these shares a file takes about twice its live pages at most. An option above its default is taken as it is: whoever sets it
/// wants fewer checkpoints and has the room.
///
/// Pages that snapshots pin are room that is missing. The more of them there are, the less may be changed before a checkpoint
/// writes it: what a checkpoint needs isn't added to a second copy of the store that a snapshot keeps. There are more
/// checkpoints then, each of which writes less.
struct UpkeepLimits {
  private let checkpointLogBytes: UInt64
  private let dirtyMemoryBytes: UInt64

  private static let defaults = StoreOptions()
  private static let smallestLog: UInt64 = 1 << 20
  private static let smallestDirty: UInt64 = 4 << 20
  /// Single transactions and the log count for more in a small store.
  private static let dirtyAllowance: UInt64 = 16 << 20
  private static let smallestPinnedDirty: UInt64 = 1 << 20

  init(_ options: StoreOptions) {
    checkpointLogBytes = UInt64(options.checkpointLogBytes)
    dirtyMemoryBytes = UInt64(options.dirtyMemoryBytes)
  }

  /// Commits wait for a checkpoint when there is so many times as much log as makes one due.
  static let overdueLogShare: UInt64 = 4

  /// Bytes of log after which a store of so many bytes of pages needs a checkpoint.
  func logByteCount(storing stored: UInt64) -> UInt64 {
    if checkpointLogBytes > Self.defaults.checkpointLogBytes { return checkpointLogBytes }
    return min(checkpointLogBytes, max(Self.smallestLog, stored / 16))
  }

  /// Whether log extents of so many bytes are more than a store that nobody writes to should keep.
  func isLong(_ logBytes: UInt64, storing stored: UInt64) -> Bool {
    logBytes > max(Self.smallestLog, stored / 32) + logExtentByteCount(storing: stored)
  }

  /// The size up to which new log extents double.
  func logExtentByteCount(storing stored: UInt64) -> UInt64 {
    min(4 << 20, max(64 << 10, logByteCount(storing: stored) / 4))
  }

  /// Bytes of changed pages after which a store needs a checkpoint that has so many bytes of pages, and others that only
  /// snapshots reach.
  func dirtyByteCount(storing stored: UInt64, pinning pinned: UInt64) -> UInt64 {
    if dirtyMemoryBytes > Self.defaults.dirtyMemoryBytes { return dirtyMemoryBytes / 2 }
    let unpinned = max(
      Self.smallestDirty,
      stored / 16 * 9,
      stored / 8 * 7 - min(stored / 8 * 7, Self.dirtyAllowance)
    )
    if pinned == 0 { return min(dirtyMemoryBytes / 2, unpinned) }
    let left = unpinned - min(unpinned, min(pinned, stored) / 4 * 3)
    return min(dirtyMemoryBytes / 2, max(Self.smallestPinnedDirty, stored / 48, left))
  }

  /// Bytes of pages that can be changed while a checkpoint is being written, or while one that is needed hasn't begun, before
  /// commits wait for it.
  func dirtyByteCountMeanwhile(storing stored: UInt64, pinning pinned: UInt64) -> UInt64 {
    if dirtyMemoryBytes > Self.defaults.dirtyMemoryBytes { return dirtyMemoryBytes / 2 }
    let due = dirtyByteCount(storing: stored, pinning: pinned)
    // Before a checkpoint begins and again while it is written: as much as it is due at, together.
    return min(pinned == 0 ? due : due / 2, max(Self.smallestDirty, stored / 8))
  }

  /// Bytes that snapshots may come to hold in memory alone before they are spilled.
  var heldByteCount: Int { Int(dirtyMemoryBytes / 4) }

  /// Bytes of changed pages, and of what waits for a sync, that may be in memory before commits wait for a checkpoint.
  var memoryByteCount: UInt64 { dirtyMemoryBytes }

  /// Bytes of memory that may wait for a sync before commits do.
  var unsettledByteCount: Int { Int(dirtyMemoryBytes / 4) }
}
