/// What a file's bytes say about the store in it. A pure function of the bytes: it writes nothing, and gives the same
/// answer however often it is cut short.
///
/// 1. Begin at the checkpoint of the newest anchor that leads to one; without any, at the newest checkpoint that a walk
///    over the extents finds.
/// 2. Follow the log to the first record that is not whole. If the newest anchor says that its checkpoint's record is the
///    last, and so it is, that is all.
/// 3. If a newer checkpoint lies beyond, and all records from where its replay begins, go on from there: a checkpoint
///    needs nothing that came before.
/// 4. Otherwise that record was either never durable (a *torn tail*: whatever follows was never acknowledged, and is
///    dropped) or it was and has been damaged since (*rot*: refused). A later record, or an anchor, that was written when
///    the missing record was known durable decides.
struct Recovery {
  let identity: FormatIdentity
  let chain: LogChain
  /// Nothing needs replaying, and the log can be continued where it ends.
  let isClean: Bool
  let isHeaderIntact: Bool
  /// The newest use of every log extent that is known.
  let uses: [LogExtentUse]
  /// The highest epoch of any use that is known, of those too in which nothing ever got to the disk: the next one's
  /// must be greater, because the log may lead there.
  let newestEpoch: UInt32
  /// Log extents whose use is illegible.
  let illegibleExtents: [Extent]
  /// Extents behind the end that the checkpoint knows, whose headers are there and whose use never began. New extents
  /// must not begin inside of them: their headers would lead the next walk past those.
  let strays: [Extent]
  let fileByteCount: UInt64
  /// Bytes that were read, hashed and compared to find all that.
  let workByteCount: UInt64

  /// Without `trustsClosingMark` the log is searched behind its end even if the store was closed.
  init(_ file: StoreFile, _ blocks: FixedBlocks, trustsClosingMark: Bool = true) throws(StoreError) {
    var search = LogSearch(file: file, blocks: blocks, trustsClosingMark: trustsClosingMark)
    guard let chain = try search.newestChain() else {
      throw StoreError(.corrupt, "no checkpoint is legible", context: .init(path: file.path))
    }
    self.init(file, blocks, chain, search)
    try checkExtents()
  }

  /// Whether the file is what a creation left that was cut short: its header was never written, which happens only when
  /// everything else is durable, and nothing was ever committed.
  static func isUnfinishedCreation(_ file: StoreFile, _ blocks: FixedBlocks) throws(StoreError) -> Bool {
    guard blocks.isHeaderBlank, blocks.byteCount <= StoreCreation.byteLimit else { return false }
    var search = LogSearch(file: file, blocks: blocks, trustsClosingMark: false)
    if let chain = try search.newestChain() {
      return chain.checkpoint.content.commit == 0 && chain.transactions.isEmpty
    }
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(blocks.identity.pageSize))
    var walk = try ExtentWalk(file, blocks.identity, from: first)
    while let found = try walk.next() {
      if found.header.kind == .pages { return false }
    }
    return true
  }

  private init(_ file: StoreFile, _ blocks: FixedBlocks, _ chain: LogChain, _ search: LogSearch) {
    identity = blocks.identity
    self.chain = chain
    isHeaderIntact = blocks.isHeaderIntact
    isClean =
      chain.followerCount == 0 && chain.transactions.isEmpty
      && chain.checkpoint.position == blocks.anchors.first?.checkpoint
      && !search.foundLeftovers
    var linked = chain.uses
    var strays = search.strays
    let listed = chain.checkpoint.content.logExtents
    if let last = linked.last, chain.tail.position.offset == last.firstRecordOffset,
      !listed.contains(last.extent), !search.uses.contains(last)
    {
      // The link reached the disk, the new extent's headers did not, and so nothing ever got there.
      linked.removeLast()
      strays.append(last.extent)
    }
    // What a search without anchors meets before the checkpoint's end and the checkpoint doesn't list is no log any more.
    let end = chain.checkpoint.content.end
    let table = listed.sorted { $0.offset < $1.offset }
    let present = search.uses.filter { $0.extent.offset >= end || table.hasExtent($0.extent) }
    let newest = Self.newest(present + linked)
    let legible = newest.map(\.extent)
    uses = newest
    newestEpoch = (search.uses + chain.uses).reduce(0) { max($0, $1.epoch) }
    illegibleExtents = table.filter { legible.extent(at: $0.offset) == nil }
    self.strays = strays
    fileByteCount = blocks.byteCount
    workByteCount = search.budget.byteCount
  }

  /// The newest use of each extent, in order of the file; of two with the same epoch, the later one. O(*n* log *n*).
  private static func newest(_ uses: [LogExtentUse]) -> [LogExtentUse] {
    let ordered = uses.enumerated().sorted {
      ($0.element.extent.offset, $0.element.epoch, $0.offset)
        < ($1.element.extent.offset, $1.element.epoch, $1.offset)
    }
    var newest: [LogExtentUse] = []
    for (_, use) in ordered {
      if newest.last?.extent.offset == use.extent.offset { newest.removeLast() }
      newest.append(use)
    }
    return newest
  }

  /// Throws `corrupt` if log extents overlap, or if the store claims to reach far behind its file.
  private func checkExtents() throws(StoreError) {
    let log = (uses.map(\.extent) + illegibleExtents).sorted { $0.offset < $1.offset }
    for (left, right) in zip(log, log.dropFirst()) where left.end > right.offset {
      throw StoreError(.corrupt, "two log extents overlap", context: .init(offset: right.offset))
    }
    let reach = log.reduce(chain.checkpoint.content.end) { max($0, $1.end) }
    guard reach <= farthestEnd else {
      throw StoreError(
        .corrupt,
        "the store claims to reach up to byte \(reach), but its file has \(fileByteCount)"
      )
    }
  }

  /// Where the last of what was found ends. Of an extent whose use never began that claims more than ``farthestEnd``, which may be what is
  /// left of a large file that was being cut, no more counts.
  var foundEnd: UInt64 {
    let log = uses.reduce(chain.checkpoint.content.end) { max($0, $1.extent.end) }
    return max(log, min(farthestEnd, strays.reduce(0) { max($0, $1.end) }))
  }

  /// No store allocates more than 2²⁴ pages ahead of those that it writes; a crash may take the length of the file that tells of them.
  /// What is noted of each page in memory must not be taken on the word of a number alone.
  private var farthestEnd: UInt64 {
    let pageSize = UInt64(identity.pageSize)
    return fileByteCount / pageSize * pageSize + pageSize << 24
  }
}

