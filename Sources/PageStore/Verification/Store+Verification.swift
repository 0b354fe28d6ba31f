extension Store {
  /// Reads everything in the store and recounts it: the anchors, the extents, the log, and every page of every tree, in
  /// the file and in memory. Returns every problem; none means that the store is whole.
  ///
  /// Nobody writes meanwhile.
  public func verify() throws(StoreError) -> [IntegrityProblem] {
    try file.checkOpen()
    return try withTurn { () throws(StoreError) in
      if !options.isReadOnly && !committer.log.isFenced { try committer.log.drain() }
      return try committer.withoutCheckpoint { () throws(StoreError) in try verifyLog() + verifyTrees() }
    }
  }

  /// The current version with what is in memory; then the last checkpoint's, read again from the file.
  private func verifyTrees() -> [IntegrityProblem] {
    let version = versions.latest
    var current = TreeVerifier(pool: pool)
    for (slot, name) in version.directory.names.enumerated() {
      if let name { current.verify(version.roots[slot], name: name) }
    }
    let loader = FilePageLoader(file, pageSize: committer.identity.pageSize, spill: committer.spill)
    var stored = TreeVerifier(pool: PagePool(pageSize: Int(committer.identity.pageSize), loader: loader))
    stored.verify(committer.catalogue, name: "catalogue")
    let catalogued = committer.catalogued
    for (name, root) in zip(catalogued.names, catalogued.roots) {
      if let name { stored.verify(root, name: name) }
    }
    var seen: Set<IntegrityProblem> = []
    return (stored.problems + current.problems).filter { seen.insert($0).inserted }
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
    for extent in recovery.illegibleExtents {
      // A crash may tear the header of the use that just began, which then holds nothing, but never the static one.
      let isThere = try ExtentWalk.extent(at: extent.offset, in: file, recovery.identity) != nil
      if !isThere {
        problems.append(.init(message: "The log extent at byte \(extent.offset) has no legible header."))
      }
    }
    var taken = recovery.uses.map(\.extent) + recovery.illegibleExtents
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(recovery.identity.pageSize))
    var walk = try ExtentWalk(file, recovery.identity, from: first)
    while let found = try walk.next(), found.header.extent.offset < committer.space.end {
      let extent = found.header.extent
      let isGap = committer.space.gaps.contains { $0.range.contains(extent.offset) }
      if !isGap && !taken.contains(extent) { taken.append(extent) }
    }
    taken.sort { $0.offset < $1.offset }
    for (left, right) in zip(taken, taken.dropFirst()) where left.end > right.offset {
      problems.append(.init(message: "The extents at bytes \(left.offset) and \(right.offset) overlap."))
    }
    return problems
  }
}
