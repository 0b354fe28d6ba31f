/// The amount of free log extents that checkpoints keep for the log. Guarded by ``Committer/state``.
///
/// A log that once was longer, because checkpoints took long, will become as long again. New extents lie at
/// the end of the file, and extents that are given up become page extents: without a reserve the file would
/// grow each time.
struct LogReserve {
  /// False while the file is made shorter: checkpoints then give up all free log extents but the file's
  /// first.
  var isKept = true
  /// A decaying maximum of the bytes of log between checkpoints.
  private var recentByteCount: UInt64 = 0

  /// Notes the length of the log before a checkpoint, in bytes.
  mutating func note(logByteCount: UInt64) {
    recentByteCount = max(logByteCount, recentByteCount / 4 * 3)
  }

  /// Returns the bytes of free log extents to keep.
  ///
  /// - Parameter limit: the length of log, in bytes, that makes a checkpoint due.
  func byteCount(dueAt limit: UInt64) -> UInt64 {
    if !isKept { return 0 }
    return max(limit, min(UpkeepLimits.overdueLogShare * limit, recentByteCount))
  }
}
