/// The state of the store that a file's bytes prove. A pure function of the bytes: it writes nothing, and
/// gives the same answer after an interruption.
///
/// 1. Begin at the checkpoint of the newest anchor that leads to one; if none does, at the newest checkpoint
///    that a walk over the extents finds.
/// 2. Follow the log to the first record that is incomplete. If the newest anchor has the closing mark, and
///    its checkpoint's record is indeed the last, stop.
/// 3. If there is a newer checkpoint beyond that record, with all records from the start of its replay,
///    continue from it: a checkpoint needs no earlier records.
/// 4. Otherwise that record either never was durable (a *torn tail*: the records after it were never
///    acknowledged, and are dropped), or it was durable and has been damaged since (*rot*: the file is
///    refused). It was durable if a later record or an anchor says so.
struct Recovery {
  let identity: FormatIdentity
  let chain: LogChain
  /// True if nothing needs replaying, and the log can be continued where it ends.
  let isClean: Bool
  let isHeaderIntact: Bool
  /// The newest use of every log extent that is known.
  let uses: [LogExtentUse]
  /// The highest epoch of any known use, including uses of which nothing reached the disk. The next epoch
  /// must be greater, because the log may link to those uses.
  let newestEpoch: UInt32
  /// Log extents whose use is illegible.
  let illegibleExtents: [Extent]
  /// Extents that have headers and lie after the end that the checkpoint knows. Their use never began, or was
  /// over before the checkpoint. New extents must not begin inside them: the old headers would lead the next
  /// walk past the new extents.
  let strays: [Extent]
  let fileByteCount: UInt64
  /// Bytes that recovery has read, hashed and compared.
  let workByteCount: UInt64

  /// - Parameter trustsClosingMark: false to search for records after the end of the log even if the store
  /// was closed.
  init(_ file: StoreFile, _ blocks: FixedBlocks, trustsClosingMark: Bool = true) throws(StoreError) {
    var search = LogSearch(file: file, blocks: blocks, trustsClosingMark: trustsClosingMark)
    guard let chain = try search.newestChain() else {
      throw StoreError(.corrupt, "no checkpoint is legible", context: .init(path: file.path))
    }
    self.init(blocks, chain, search)
    try checkExtents()
  }

  /// Returns whether the creation of the file was interrupted. The header is written only when everything
  /// else is durable: in such a file it was never written, and nothing was ever committed.
  static func isUnfinishedCreation(_ file: StoreFile, _ blocks: FixedBlocks) throws(StoreError) -> Bool {
    guard blocks.isHeaderBlank, blocks.byteCount <= StoreCreation.byteLimit else { return false }
    var search = LogSearch(file: file, blocks: blocks, trustsClosingMark: false)
    if let chain = try search.newestChain() {
      return chain.checkpoint.content.commit == 0 && !chain.hasTransactions
    }
    // The only record of an unfinished creation is a checkpoint, which would have been found.
    if search.foundRecords { return false }
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(blocks.identity.pageSize))
    var walk = try ExtentWalk(file, blocks.identity, from: first)
    while let found = try walk.next() {
      if found.header.kind == .pages { return false }
    }
    return true
  }

  private init(_ blocks: FixedBlocks, _ chain: LogChain, _ search: LogSearch) {
    identity = blocks.identity
    self.chain = chain
    isHeaderIntact = blocks.isHeaderIntact
    isClean =
      chain.followerCount == 0 && !chain.hasTransactions
      && chain.checkpoint.position == blocks.anchors.newest?.checkpoint
      && !search.foundLeftovers
    var linked = chain.uses
    var strays = search.strays
    let listed = chain.checkpoint.content.logExtents
    if let last = linked.last, chain.tail.position.offset == last.firstRecordOffset,
      !listed.contains(last.extent), !search.uses.contains(last)
    {
      // The link reached the disk, but the headers of the new extent didn't: so no record was written there.
      linked.removeLast()
      strays.append(last.extent)
    }
    // A search without anchors may find log extents before the checkpoint's end that the checkpoint doesn't
    // list: they are no longer part of the log.
    let end = chain.checkpoint.content.end
    let table = listed.sorted { $0.offset < $1.offset }
    let present = search.uses.filter { table.hasExtent($0.extent) }
    let behind = search.uses.filter { $0.extent.offset >= end && !table.hasExtent($0.extent) }
    // The checkpoint lists every log extent of its time. So an older use behind its end is a remnant of an
    // extent that it gave up and cut off.
    let isNewer = { (use: LogExtentUse) in use.epoch >= chain.checkpoint.replayEpoch }
    strays += behind.filter { !isNewer($0) }.map(\.extent)
    let newest = Self.newest(present + behind.filter(isNewer) + linked)
    let legible = newest.map(\.extent)
    uses = newest
    newestEpoch = (search.uses + chain.uses).reduce(0) { max($0, $1.epoch) }
    illegibleExtents = table.filter { legible.extent(at: $0.offset) == nil }
    self.strays = strays
    fileByteCount = blocks.byteCount
    workByteCount = search.budget.byteCount
  }

  /// Returns the newest use of each extent, in order of the file; of two with the same epoch, the later one.
  /// O(*n* log *n*).
  private static func newest(_ uses: [LogExtentUse]) -> [LogExtentUse] {
    let ordered = uses.indices.sorted {
      (uses[$0].extent.offset, uses[$0].epoch, $0) < (uses[$1].extent.offset, uses[$1].epoch, $1)
    }
    var newest: [LogExtentUse] = []
    for use in ordered.lazy.map({ uses[$0] }) {
      if newest.last?.extent.offset == use.extent.offset { newest.removeLast() }
      newest.append(use)
    }
    return newest
  }

  /// Throws `corrupt` if log extents overlap, or if the extents of the store end far beyond its file.
  private func checkExtents() throws(StoreError) {
    let log = (uses.map(\.extent) + illegibleExtents).sorted { $0.offset < $1.offset }
    for (left, right) in zip(log, log.dropFirst()) where left.end > right.offset {
      throw StoreError(.corrupt, "two log extents overlap", context: .init(offset: right.offset))
    }
    let reach = log.reduce(chain.checkpoint.content.end) { max($0, $1.end) }
    guard reach <= farthestEnd else {
      throw StoreError(
        .corrupt,
        "the store's extents end at byte \(reach), but its file has only \(fileByteCount) bytes"
      )
    }
  }

  /// The end of the last extent that was found. An extent whose use never began counts only up to
  /// ``farthestEnd``: it may be a remnant of a larger file that was being cut.
  var foundEnd: UInt64 {
    let log = uses.reduce(chain.checkpoint.content.end) { max($0, $1.extent.end) }
    return max(log, min(farthestEnd, strays.reduce(0) { max($0, $1.end) }))
  }

  /// The largest credible end. No store allocates more than 2²⁴ pages ahead of those that it writes, and a
  /// crash may undo the growth of the file. The memory for the map of pages must not depend on an unverified
  /// number alone.
  private var farthestEnd: UInt64 {
    let pageSize = UInt64(identity.pageSize)
    return fileByteCount / pageSize * pageSize + pageSize << 24
  }
}