extension [Extent] {
  /// The extent at this offset of those that are in order. O(log *n*).
  fileprivate func extent(at offset: UInt64) -> Extent? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].offset == offset ? self[low] : nil
  }

  /// Whether the extent is one of those that are in order. O(log *n*).
  fileprivate func hasExtent(_ extent: Extent) -> Bool { self.extent(at: extent.offset) == extent }
}

/// The search for the newest state that the log proves.
private struct LogSearch {
  let file: StoreFile
  let blocks: FixedBlocks
  let trustsClosingMark: Bool
  let budget: LogReadBudget
  /// Uses of log extents that were met by their headers.
  private(set) var uses: [LogExtentUse] = []
  /// Other extents that were met so.
  private(set) var strays: [Extent] = []
  /// Whether whole records lie behind the end of the log, never acknowledged.
  private(set) var foundLeftovers = false

  init(file: StoreFile, blocks: FixedBlocks, trustsClosingMark: Bool) {
    self.file = file
    self.blocks = blocks
    self.trustsClosingMark = trustsClosingMark
    budget = LogReadBudget(fileByteCount: blocks.byteCount)
  }

  /// Nil if there is no checkpoint.
  mutating func newestChain() throws(StoreError) -> LogChain? {
    var start = try startFromAnchors()
    if start == nil { start = try startFromWalk() }
    guard var chain = start else { return nil }
    while true {
      try collectUses(beside: chain)
      if isClosed(chain) { return chain }
      let evidence = try evidence(beyond: chain)
      if let next = try newestChain(of: evidence) {
        chain = next
        continue
      }
      foundLeftovers = evidence.hasRecords
      if evidence.durableSequence >= chain.tail.position.sequence { throw rot(at: chain.tail.position) }
      return chain
    }
  }

  private func rot(at position: LogPosition) -> StoreError {
    StoreError(
      .corrupt,
      "record \(position.sequence) of the log is damaged, and what follows proves that it had been durable",
      context: .init(path: file.path, offset: position.offset)
    )
  }

  private func startFromAnchors() throws(StoreError) -> LogChain? {
    for anchor in blocks.anchors {
      if let chain = try LogChain.follow(from: anchor.checkpoint, in: file, blocks.identity, budget) {
        return chain
      }
    }
    return nil
  }

