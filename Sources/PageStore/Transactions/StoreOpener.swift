/// Opens the store in a file: makes it if there is none, recovers it otherwise.
struct StoreOpener {
  let file: StoreFile
  let options: StoreOptions
  let environment: StoreEnvironment

  /// Returns the committer of the store. Every error names the file.
  func open() throws(StoreError) -> Committer {
    try options.check()
    do {
      return try openLocated()
    } catch {
      throw error.context.path == nil ? error.adding { $0.path = file.path } : error
    }
  }

  private func openLocated() throws(StoreError) -> Committer {
    var finding = try FixedBlocks.read(file)
    var isNew = false
    if case .store(let blocks) = finding {
      try blocks.identity.checkSupported(forWriting: !options.isReadOnly)
      if try Recovery.isUnfinishedCreation(file, blocks) { finding = .nothing }
    }
    if case .nothing = finding {
      guard options.createsIfMissing, !options.isReadOnly else { throw notAStore("it is empty") }
      try StoreCreation(file: file, options: options, environment: environment).run()
      isNew = true
      finding = try FixedBlocks.read(file)
    }
    guard case .store(let blocks) = finding else { throw notAStore("it does not begin like one") }
    let committer = try recover(blocks)
    if isNew { committer.found.areHeadersDurable = true }
    return committer
  }

  private func notAStore(_ reason: String) -> StoreError {
    StoreError(.notAStore, "the file is not a store: \(reason)", context: .init(path: file.path))
  }

  private func recover(_ blocks: FixedBlocks) throws(StoreError) -> Committer {
    let recovery = try Recovery(file, blocks)
    let spill = SpillFile(
      pageSize: Int(blocks.identity.pageSize),
      makeFile: environment.makeSpillFile
    )
    let pool = PagePool(
      pageSize: Int(blocks.identity.pageSize),
      loader: FilePageLoader(file, pageSize: blocks.identity.pageSize, spill: spill),
      cacheBudget: options.cache
    )
    let checkpoint = recovery.chain.checkpoint
    let filePageCount = blocks.byteCount / UInt64(blocks.identity.pageSize)
    try checkpoint.content.check(filePageCount: filePageCount, pageSize: pool.geometry.pageSize)
    let trees = try Catalogue.read(checkpoint.content.catalogue.root, pool: pool)
    try trees.check(filePageCount: filePageCount, pageSize: pool.geometry.pageSize)
    guard trees.roots.allSatisfy({ $0.treeID < checkpoint.content.nextTreeID }) else {
      throw StoreError(.corrupt, "the catalogue has a tree with a number that was not given out yet")
    }
    let start = Self.version(of: checkpoint, trees)
    // A store that was closed has no transactions to replay.
    let replay = try recovery.chain.hasTransactions ? Replay(start, pool: pool, recovery.chain) : nil
    let version = replay?.version ?? start

    let committer = committer(blocks, recovery, pool: pool, spill: spill, version: version, trees)
    committer.dirtyPages.add(pageCount: replay?.dirtyPageCount ?? 0, runs: RunDemand())
    committer.dead.add(committer.filePages(of: replay?.retired ?? RetiredMemory()), from: version.generation)
    committer.events.opened(
      at: version.commit,
      replaying: replay?.transactionCount ?? 0,
      isHeaderIntact: recovery.isHeaderIntact
    )
    if !options.isReadOnly { try prepareForWriting(committer, blocks, recovery) }
    return committer
  }

  private func prepareForWriting(
    _ committer: Committer,
    _ blocks: FixedBlocks,
    _ recovery: Recovery
  ) throws(StoreError) {
    // The process that made the file, or renamed it, may have ended before the name was durable.
    if !committer.found.wasClosed { try environment.synchronizeFolder() }
    // A checkpoint that finds no room for its anchor would fence the store.
    if blocks.anchors.count < FileLayout.anchorOffsets.count {
      try file.allocate(0..<FileLayout.fixedByteCount)
    }
    if !recovery.isClean { try persistAgain(committer, recovery.chain.uses.map(\.extent)) }
    if !recovery.isHeaderIntact { try restoreHeader(blocks.identity) }
  }

  /// Makes the recovered state durable again, as a checkpoint in a log extent of its own, before anything is
  /// committed on top of it: after a failed sync it may exist only in the system's page cache.
  ///
  /// - Parameter run: the log extents that recovery has followed.
  private func persistAgain(_ committer: Committer, _ run: [Extent]) throws(StoreError) {
    let checkpointBytes = LogRecordHeader.encodedByteCount + CheckpointRecord.fixedByteCount
    do throws(StoreError) {
      try persistAgain(committer, in: committer.smallLogExtent(forRecord: checkpointBytes, besides: run))
    } catch  where error.code == .diskFull && !committer.log.isFenced {
      // A full disk still has the room that earlier commits had set aside for pages.
      try persistAgain(committer, in: committer.logExtentOnFullDisk(forRecord: checkpointBytes))
    }
  }

  private func persistAgain(_ committer: Committer, in use: LogExtentUse) throws(StoreError) {
    try committer.log.begin(use)
    try committer.checkpoint()
    // No link leads to this log extent, and a walk may not find it: it may lie in a gap, or before the end
    // that an older checkpoint knows if the newer one was never durable. So nothing may be committed before
    // an anchor that leads to it is durable.
    // guard: sync-anchor-of-recovery
    try committer.log.fencing { () throws(StoreError) in try committer.file.synchronize() }
  }

