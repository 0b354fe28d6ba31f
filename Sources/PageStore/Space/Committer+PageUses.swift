extension Committer {
  /// Returns the uses of all pages. Called with `state` held.
  ///
  /// The pages in use follow from the record of the last checkpoint. It doesn't distinguish header pages from
  /// those of trees; the extents' headers do. Pages in no list are being written or cut off, or belong to a
  /// transaction that isn't committed yet, and count as reserved.
  func pageUses() throws(StoreError) -> PageUses {
    let ledger = try spaceLedger()
    return try withSpace { (space) throws(StoreError) in
      let pages = try pages(in: space, reservedCount: reservedFreePageCount(of: space))
      for use in PageUse.allCases where (pages[use]?.count ?? 0) * pageSize != ledger.byteCount(of: use) {
        let found = "\(pages[use]?.count ?? 0) pages of the file have the use “\(use)”"
        throw StoreError(
          .corrupt,
          "\(found), but the space ledger has \(ledger.byteCount(of: use) / pageSize)",
          context: .init(path: file.path)
        )
      }
      let count = pages.values.reduce(0) { $0 + $1.count }
      guard count == space.map.end else {
        throw StoreError(
          .corrupt,
          "the file's \(space.map.end) pages have \(count) uses, but each page must have one",
          context: .init(path: file.path)
        )
      }
      return PageUses(pageSize: Int(pageSize), pageCount: space.map.end, pages: pages)
    }
  }

  private func pages(
    in space: PageSpace,
    reservedCount: UInt64
  ) throws(StoreError) -> [PageUse: PageBitmap] {
    let map = space.map
    let log = bitmap(of: extents.extents.map { $0.offset / pageSize..<$0.end / pageSize }, below: map.end)
    let recorded = map.recordable
    let headers = try headerPages(among: recorded, log, below: map.end)
    var live = recorded
    live.subtract(headers)
    live.subtract(bitmap(of: dead.reachedByLastCheckpoint.map(\.range), below: map.end))
    var reserved = map.nextToBeTaken(reservedCount)
    var free = map.free
    free.subtract(reserved)
    var pages: [PageUse: PageBitmap] = [
      .live: live, .log: log, .free: free, .headers: headers,
      .dead: bitmap(of: dead.all.map(\.range), below: map.end),
      .pinned: bitmap(of: reclamation.heldRoom.map(\.range), below: map.end),
    ]
    var rest = PageBitmap()
    rest.insert(0..<map.end)
    for use in pages.values { rest.subtract(use) }
    reserved.formUnion(rest)
    pages[.reserved] = reserved
    return pages
  }

  /// Returns the pages before the first extent, and the header pages of page extents.
  func headerPages(
    among recorded: PageBitmap,
    _ log: PageBitmap,
    below end: UInt64
  ) throws(StoreError) -> PageBitmap {
    let first = FileLayout.firstExtentOffset(pageSize: pageSize)
    var headers = bitmap(of: [0..<first / pageSize], below: end)
    var walk = try ExtentWalk(file, identity, from: first)
    while let found = try walk.next(), found.header.extent.offset < end * pageSize {
      let page = found.header.extent.offset / pageSize
      // A crash may leave a header that no checkpoint knows. A header in the log is that of a log extent.
      if recorded.contains(page), !log.contains(page) { headers.insert(page..<page + 1) }
    }
    return headers
  }

  func bitmap(of runs: [Range<UInt64>], below end: UInt64) -> PageBitmap {
    var pages = PageBitmap()
    for run in runs { pages.insert(run.clamped(to: 0..<end)) }
    return pages
  }
}
