extension Store {
  /// Recounts the pages in use: those that the last checkpoint reaches, and the header pages of page extents.
  ///
  /// - Parameters:
  ///   - reached: the pages of the file that the last checkpoint's trees reach.
  ///   - isComplete: whether `reached` is complete. Otherwise pages that seem to be in use without being
  ///     reached aren't reported.
  func verifySpace(reached: Set<UInt64>, isComplete: Bool) throws(StoreError) -> [IntegrityProblem] {
    var problems: [IntegrityProblem] = []
    let recorded: PageBitmap
    do throws(StoreError) {
      recorded = try committer.withSpace { $0.map.recordable }
    } catch {
      problems.append(IntegrityProblem(error, tree: "space", pageSize: committer.pageSize))
      recorded = try SpaceTree.read(committer.lastCheckpoint.record.spaceTree.root, pool: pool)
    }
    problems += verifyChunks()
    let log = committer.extents.extents
    for page in reached.sorted() {
      let offset = page &* committer.pageSize
      if !recorded.contains(page) {
        problems.append(problem("A page is in use and recorded as free.", page))
      }
      if let extent = log.first(where: { $0.range.contains(offset) }) {
        problems.append(problem("A page of a tree lies in the log extent at byte \(extent.offset).", page))
      }
    }
    problems += try verifyHeaderPages(recorded)
    guard isComplete else { return problems }
    recorded.forEachRun { run in
      for page in run where !reached.contains(page) {
        let header = try? ExtentWalk.extent(at: page * committer.pageSize, in: file, committer.identity)
        if header == nil {
          problems.append(problem("A page is recorded as in use, but nothing refers to it.", page))
        }
      }
    }
    return problems
  }

  private func problem(_ message: String, _ page: UInt64) -> IntegrityProblem {
    IntegrityProblem(message: message, page: page, of: committer.pageSize)
  }

  /// Checks that the space tree has an entry for every chunk of the file.
  private func verifyChunks() -> [IntegrityProblem] {
    let record = committer.lastCheckpoint.record
    let needed = SpaceTree.chunkCount(end: record.end / committer.pageSize)
    let count = record.spaceTree.root.count
    if count == 0 || count >= needed { return [] }
    let message = "The record of pages in use has \(count) entries, but the file needs \(needed)."
    return [IntegrityProblem(message: message, tree: "space")]
  }

  /// Checks that the header pages of page extents are recorded as in use, and that the last page extent is at
  /// the offset that the checkpoint records.
  private func verifyHeaderPages(_ recorded: PageBitmap) throws(StoreError) -> [IntegrityProblem] {
    var problems: [IntegrityProblem] = []
    let record = committer.lastCheckpoint.record
    for header in try extents() where header.kind == .pages && header.extent.offset < record.end {
      let page = header.extent.offset / committer.pageSize
      // A crash may leave headers that no checkpoint knows; opening the store for writing adds them.
      if committer.isReadOnly && !committer.found.wasClosed { continue }
      if !recorded.contains(page) {
        problems.append(problem("The header page of an extent is recorded as free.", page))
      }
    }
    guard record.tailOffset > 0, record.tailOffset < record.end else { return problems }
    let page = record.tailOffset / committer.pageSize
    let found = try ExtentWalk.extent(at: record.tailOffset, in: file, committer.identity)
    if found == nil || !recorded.contains(page) {
      problems.append(problem("The last extent of pages is recorded at a page that is no header.", page))
    }
    return problems
  }

  /// Compares the accounts of the file's bytes with the pages that the newest version reaches, and with the
  /// uses of all pages.
  func verifyLedger(livePageCount: UInt64) throws(StoreError) -> [IntegrityProblem] {
    let ledger = try committer.spaceLedger()
    let reserved = try committer.withSpace { committer.reservedFreePageCount(of: $0) + $0.logRoomPageCount }
    let record = committer.lastCheckpoint.record
    let live = livePageCount + record.catalogue.pageCount + record.spaceTree.pageCount
    var problems: [IntegrityProblem] = []
    if ledger.liveBytes != live * committer.pageSize {
      let counted = ledger.liveBytes / committer.pageSize
      let message = "\(live) pages are live, but the space ledger has \(counted)."
      problems.append(IntegrityProblem(message: message))
    }
    // No checkpoint is under way, so none has taken pages.
    let counted = ledger.reservedBytes / committer.pageSize
    let lost = counted - min(counted, reserved)
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

  /// Returns the extents in use that have a legible header.
  func extents() throws(StoreError) -> [ExtentHeader] {
    let end = endOfExtents
    let first = FileLayout.firstExtentOffset(pageSize: committer.pageSize)
    var walk = try ExtentWalk(file, committer.identity, from: first)
    var extents: [ExtentHeader] = []
    while let found = try walk.next(), found.header.extent.offset < end { extents.append(found.header) }
    return extents
  }

  /// The end of the last extent, in bytes; according to the last checkpoint if the room in the file can't be
  /// loaded.
  var endOfExtents: UInt64 { (try? committer.withSpace { $0.end }) ?? committer.lastCheckpoint.record.end }
}
