/// The share of the room for transactions that remove which a transaction leaves to others.
enum ReserveShare {
  /// Left by a transaction that only removes.
  case none
  /// Left by a deletion that also puts entries, and by a compaction.
  case half
  /// Left by every other transaction.
  case whole
}

/// The room in the file that accepted commits, and those to come, keep free.
extension Committer {
  /// Makes sure that there is room for the pages that the transaction has changed, besides the room for the
  /// pages of earlier commits and a share of the reserve. Throws `diskFull`. Called with `state` held.
  func ensureRoom(
    forPagesOf transaction: TransactionState,
    leaving share: ReserveShare
  ) throws(StoreError) {
    let dirtyCount = dirtyPages.pageCount + UInt64(transaction.dirty.filePageCount)
    try withSpace { (space) throws(StoreError) in
      var demand = PageReserve(
        pageCount: dirtyCount + checkpointOverhead(end: space.map.end, transaction.directory),
        runs: dirtyPages.runs + transaction.dirty.runs
      )
      if share != .none {
        try keepLogRoom(in: &space)
        demand += removalReserve(share)
      }
      try space.ensure(demand)
    }
  }

  /// Returns a share of the room that is kept for the pages of transactions that remove, so that they succeed
  /// on a full disk. Half of it is enough for new versions of one leaf of each tree and of the pages above
  /// it, unless the store has very many trees. Called with `state` held.
  private func removalReserve(_ share: ReserveShare) -> PageReserve {
    let heights = versions.latest.roots.reduce(0) { $0 + UInt64($1.height) }
    let byteCount = Self.removalReserveByteCount
    let wanted = min(2 * heights, byteCount.upperBound / pageSize)
    let whole = max(wanted, byteCount.lowerBound / pageSize, 8)
    return switch share {
    case .none: PageReserve()
    case .half: PageReserve(pageCount: (whole + 1) / 2)
    case .whole: PageReserve(pageCount: whole)
    }
  }

  /// The bytes of ``removalReserve(_:)`` as a whole, where pages are small enough.
  private static let removalReserveByteCount: ClosedRange<UInt64> = 128 << 10...1 << 20

  /// Returns the number of pages of the catalogue and the space tree that a checkpoint may write.
  private func checkpointOverhead(end: UInt64, _ directory: TreeDirectory) -> UInt64 {
    // Sixteen short names fit into half a leaf. A long one may take a share of a leaf and a page of its own.
    UInt64(4 + directory.names.count / 16 + 2 * directory.longNameCount)
      + spaceTreePageLimit(end: end)
  }

  /// Returns the most pages that a checkpoint may write of the space tree: all pages of the largest space
  /// tree that this version of the library makes. The present tree may have more, because in a file from
  /// elsewhere its pages may be less full; then its pages are added.
  func spaceTreePageLimit(end: UInt64) -> UInt64 {
    let (largest, present) = (SpaceTree.largestPageCount(end: end), lastCheckpoint.record.spaceTree)
    return present.pageCount <= largest ? largest : largest + present.pageCount
  }

  /// Returns the room that is kept free in a file with `end` pages: for accepted commits, and for
  /// transactions that remove.
  func reserve(end: UInt64) -> PageReserve { acceptedReserve(end: end) + removalReserve(.whole) }

  /// Returns the room for the next checkpoint of the commits that were accepted, in a file with `end` pages.
  func acceptedReserve(end: UInt64) -> PageReserve {
    PageReserve(
      pageCount: dirtyPages.pageCount + checkpointOverhead(end: end, versions.latest.directory),
      runs: dirtyPages.runs
    )
  }

  /// Returns the room that stays free after a checkpoint that commits a transaction, which leaves `share` of
  /// the reserve. No pages are dirty then.
  func reserve(
    afterCheckpointOf directory: TreeDirectory,
    leaving share: ReserveShare,
    end: UInt64
  ) -> PageReserve {
    PageReserve(pageCount: checkpointOverhead(end: end, directory)) + removalReserve(share)
  }
}
