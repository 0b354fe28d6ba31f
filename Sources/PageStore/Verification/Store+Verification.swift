extension Store {
  /// Reads and checks the complete store: the anchors, the extents, the log, and every page of every tree, in
  /// the file and in memory. Returns all problems; none if the store is sound. Data that can't be read is a
  /// problem, too, and the rest is checked nevertheless.
  ///
  /// Writers, checkpoints and reads of the store's statistics wait meanwhile. O(size of the store), even if
  /// the file is forged.
  ///
  /// - Parameter includingWarnings: whether to return warnings, too: about sound data of which only the last
  ///   of two copies is left. A crash may leave that; the next checkpoints mend it.
  /// - Throws: `closed`, or the error with which the log's last records couldn't be written.
  public func verify(includingWarnings: Bool = false) throws(StoreError) -> [IntegrityProblem] {
    try checkOpen()
    return try withWriterLock { () throws(StoreError) in
      if !options.isReadOnly && !committer.log.isFenced { try committer.log.drain() }
      return try committer.withoutCheckpoint { () throws(StoreError) in
        var problems = problems { () throws(StoreError) in try verifyLog() } + verifyTrees()
        if includingWarnings { problems += self.problems { () throws(StoreError) in try lastCopies() } }
        var seen: Set<IntegrityProblem> = []
        return problems.filter { seen.insert($0).inserted }
      }
    }
  }

  /// Returns the problems that `part` of the verification returns, or one problem for the error that it
  /// throws.
  func problems(
    _ tree: String? = nil,
    _ part: () throws(StoreError) -> [IntegrityProblem]
  ) -> [IntegrityProblem] {
    do throws(StoreError) { return try part() } catch {
      return [IntegrityProblem(error, tree: tree, pageSize: committer.pageSize)]
    }
  }

  /// Checks the newest version with its pages in memory; then the last checkpoint's trees, read again from
  /// the file, and its record of pages in use.
  private func verifyTrees() -> [IntegrityProblem] {
    let version = versions.latest
    var current = TreeVerifier(pool: pool)
    for (slot, name) in version.directory.names.enumerated() {
      if let name { current.verify(version.roots[slot], name: name, at: version.commit) }
    }
    var stored = StoredTreesVerifier(self)
    stored.verifyCheckpoint()
    let isWhole = stored.trees.problems.isEmpty && current.problems.isEmpty
    var problems = stored.problems + current.problems
    problems += self.problems("space") { () throws(StoreError) in
      try verifySpace(reached: stored.trees.visited, isComplete: isWhole)
    }
    if isWhole {
      let live = UInt64(current.storedPageCount)
      problems += self.problems("space") { () throws(StoreError) in try verifyLedger(livePageCount: live) }
    }
    return problems
  }
}

/// Reads the trees of the last checkpoint again from the file.
private struct StoredTreesVerifier {
  private let committer: Committer
  private let file: StoreFile
  private(set) var trees: TreeVerifier
  private var otherProblems: [IntegrityProblem] = []

  var problems: [IntegrityProblem] { trees.problems + otherProblems }

  init(_ store: Store) {
    committer = store.committer
    file = store.file
    trees = TreeVerifier(pool: Self.pool(committer, file))
  }

  private static func pool(_ committer: Committer, _ file: StoreFile) -> PagePool {
    let pageSize = committer.identity.pageSize
    let loader = FilePageLoader(file, pageSize: pageSize, spill: committer.spill)
    return PagePool(pageSize: Int(pageSize), loader: loader)
  }

  mutating func verifyCheckpoint() {
    let record = committer.lastCheckpoint.record
    verify(record.catalogue.root, name: "catalogue", pageCount: record.catalogue.pageCount)
    verify(record.spaceTree.root, name: "space", pageCount: record.spaceTree.pageCount)
    let catalogued = committer.lastCheckpoint.trees
    for (slot, name) in catalogued.names.enumerated() {
      if let name {
        verify(catalogued.roots[slot], name: name, pageCount: UInt64(catalogued.pageCounts[slot]))
      }
    }
    // Checked apart, because it shares pages with the newer space tree.
    var previous = TreeVerifier(pool: Self.pool(committer, file))
    previous.verify(record.previousSpaceTree.root, name: "space", at: record.commit)
    otherProblems += previous.problems
    if previous.problems.isEmpty {
      verifyNamesItself(record.previousSpaceTree.root, reached: previous.visited)
    }
  }

  /// Checks that a space tree records its own pages as in use.
  private mutating func verifyNamesItself(_ root: TreeRoot, reached: Set<UInt64>) {
    do throws(StoreError) {
      let recorded = try SpaceTree.read(root, pool: Self.pool(committer, file))
      for page in reached.sorted() where !recorded.contains(page) {
        let message = "The previous checkpoint's record of pages in use lacks one of the record's own pages."
        otherProblems.append(.init(message: message, tree: "space", page: page, of: committer.pageSize))
      }
    } catch {
      otherProblems.append(IntegrityProblem(error, tree: "space", pageSize: committer.pageSize))
    }
  }

  private mutating func verify(_ root: TreeRoot, name: String, pageCount: UInt64) {
    let (before, problemCount) = (trees.pageCount, trees.problems.count)
    trees.verify(root, name: name, at: committer.lastCheckpoint.record.commit)
    let found = trees.pageCount - before
    // Pages that can't be read aren't counted.
    guard trees.problems.count == problemCount, UInt64(found) != pageCount else { return }
    otherProblems.append(
      IntegrityProblem(message: "The tree has \(found) pages, but is recorded with \(pageCount).", tree: name)
    )
  }
}