extension [Extent] {
  /// Returns the extent at this offset; the extents are in order of their offsets. O(log *n*).
  fileprivate func extent(at offset: UInt64) -> Extent? {
    let index = indices.partitionPoint { self[$0].offset >= offset }
    return index < count && self[index].offset == offset ? self[index] : nil
  }

  /// Returns whether the array, which is in order of the offsets, has the extent. O(log *n*).
  fileprivate func hasExtent(_ extent: Extent) -> Bool { self.extent(at: extent.offset) == extent }
}

/// The search for the newest state that the log proves.
private struct LogSearch {
  let file: StoreFile
  let blocks: FixedBlocks
  let trustsClosingMark: Bool
  let budget: LogReadBudget
  /// Uses of log extents that were found by their headers.
  private(set) var uses: [LogExtentUse] = []
  /// Other extents that were found by their headers.
  private(set) var strays: [Extent] = []
  /// True if complete records, which were never acknowledged, follow the end of the log.
  private(set) var foundLeftovers = false
  /// True if no anchor leads to a checkpoint, and the walk over the extents has found complete records.
  private(set) var foundRecords = false

  init(file: StoreFile, blocks: FixedBlocks, trustsClosingMark: Bool) {
    self.file = file
    self.blocks = blocks
    self.trustsClosingMark = trustsClosingMark
    budget = LogReadBudget(fileByteCount: blocks.byteCount)
  }

  /// Returns the run of the newest state; nil if there is no checkpoint.
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
      "record \(position.sequence) of the log is damaged, "
        + "but an anchor or a later record proves that it was durable",
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
    foundRecords = evidence.hasRecords
    return try newestChain(of: evidence)
  }

  /// Returns the run of the newest checkpoint that has one. Records that an earlier crash left may have
  /// higher numbers, but are in an earlier use.
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

  /// Returns whether the store was closed after the chain's checkpoint, so that nothing follows it. The log
  /// must confirm this: an old sector that reappeared may bring an old closing mark back.
  private func isClosed(_ chain: LogChain) -> Bool {
    guard trustsClosingMark, let anchor = blocks.anchors.newest, anchor.isClosed else { return false }
    // guard: check-closing-mark
    guard chain.checkpoint.position == anchor.checkpoint,
      chain.tail.previousChecksum == anchor.recordChecksum,
      !chain.hasTransactions
    else { return false }
    return !uses.contains { $0.epoch > chain.tail.position.use.epoch }
  }

  private mutating func collectUses(walkingFrom offset: UInt64) throws(StoreError) {
    try budget.spend(blocks.byteCount - min(blocks.byteCount, offset))
    var walk = ExtentWalk(file, blocks.identity, from: offset, to: blocks.byteCount)
    while let found = try walk.next() {
      if let use = found.use { uses.append(use) } else { strays.append(found.header.extent) }
    }
    dropDuplicates()
  }

  /// Collects the uses of the log extents that the chain's checkpoint lists, and of those allocated since.
  private mutating func collectUses(beside chain: LogChain) throws(StoreError) {
    for extent in chain.checkpoint.content.logExtents {
      try budget.spend(UInt64(ExtentHeader.byteCount))
      if let use = try ExtentWalk.use(of: extent, in: file, blocks.identity) { uses.append(use) }
    }
    // The walk begins at the end of this chain's checkpoint: a walk from an older checkpoint's end may be led
    // past extents by headers that a crash left.
    try collectUses(walkingFrom: chain.checkpoint.content.end)
  }

  /// Removes duplicate uses. O(*n* log *n*).
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

  /// Returns the evidence after the end of a chain: in the rest of its last extent, and in newer uses.
  private func evidence(beyond chain: LogChain) throws(StoreError) -> Evidence {
    let tail = chain.tail.position
    var evidence = Evidence()
    evidence.durableSequence = blocks.anchors.newest?.checkpoint.sequence ?? 0
    try evidence.search(chain.lastImage, from: tail.offset, beyond: tail.sequence)
    for use in uses where use.epoch > tail.use.epoch {
      let image = try LogExtentImage(use, from: file, budget)
      try evidence.search(image, from: use.firstRecordOffset, beyond: tail.sequence)
    }
    return evidence
  }
}

/// The facts that undamaged records outside a chain prove.
private struct Evidence {
  /// The records up to this one were durable once.
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