  /// Rewrites a damaged header from its copies. The write is durable: a header that a crash leaves as zeros
  /// would look like that of an unfinished creation.
  private func restoreHeader(_ identity: FormatIdentity) throws(StoreError) {
    try FileHeader.encoded(identity, created: environment.now()).withBytes { bytes throws(StoreError) in
      // guard: sync-restored-header, without it: try file.write(bytes, at: FileLayout.headerOffset)
      try file.writeDurably(bytes, at: FileLayout.headerOffset)
    }
  }

  private static func version(
    of checkpoint: LogChain.Checkpoint,
    _ trees: Catalogue.Content
  ) -> Version {
    Version(
      commit: checkpoint.content.commit,
      timestamp: checkpoint.content.timestamp,
      generation: 1,
      directory: TreeDirectory(sortedNames: trees.names),
      roots: trees.roots,
      nextTreeID: checkpoint.content.nextTreeID,
      sequence: checkpoint.position.sequence,
      durability: .full,
      link: CommitLink(checkpoint.content.commit)
    )
  }

  private func committer(
    _ blocks: FixedBlocks,
    _ recovery: Recovery,
    pool: PagePool,
    spill: SpillFile,
    version: Version,
    _ trees: Catalogue.Content
  ) -> Committer {
    var content = recovery.chain.checkpoint.content
    content.replayStart = content.replayStart ?? recovery.chain.tail
    let versions = VersionTable(version)
    let events = StoreEvents(environment.logger, path: file.path)
    return Committer(
      file: file,
      identity: blocks.identity,
      pool: pool,
      spill: spill,
      log: log(blocks, recovery, versions, events),
      versions: versions,
      environment: environment,
      events: events,
      limits: UpkeepLimits(options),
      isReadOnly: options.isReadOnly,
      anchors: FileAnchors(blocks.anchors, nextSlot: blocks.nextAnchorSlot),
      lastCheckpoint: LastCheckpoint(record: content, trees: trees),
      found: FoundFile(
        end: recovery.foundEnd,
        wasClosed: recovery.isClean && blocks.closingAnchor != nil
      ),
      extents: logExtents(recovery)
    )
  }

  /// Returns the log, which continues where recovery has found its end.
  private func log(
    _ blocks: FixedBlocks,
    _ recovery: Recovery,
    _ versions: VersionTable,
    _ events: StoreEvents
  ) -> LogWriter {
    LogWriter(
      file: file,
      identity: blocks.identity,
      tail: recovery.chain.tail,
      replayedByteCount: recovery.chain.replayedByteCount,
      closingAnchor: blocks.closingAnchor,
      onAdvance: { versions.advance(written: $0, durable: $1) },
      onFailure: { error in
        versions.fallBack()
        events.fenced(by: error)
      }
    )
  }

  /// Returns the log extents that recovery has found.
  private func logExtents(_ recovery: Recovery) -> LogExtentTable {
    let illegible = recovery.illegibleExtents.map {
      LogExtentUse(extent: $0, epoch: recovery.newestEpoch, salt: 0)
    }
    let checkpoint = recovery.chain.checkpoint
    return LogExtentTable(
      uses: recovery.uses + illegible,
      newestEpoch: recovery.newestEpoch,
      // A forged record must not free the part of the log that is still to be replayed.
      freeBelow: min(checkpoint.content.previousReplayEpoch, checkpoint.replayEpoch),
      replayEpoch: checkpoint.replayEpoch
    )
  }
}

/// Reads pages of a store's file, and spilled pages.
final class FilePageLoader: PageLoader {
  private let file: StoreFile
  private let spill: SpillFile
  private let pageSize: UInt64

  init(_ file: StoreFile, pageSize: UInt32, spill: SpillFile) {
    self.file = file
    self.spill = spill
    self.pageSize = UInt64(pageSize)
  }

  var path: String? { file.path }

  func loadPages(from number: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) {
    if number >= SpillFile.firstNumber { return try spill.read(from: number, into: buffer) }
    do {
      try file.readExactly(into: buffer, at: number * pageSize)
    } catch {
      throw error.adding { $0.page = number }
    }
  }
}

extension StoreOptions {
  func check() throws(StoreError) {
    guard FileLayout.isValidPageSize(pageSize) else {
      throw StoreError(
        .invalidOptions,
        "a page size must be a power of two from 4,096 to 65,536, not \(pageSize)"
      )
    }
    guard filePermissions & 0o600 == 0o600, filePermissions <= 0o777 else {
      throw StoreError(
        .invalidOptions,
        "the permissions \(String(filePermissions, radix: 8)) are invalid: "
          + "the owner must be allowed to read and write, and no bits above 777 may be set"
      )
    }
    guard checkpointLogBytes >= 0, dirtyMemory.isAtLeast(1 << 20), cache.isAtLeast(64 << 10),
      initialLogByteCount >= 16 << 10,
      initialLogByteCount <= 4 << 20
    else {
      throw StoreError(
        .invalidOptions,
        "a size is out of its limits: a negative checkpointLogBytes, a dirtyMemoryBytes below a mebibyte, or a cacheBytes below 64 KiB"
      )
    }
  }
}
