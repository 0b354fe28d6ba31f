/// Counts the bytes that one examination of a log reads, hashes and compares, and ends it when they are out
/// of proportion to the file.
///
/// Recovery reads each byte of a store's log only a few times, because neither its extents nor its records
/// overlap. In a forged log every sector may claim a record of four mebibytes, and every checkpoint may lead
/// through the whole log. Without a limit, the time would grow with the square of the file's length.
/// Docs/Decisions/0026.
final class LogReadBudget {
  /// Bytes counted so far.
  private(set) var byteCount: UInt64 = 0
  let limit: UInt64

  /// How often each byte of the file may be counted.
  static let share: UInt64 = 64
  /// Shorter files have the budget of a file of this length, because a log extent may reach past the end of
  /// its file.
  static let leastFileByteCount: UInt64 = 1 << 20

  init(fileByteCount: UInt64) {
    let (limit, overflows) = max(fileByteCount, Self.leastFileByteCount)
      .multipliedReportingOverflow(by: Self.share)
    self.limit = overflows ? .max : limit
  }

  /// Throws `corrupt` when more bytes were counted than the file's length justifies.
  func spend(_ count: UInt64) throws(StoreError) {
    let (sum, overflows) = byteCount.addingReportingOverflow(count)
    byteCount = overflows ? .max : sum
    guard byteCount <= limit else {
      throw StoreError(
        .corrupt,
        "the log can't have been written by this library: its extents or its records overlap"
      )
    }
  }
}
