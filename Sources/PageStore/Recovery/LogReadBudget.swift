/// Counts the bytes that one look at a log reads, hashes and compares, and ends it when they are out of proportion to the file.
///
/// A store's log is looked at a few times over, however it was left: its extents lie apart, and its records too. In a forged one every
/// sector may claim a record of four mebibytes, and every checkpoint lead through all of the log; looking at such a file would take
/// time that grows with the square of its length. Docs/Decisions/0026.
final class LogReadBudget {
  /// Bytes so far.
  private(set) var byteCount: UInt64 = 0
  let limit: UInt64

  /// Times that each byte of the file may be looked at.
  static let share: UInt64 = 64
  /// A shorter file may be looked at as if it had so many bytes: log extents can be longer than what is there of them.
  static let leastFileByteCount: UInt64 = 1 << 20

  init(fileByteCount: UInt64) {
    let (limit, overflows) = max(fileByteCount, Self.leastFileByteCount)
      .multipliedReportingOverflow(by: Self.share)
    self.limit = overflows ? .max : limit
  }

  /// Throws `corrupt` when there were more bytes than the file accounts for.
  func spend(_ count: UInt64) throws(StoreError) {
    let (sum, overflows) = byteCount.addingReportingOverflow(count)
    byteCount = overflows ? .max : sum
    guard byteCount <= limit else {
      throw StoreError(
        .corrupt,
        "the log can't be a store's: its extents overlap, or its records claim each other's bytes"
      )
    }
  }
}
