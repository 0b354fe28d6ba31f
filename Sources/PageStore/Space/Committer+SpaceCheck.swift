/// Checks of the last checkpoint's record of pages in use, made before a page is overwritten because of this
/// record. They need the data that opening has read, the record, and the headers of extents, but no page of a
/// tree. Docs/Decisions/0027.
extension Committer {
  /// Throws `corrupt` if pages of the trees might be taken for free ones.
  ///
  /// - Parameters:
  ///   - recorded: the pages that the last checkpoint records as in use.
  ///   - logExtents: all known log extents.
  func checkNothingLiveIsFree(_ recorded: PageBitmap, _ logExtents: [Extent]) throws(StoreError) {
    let end = lastCheckpoint.record.end / pageSize
    try checkLog(logExtents, apartFrom: recorded)
    try checkTail(logExtents)
    let inUse = recorded.count(in: FileLayout.firstExtentOffset(pageSize: pageSize) / pageSize..<end)
    let headers = try headerPages(among: recorded, bitmap(of: logExtents.map(pages), below: end), below: end)
      .count(in: FileLayout.firstExtentOffset(pageSize: pageSize) / pageSize..<end)
    let needed = lastCheckpoint.trees.pageCounts.reduce(
      lastCheckpoint.record.catalogue.pageCount &+ lastCheckpoint.record.spaceTree.pageCount
    ) { $0 &+ UInt64($1) }
    // Surplus pages are lost room, but no page of a tree could be overwritten.
    guard inUse - headers >= needed else {
      throw refusal(
        "the trees have \(needed) pages, but only \(inUse - headers) are recorded as in use",
        at: nil
      )
    }
  }

  /// Throws `corrupt` if a log extent contains pages of trees.
  private func checkLog(_ logExtents: [Extent], apartFrom recorded: PageBitmap) throws(StoreError) {
    // What lies after the recorded end is newer than the record, which may have pages that were cut off there.
    let known = 0..<lastCheckpoint.record.end / pageSize
    for extent in logExtents where recorded.count(in: pages(extent).clamped(to: known)) > 0 {
      throw refusal("a log extent has pages that are recorded as in use", at: extent.offset)
    }
  }

  /// Throws `corrupt` unless the last page extent, whose header is rewritten when it grows, is there and
  /// contains no log extent.
  private func checkTail(_ logExtents: [Extent]) throws(StoreError) {
    guard let tail = tailExtent(of: lastCheckpoint.record, besides: logExtents) else { return }
    let isThere = try ExtentWalk.extent(at: tail.offset, in: file, identity) != nil
    guard isThere, !logExtents.contains(where: { $0.range.overlaps(tail.range) }) else {
      throw refusal("the last extent of pages is missing, or a log extent overlaps it", at: tail.offset)
    }
  }

  private func pages(_ extent: Extent) -> Range<UInt64> { extent.offset / pageSize..<extent.end / pageSize }

  private func refusal(_ what: String, at offset: UInt64?) -> StoreError {
    StoreError(
      .corrupt,
      "nothing can be written, because pages in use might be taken for free ones: \(what)",
      context: .init(path: file.path, offset: offset)
    )
  }
}
