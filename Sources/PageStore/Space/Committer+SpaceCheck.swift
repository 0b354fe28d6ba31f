/// What has to be true of the last checkpoint's word before anything is written over on the strength of it. It takes what opening has read,
/// the record of pages in use, and the headers of extents: no page of a tree. Docs/Decisions/0027.
extension Committer {
  /// Refuses to take for free what the trees have: `corrupt`.
  ///
  /// - Parameters:
  ///   - recorded: the pages that the last checkpoint records as in use.
  ///   - logExtents: all log extents that are known.
  func checkNothingLiveIsFree(_ recorded: PageBitmap, _ logExtents: [Extent]) throws(StoreError) {
    let end = lastRecord.end / pageSize
    try checkLog(logExtents, apartFrom: recorded)
    try checkTail(logExtents)
    let inUse = recorded.count(in: FileLayout.firstExtentOffset(pageSize: pageSize) / pageSize..<end)
    let headers = try headerPages(among: recorded, bitmap(of: logExtents.map(pages), below: end), below: end)
      .count(in: FileLayout.firstExtentOffset(pageSize: pageSize) / pageSize..<end)
    let needed = catalogued.pageCounts.reduce(
      lastRecord.catalogue.pageCount &+ lastRecord.spaceTree.pageCount,
      &+
    )
    // More of them are lost room, but nothing that could be written over.
    guard inUse - headers >= needed else {
      throw refusal(
        "its trees have \(needed) pages, but only \(inUse - headers) are recorded as in use",
        at: nil
      )
    }
  }

  /// The log is not written over pages of trees.
  private func checkLog(_ logExtents: [Extent], apartFrom recorded: PageBitmap) throws(StoreError) {
    // Those behind the end came after the record.
    for extent in logExtents where extent.end <= lastRecord.end && recorded.count(in: pages(extent)) > 0 {
      throw refusal("a log extent has pages that are recorded as in use", at: extent.offset)
    }
  }

  /// The last extent of pages, whose header is written again when it grows, is one, and no log extent is in it.
  private func checkTail(_ logExtents: [Extent]) throws(StoreError) {
    guard let tail = tailExtent(of: lastRecord) else { return }
    let isThere = try ExtentWalk.extent(at: tail.offset, in: file, identity) != nil
    guard isThere, !logExtents.contains(where: { $0.range.overlaps(tail.range) }) else {
      throw refusal("the last extent of pages is not where it should be", at: tail.offset)
    }
  }

  private func pages(_ extent: Extent) -> Range<UInt64> { extent.offset / pageSize..<extent.end / pageSize }

  private func refusal(_ what: String, at offset: UInt64?) -> StoreError {
    StoreError(
      .corrupt,
      "nothing can be written, as pages that are in use might be taken for free ones: \(what)",
      context: .init(path: file.path, offset: offset)
    )
  }
}
