/// The uses of the bytes of a store's file at one moment. Every byte up to the file's end is in exactly one
/// of seven accounts.
public struct SpaceLedger: Sendable, Hashable {
  /// Pages that the newest commit reaches, the store's own records among them.
  public var liveBytes: UInt64 = 0
  /// Pages that no version reaches any more, and that can be overwritten when the next checkpoints are
  /// durable.
  public var deadBytes: UInt64 = 0
  /// Pages that only snapshots reach: ``Store/readers()`` says which.
  public var pinnedBytes: UInt64 = 0
  /// Log extents, in use or free.
  public var logBytes: UInt64 = 0
  /// Free pages that are kept for pages that are only in memory, and for removals on a full disk. Also pages
  /// that a checkpoint being written, a transaction that isn't committed yet, or a cut of the file has taken.
  public var reservedBytes: UInt64 = 0
  /// Other free pages.
  public var freeBytes: UInt64 = 0
  /// The file's header, the anchors, and the headers of extents.
  public var headerBytes: UInt64 = 0
  /// Pages of the newest commit that are only in memory. They are in no account of the file;
  /// ``reservedBytes`` has room for them.
  public var unwrittenBytes: UInt64 = 0
  /// Live bytes of each tree, in order of the names' bytes, without the store's own records.
  public var trees: [Tree] = []

  /// The share of one tree.
  public struct Tree: Sendable, Hashable {
    /// The tree's name.
    public var name: String
    /// Bytes of the pages that the newest commit reaches through the tree.
    public var liveBytes: UInt64
  }

  /// Bytes of the file, up to the end of its last extent.
  public var totalBytes: UInt64 { PageUse.allCases.reduce(0) { $0 + byteCount(of: $1) } }

  /// Returns the number of bytes of the pages of one use.
  public func byteCount(of use: PageUse) -> UInt64 {
    switch use {
    case .live: liveBytes
    case .dead: deadBytes
    case .pinned: pinnedBytes
    case .log: logBytes
    case .reserved: reservedBytes
    case .free: freeBytes
    case .headers: headerBytes
    }
  }
}

/// A reader: a snapshot that is alive.
public struct SnapshotReader: Sendable, Hashable {
  /// The purpose of the snapshot, as given when it was taken; empty if none was given.
  public var label: String
  /// The commit that it shows.
  public var commit: UInt64
  /// How long it has been alive.
  public var age: Duration
  /// Bytes of the file that can't be overwritten because of the version that the snapshot shows. Snapshots of
  /// one commit share them.
  public var pinnedBytes: UInt64
  /// Bytes of memory, or of the file to which it is spilled, that are kept because of that version.
  public var heldBytes: UInt64
  /// True if the lifetime of the snapshot has passed, so that nothing is kept for it.
  public var hasExpired: Bool
}

extension Committer {
  /// Counts the file's bytes by use. Called with `state` held. O(pages that died).
  func spaceLedger() throws(StoreError) -> SpaceLedger {
    _ = try withSpace { $0.map.end }
    reclaimUnread()
    return try withSpace { (space) throws(StoreError) in ledger(of: space) }
  }

  /// Returns the snapshots that are alive, and the bytes that each keeps from being reused. Called with
  /// `state` held.
  func readers() -> [SnapshotReader] {
    reclaimUnread()
    return versions.leases.map { (lease, hasEnded) in
      let generation = lease.holder.generation
      return SnapshotReader(
        label: lease.label,
        commit: lease.holder.commit,
        age: lease.since.age,
        pinnedBytes: hasEnded ? 0 : reclamation.heldPageCount(by: generation) * pageSize,
        heldBytes: hasEnded ? 0 : UInt64(reclamation.heldByteCount(by: generation)),
        hasExpired: hasEnded
      )
    }
  }

  private func ledger(of space: PageSpace) -> SpaceLedger {
    var dead: [UInt32: UInt64] = [:]
    for run in self.dead.reachedByLastCheckpoint { dead[run.treeID, default: 0] += run.count }
    func live(_ treeID: UInt32, _ pageCount: UInt64) -> UInt64 {
      pageCount - min(pageCount, dead[treeID] ?? 0)
    }
    var ledger = SpaceLedger()
    let (record, named) = (lastCheckpoint.record, lastCheckpoint.trees)
    var treePages = record.catalogue.pageCount + record.spaceTree.pageCount
    var livePages =
      live(Catalogue.treeID, record.catalogue.pageCount)
      + live(SpaceTree.treeID, record.spaceTree.pageCount)
    for (slot, name) in named.names.enumerated() {
      guard let name else { continue }
      let pageCount = UInt64(named.pageCounts[slot])
      let pages = live(named.roots[slot].treeID, pageCount)
      treePages += pageCount
      livePages += pages
      ledger.trees.append(.init(name: name, liveBytes: pages * pageSize))
    }
    ledger.trees.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    ledger.liveBytes = livePages * pageSize
    ledger.deadBytes = self.dead.count * pageSize
    ledger.pinnedBytes = pinnedByteCount
    ledger.logBytes = extents.byteCount
    let headerPages = space.map.recordable.count - min(treePages, space.map.recordable.count)
    ledger.headerBytes = FileLayout.firstExtentOffset(pageSize: pageSize) + headerPages * pageSize
    ledger.unwrittenBytes = dirtyPages.byteCount + dirtyPages.byteCountBeingWritten
    let reserved = reservedFreePageCount(of: space)
    ledger.reservedBytes = reserved * pageSize
    ledger.freeBytes = (space.map.freeCount - reserved) * pageSize
    // Pages in no list were taken by a checkpoint or a cut.
    ledger.reservedBytes += space.end - min(space.end, ledger.totalBytes)
    return ledger
  }

  /// Returns the number of free pages that are kept in reserve. Called with `state` held.
  func reservedFreePageCount(of space: PageSpace) -> UInt64 {
    min(space.map.freeCount, reserve(end: space.map.end).pageCount)
  }
}
