/// Files that once made the library trap, or run without end, though all their checksums are right. Tests and
/// fuzzers start from them. Each is made from a few numbers.
@_spi(Testing)
public enum HostileFile: String, CaseIterable, Sendable {
  /// The checkpoint lists 200,000 log extents of 2⁴⁷ bytes.
  case endlessLogExtents
  /// Log extents of one page, whose uses claim four mebibytes.
  case overlappingUses
  /// A log extent with a record in each sector that claims the rest of the extent.
  case claimingSectors
  /// One half of the log is transactions, the other half checkpoints that contain none of them.
  case idleCheckpoints
  /// The commit number is the last possible one.
  case lastCommit
  /// The record's sequence number is the last possible one.
  case lastSequence
  /// The epoch of the log extent's use is the last possible one.
  case lastEpoch
  /// Six pages, each of which refers to the next many times.
  case sharedPages
  /// Six pages, each of which refers to the next many times, with an empty leaf.
  case sharedEmptyPages
  /// Six pages of the catalogue, each of which refers to the next many times. Only the first reference tells
  /// the number of entries.
  case sharedCatalogue
  /// The names of the catalogue descend, and the log drops a tree.
  case unsortedCatalogue
  /// The checkpoint claims a file of 2⁴⁰ bytes.
  case farEnd
  /// The checkpoint lists no log extent, and ends before the first extent.
  case earlyEnd

  /// The contents of the file.
  public var bytes: [UInt8] {
    let blocks = forgery.blocks
    let count = blocks.reduce(0) { max($0, $1.offset + UInt64($1.bytes.count)) }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    for block in blocks {
      bytes.replaceSubrange(Int(block.offset)..<Int(block.offset) + block.bytes.count, with: block.bytes)
    }
    return bytes
  }

  var forgery: StoreForgery {
    var forgery = StoreForgery()
    switch self {
    case .endlessLogExtents:
      forgery.pageSize = 65_536
      forgery.logByteCount = 4 << 20
      forgery.end = Extent.addressLimit(pageSize: 65_536)
      let extent = Extent(offset: forgery.logExtent.end, byteCount: 1 << 47)
      forgery.moreLogExtents = Array(repeating: extent, count: 200_000)
    case .overlappingUses: forgery.addOverlappingUses()
    case .claimingSectors: forgery.addClaimingSectors()
    case .idleCheckpoints: forgery.addIdleCheckpoints()
    case .lastCommit: forgery.commit = LogRecordHeader.commitLimit - 1
    case .lastSequence: forgery.sequence = LogRecordHeader.sequenceLimit - 1
    case .lastEpoch: forgery.epoch = LogExtentUse.epochLimit - 1
    case .sharedPages: forgery.addSharedPages(leafEntryCount: 100)
    case .sharedEmptyPages: forgery.addSharedPages(leafEntryCount: 0)
    case .sharedCatalogue: forgery.addSharedCatalogue()
    case .unsortedCatalogue: forgery.addUnsortedCatalogue()
    case .farEnd: forgery.end = 1 << 40
    case .earlyEnd:
      forgery.listsItsLog = false
      forgery.end = 0
    }
    return forgery
  }
}

extension StoreForgery {
  fileprivate mutating func addOverlappingUses() {
    let page = UInt64(pageSize)
    for index in 0..<64 as Range<UInt64> {
      let extent = Extent(offset: logExtent.end + index * page, byteCount: 4 << 20)
      let use = LogExtentUse(extent: extent, epoch: 2, salt: 3)
      more += logExtentHeaders(of: use, byteCount: page)
    }
  }

  fileprivate mutating func addClaimingSectors() {
    logByteCount = 2 << 20
    let sector = LogExtentUse.recordAlignment
    let second = use.firstRecordOffset + sector * UInt64(1)
    for offset in stride(from: second, to: logExtent.end, by: Int(sector)) {
      var (record, _) = sealed([], .transaction, sequence + 1, previous: 0, commit + 1)
      record.withUnsafeMutableBytes { bytes in
        bytes.setInteger(UInt32(logExtent.end - offset), at: LogRecordHeader.Offset.byteCount)
        bytes.setInteger(UInt64(1), at: LogRecordHeader.Offset.checksum)
      }
      more.append(Block(offset: offset, bytes: record))
    }
  }