  private mutating func startFromWalk() throws(StoreError) -> LogChain? {
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(blocks.identity.pageSize))
    try collectUses(walkingFrom: first)
    var evidence = Evidence()
    for use in uses {
      let image = try LogExtentImage(use, from: file, budget)
      try evidence.search(image, from: use.firstRecordOffset, beyond: 0)
    }
    return try newestChain(of: evidence)
  }

  /// The run of the newest checkpoint that leads to one. What an earlier crash left behind may have higher numbers, but
  /// lies in an earlier use.
  private func newestChain(of evidence: Evidence) throws(StoreError) -> LogChain? {
    let newestFirst = evidence.checkpoints.sorted {
      ($0.use.epoch, $0.sequence) > ($1.use.epoch, $1.sequence)
    }
    for checkpoint in newestFirst {
      if let chain = try LogChain.follow(from: checkpoint, in: file, blocks.identity, budget) {
        return chain
      }
    }
    return nil
  }

  /// Whether the store was closed after the chain's checkpoint, so that nothing lies behind its end. The log has the last
  /// word: a mark that has come back, because an old sector has, is not believed.
  private func isClosed(_ chain: LogChain) -> Bool {
    guard trustsClosingMark, let anchor = blocks.anchors.first, anchor.isClosed else { return false }
    // guard: check-closing-mark
    guard chain.checkpoint.position == anchor.checkpoint,
      chain.tail.previousChecksum == anchor.recordChecksum,
      chain.transactions.isEmpty
    else { return false }
    return !uses.contains { $0.epoch > chain.tail.position.use.epoch }
  }

  private mutating func collectUses(walkingFrom offset: UInt64) throws(StoreError) {
    try budget.spend(blocks.byteCount - min(blocks.byteCount, offset))
    var walk = try ExtentWalk(file, blocks.identity, from: offset)
    while let found = try walk.next() {
      if let use = found.use { uses.append(use) } else { strays.append(found.header.extent) }
    }
    dropDuplicates()
  }

  /// The uses of the log extents that the chain's checkpoint lists, and of those allocated since.
  private mutating func collectUses(beside chain: LogChain) throws(StoreError) {
    for extent in chain.checkpoint.content.logExtents {
      try budget.spend(UInt64(ExtentHeader.byteCount))
      if let use = try ExtentWalk.use(of: extent, in: file, blocks.identity) { uses.append(use) }
    }
    // From each checkpoint's own end: a walk that began before an older one's may be led over it by what a crash left.
    try collectUses(walkingFrom: chain.checkpoint.content.end)
  }

  /// O(*n* log *n*).
  private mutating func dropDuplicates() {
    uses.sort {
      ($0.extent.offset, $0.epoch, $0.extent.byteCount, $0.salt)
        < ($1.extent.offset, $1.epoch, $1.extent.byteCount, $1.salt)
    }
    var last: LogExtentUse?
    uses.removeAll { use in
      defer { last = use }
      return use == last
    }
  }

  /// What lies behind the end of a chain: in the rest of its last extent, and in younger uses.
  private func evidence(beyond chain: LogChain) throws(StoreError) -> Evidence {
    let tail = chain.tail.position
    var evidence = Evidence()
    evidence.durableSequence = blocks.anchors.first?.checkpoint.sequence ?? 0
    try evidence.search(chain.lastImage, from: tail.offset, beyond: tail.sequence)
    for use in uses where use.epoch > tail.use.epoch {
      let image = try LogExtentImage(use, from: file, budget)
      try evidence.search(image, from: use.firstRecordOffset, beyond: tail.sequence)
    }
    return evidence
  }
}

/// What undamaged records outside a chain prove.
private struct Evidence {
  /// Records up to this one were durable once.
  var durableSequence: UInt64 = 0
  var checkpoints: [LogPosition] = []
  var hasRecords = false

  mutating func search(
    _ image: LogExtentImage,
    from offset: UInt64,
    beyond sequence: UInt64
  ) throws(StoreError) {
    try image.forEachRecord(from: offset) { offset, record in
      guard record.header.sequence >= sequence else { return }
      hasRecords = true
      durableSequence = max(durableSequence, record.header.durableSequence)
      if record.header.kind == .checkpoint {
        checkpoints.append(LogPosition(use: image.use, offset: offset, sequence: record.header.sequence))
      }
    }
  }
}
