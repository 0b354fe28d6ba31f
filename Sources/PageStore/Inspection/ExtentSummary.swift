/// The contents of an extent's header.
package struct ExtentSummary: Sendable, Encodable {
  /// `pages` or `log`.
  package var kind: String
  /// Bytes from the start of the file.
  package var offset: UInt64
  package var byteCount: UInt64
  package var firstPage: UInt64
  package var pageCount: UInt64
  /// The commit for which the extent was allocated.
  package var commit: UInt64
  /// The epoch of a log extent's present use; nil if no use began, or it isn't legible.
  package var epoch: UInt32?

  init(_ found: ExtentWalk.Found, pageSize: UInt64) {
    let extent = found.header.extent
    kind = found.header.kind == .log ? "log" : "pages"
    offset = extent.offset
    byteCount = extent.byteCount
    firstPage = extent.offset / pageSize
    pageCount = extent.byteCount / pageSize
    commit = found.header.commit
    epoch = found.use?.epoch
  }
}
