extension Store {
  /// Reads everything in the store and recounts it: the anchors, the extents, the log, and every page of every tree, in
  /// the file and in memory. Returns every problem; none means that the store is whole.
  ///
  /// Nobody writes meanwhile.
  ///
  /// - Parameter includingWarnings: whether to return, too, what is whole but rests on the last of two copies. A crash may leave that, and
  ///   the next checkpoints mend it.
  public func verify(includingWarnings: Bool = false) throws(StoreError) -> [IntegrityProblem] {
    try file.checkOpen()
    return try withTurn { () throws(StoreError) in
      if !options.isReadOnly && !committer.log.isFenced { try committer.log.drain() }
      return try committer.withoutCheckpoint { () throws(StoreError) in
        try verifyLog() + verifyTrees() + (includingWarnings ? lastCopies() : [])
      }
    }
  }

  /// The current version with what is in memory; then the last checkpoint's, read again from the file, with what it says of
  /// the pages in use.
  private func verifyTrees() -> [IntegrityProblem] {
    let version = versions.latest
    var current = TreeVerifier(pool: pool)
    for (slot, name) in version.directory.names.enumerated() {
      if let name { current.verify(version.roots[slot], name: name) }
    }
    let loader = FilePageLoader(file, pageSize: committer.identity.pageSize, spill: committer.spill)
    var stored = TreeVerifier(pool: PagePool(pageSize: Int(committer.identity.pageSize), loader: loader))
    var problems: [IntegrityProblem] = []
    func verify(_ root: TreeRoot, name: String, pageCount: UInt64) {
      let before = stored.pageCount
      stored.verify(root, name: name)
      if stored.problems.isEmpty, UInt64(stored.pageCount - before) != pageCount {
        let message = "The tree has \(stored.pageCount - before) pages, but is said to have \(pageCount)."
        problems.append(IntegrityProblem(message: message, tree: name))
      }
    }
    let record = committer.lastRecord
    verify(record.catalogue.root, name: "catalogue", pageCount: record.catalogue.pageCount)
    verify(record.spaceTree.root, name: "space", pageCount: record.spaceTree.pageCount)
    let catalogued = committer.catalogued
    for (slot, name) in catalogued.names.enumerated() {
      if let name { verify(catalogued.roots[slot], name: name, pageCount: catalogued.pageCounts[slot]) }
    }
    var seen: Set<IntegrityProblem> = []
    let found = (stored.problems + current.problems).filter { seen.insert($0).inserted }
    if !found.isEmpty { return found + problems }
    do throws(StoreError) {
      return try problems + verifySpace(reached: stored.visited)
        + verifyLedger(livePageCount: UInt64(current.storedPageCount))
    } catch {
      return problems + [IntegrityProblem(message: error.message, tree: "space")]
    }
  }

  /// Recounts the pages in use: those that the last checkpoint reaches, and the header pages of page extents.
  private func verifySpace(reached: Set<UInt64>) throws(StoreError) -> [IntegrityProblem] {
    let recorded = try committer.withSpace { $0.map.recordable }
    var problems: [IntegrityProblem] = []
    for page in reached where !recorded.contains(page) {
      problems.append(.init(message: "A page is in use and recorded as free.", page: page))
    }
    recorded.forEachRun { run in
      for page in run where !reached.contains(page) {
        let offset = page * committer.pageSize
        let header = try? ExtentWalk.extent(at: offset, in: file, committer.identity)
        if header == nil {
          problems.append(.init(message: "A page is recorded as in use that nothing reaches.", page: page))
        }
      }
    }
    return problems
  }

  /// Compares the accounts of the file's bytes with the pages that the newest version reaches, and with what each page is used for.
  private func verifyLedger(livePageCount: UInt64) throws(StoreError) -> [IntegrityProblem] {
    let ledger = try committer.spaceLedger()
    let reserved = try committer.withSpace { committer.reservedFreePageCount(of: $0) }
    let record = committer.lastRecord
    let live = livePageCount + record.catalogue.pageCount + record.spaceTree.pageCount
    var problems: [IntegrityProblem] = []
    if ledger.liveBytes != live * committer.pageSize {
      let message = "\(live) pages are live, but \(ledger.liveBytes / committer.pageSize) are accounted for."
      problems.append(IntegrityProblem(message: message))
    }
    // No checkpoint has taken any.
    let lost = ledger.reservedBytes / committer.pageSize - reserved
    if lost > 0 {
      problems.append(IntegrityProblem(message: "\(lost) pages are neither in use nor free."))
    }
    do throws(StoreError) {
      _ = try committer.pageUses()
    } catch  where error.code == .corrupt {
      problems.append(
        IntegrityProblem(message: "The uses of the file's pages don't add up: \(error.message).")
      )
    }
    return problems
  }

  /// Recovers from the bytes as an opening would, and compares with what is in memory.
  private func verifyLog() throws(StoreError) -> [IntegrityProblem] {
    guard case .store(let blocks) = try FixedBlocks.read(file) else {
      return [IntegrityProblem(message: "The file does not begin like a store.")]
    }
    var problems: [IntegrityProblem] = []
    if !blocks.isHeaderIntact { problems.append(.init(message: "The file's header is damaged.")) }
    if blocks.anchors.isEmpty { problems.append(.init(message: "Both anchors are damaged.")) }
    do {
      let recovery = try Recovery(file, blocks, trustsClosingMark: false)
      let tail = committer.log.tail
      if recovery.chain.tail != tail && !committer.log.isFenced {
        problems.append(
          .init(
            message: "The log in the file ends at record \(recovery.chain.tail.position.sequence), "
              + "but should at \(tail.position.sequence)."
          )
        )
      }
      problems += try verifyExtents(recovery)
    } catch {
      problems.append(.init(message: error.message))
    }
    return problems
  }

  /// Extents must not overlap, and lie within the part of the file that is in use.
  private func verifyExtents(_ recovery: Recovery) throws(StoreError) -> [IntegrityProblem] {
    var problems: [IntegrityProblem] = []
    // Those of the log that were made since the last checkpoint are listed nowhere but in memory.
    let made = committer.extents.extents.filter { !recovery.illegibleExtents.contains($0) }
    for extent in recovery.illegibleExtents + made {
      // A crash may tear the header of the use that just began, which then holds nothing, but never the static one.
      let isThere = try ExtentWalk.extent(at: extent.offset, in: file, recovery.identity) != nil
      if !isThere {
        problems.append(.init(message: "The log extent at byte \(extent.offset) has no legible header."))
      }
    }
    var taken = recovery.uses.map(\.extent) + recovery.illegibleExtents
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(recovery.identity.pageSize))
    let end = try committer.withSpace { $0.end }
    var walk = try ExtentWalk(file, recovery.identity, from: first)
    while let found = try walk.next(), found.header.extent.offset < end {
      if !taken.contains(found.header.extent) { taken.append(found.header.extent) }
    }
    taken.sort { $0.offset < $1.offset }
    for (left, right) in zip(taken, taken.dropFirst()) where left.end > right.offset {
      problems.append(.init(message: "The extents at bytes \(left.offset) and \(right.offset) overlap."))
    }
    return problems
  }
}
