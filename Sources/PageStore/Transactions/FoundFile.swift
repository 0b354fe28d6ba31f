/// The state in which opening has found the file. Guarded by ``Committer/state``.
struct FoundFile {
  /// The end of the extents that recovery found, which may be after the end that the checkpoint knows.
  let end: UInt64
  /// True if the store was closed before it was opened, and not left by a crash.
  let wasClosed: Bool
  /// True if the headers of extents in the file are durable. Only used when ``Committer/space`` is loaded.
  var areHeadersDurable: Bool

  init(end: UInt64, wasClosed: Bool) {
    self.end = end
    self.wasClosed = wasClosed
    areHeadersDurable = wasClosed
  }
}