  fileprivate mutating func addIdleCheckpoints() {
    logByteCount = 4 << 20
    let start = LogPosition(use: use, offset: use.firstRecordOffset, sequence: sequence)
    replayStart = LogTail(position: start, previousChecksum: 0)
    var previous = sealed(checkpointPayload, .checkpoint, sequence, previous: 0, commit).1
    var offset = use.firstRecordOffset + 512
    for index in 0..<7_000 as Range<UInt64> {
      let isTransaction = index < 3_500
      let (record, checksum) = sealed(
        isTransaction ? [] : checkpointPayload,
        isTransaction ? .transaction : .checkpoint,
        sequence + 1 + index,
        previous: previous,
        isTransaction ? commit + 1 + index : commit
      )
      more.append(Block(offset: offset, bytes: record))
      previous = checksum
      offset += UInt64(record.count).roundedUp(to: LogExtentUse.recordAlignment)
    }
  }

  fileprivate mutating func addSharedPages(leafEntryCount: Int) {
    let first = logExtent.end / UInt64(pageSize)
    let leaf = (0..<leafEntryCount).map { (key: [UInt8($0)], payload: [UInt8]()) }
    guard var reference = try? addPage(first, treeID: 3, level: 0, entries: leaf) else { return }
    for level in 1..<6 {
      let entries = (0..<70).map { (key: [UInt8($0)], payload: reference.encoded) }
      guard
        let next = try? addPage(first + UInt64(level), treeID: 3, level: level, entries: entries)
      else { return }
      reference = next
    }
    // A catalogue refuses a tree that has pages and no entries.
    var claimed = reference
    claimed.count = max(1, claimed.count)
    let root = TreeRoot(treeID: 3, height: 6, reference: claimed)
    let entry = (key: Array("t".utf8), payload: Catalogue.encoded(root, pageCount: 6))
    guard let page = try? addPage(first + 6, treeID: Catalogue.treeID, level: 0, entries: [entry]) else {
      return
    }
    setCatalogue(page, height: 1, pageCount: 1)
    nextTreeID = 4
    end = (first + 7) * UInt64(pageSize)
  }

  private mutating func setCatalogue(_ root: ChildReference, height: UInt8, pageCount: UInt64) {
    catalogue = StoredTree(
      root: TreeRoot(treeID: Catalogue.treeID, height: height, reference: root),
      pageCount: pageCount
    )
  }

  private static func emptyTrees(_ names: [String]) -> [(key: [UInt8], payload: [UInt8])] {
    names.enumerated().map { index, name in
      (Array(name.utf8), Catalogue.encoded(.empty(treeID: UInt32(3 + index)), pageCount: 0))
    }
  }

  fileprivate mutating func addSharedCatalogue() {
    let first = logExtent.end / UInt64(pageSize)
    let names = (10..<40).map { "t\($0)" }
    guard
      var reference = try? addPage(first, treeID: Catalogue.treeID, level: 0, entries: Self.emptyTrees(names))
    else { return }
    for level in 1..<6 {
      let entries = (0..<70).map { index in
        var child = reference
        if index > 0 { child.count = 1 }
        return (key: [UInt8(index)], payload: child.encoded)
      }
      guard
        let next = try? addPage(
          first + UInt64(level),
          treeID: Catalogue.treeID,
          level: level,
          entries: entries
        )
      else { return }
      reference = next
    }
    setCatalogue(reference, height: 6, pageCount: 6)
    nextTreeID = 40
    end = (first + 6) * UInt64(pageSize)
  }

  fileprivate mutating func addUnsortedCatalogue() {
    let first = logExtent.end / UInt64(pageSize)
    guard
      let page = try? addPage(
        first,
        treeID: Catalogue.treeID,
        level: 0,
        entries: Self.emptyTrees(["z", "m"])
      )
    else { return }
    setCatalogue(page, height: 1, pageCount: 1)
    nextTreeID = 5
    end = (first + 1) * UInt64(pageSize)
    var drop: [UInt8] = []
    LogOperation.dropTree(id: 3).append(to: &drop)
    operations = drop
  }
}
