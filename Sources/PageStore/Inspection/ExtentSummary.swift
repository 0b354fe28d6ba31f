/// What an extent's header says.
package struct ExtentSummary: Sendable, Encodable {
  /// `pages` or `log`.
  package var kind: String
  /// Bytes from the start of the file.
  package var offset: UInt64
  package var byteCount: UInt64
  package var firstPage: UInt64
  package var pageCount: UInt64
  /// The commit that it was allocated for.
  package var commit: UInt64
  /// The present use of a log extent; nil if it never began or isn't legible.
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
