import TestSupport
import Testing

@testable import PageStore

/// Docs/FileFormat.md and the library agree.
struct FileFormatTests {
  @Test func theIdentityIsWhereTheDocumentSaysItIs() throws {
    typealias Offset = FormatIdentity.Offset
    try expect(
      "### Identity",
      [
        "magic": Offset.magic, "kind": Offset.kind, "version": Offset.version,
        "compatibleFeatures": Offset.compatibleFeatures,
        "readOnlyCompatibleFeatures": Offset.readOnlyCompatibleFeatures,
        "incompatibleFeatures": Offset.incompatibleFeatures, "uuid": Offset.uuid, "pageSize": Offset.pageSize,
        "reserved": Offset.reserved, "checksum": FormatIdentity.checksumOffset,
      ]
    )
    try expect("### File header", ["created": FileHeader.Offset.created])
    let text = try document()
    for kind in FormatIdentity.BlockKind.allCases { #expect(text.contains("\(kind.rawValue) ")) }
    #expect(text.contains("Version \(FormatIdentity.currentVersion)."))
  }

  @Test func theExamplesOfTheChecksumAreRight() throws {
    let lines = try document().split(separator: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix("| XXH64 of the ASCII text | seed |") })
    let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }
    #expect(rows.count == 3)
    for row in rows {
      let cells = row.split(separator: "|").map { $0.filter { $0 != " " } }
      let text = cells[0] == "(nobytes)" ? "" : cells[0]
      let checksum = Array(text.utf8).withUnsafeBytes { XXH64.hash($0, seed: UInt64(cells[1]) ?? .max) }
      #expect(checksum == UInt64(cells[2], radix: 16), "\(row)")
    }
  }

  @Test func theAnchorIsWhatTheDocumentSaysItIs() throws {
    typealias Offset = Anchor.Offset
    try expect(
      "### Anchor",
      [
        "sequence": Offset.sequence, "commit": Offset.commit, "extentOffset": Offset.extentOffset,
        "extentByteCount": Offset.extentByteCount, "epoch": Offset.epoch,
        "recordByteCount": Offset.recordByteCount, "salt": Offset.salt, "recordOffset": Offset.recordOffset,
        "recordChecksum": Offset.recordChecksum, "closed": Offset.closed,
      ]
    )
    #expect(FileLayout.anchorOffsets == [4_096, 8_192])
    #expect(FileLayout.fixedByteCount == 12_288)
  }

  @Test func extentHeadersAreWhatTheDocumentSaysTheyAre() throws {
    try expect(
      "### Extent header",
      [
        "extentOffset": ExtentHeader.Offset.extentOffset,
        "extentByteCount": ExtentHeader.Offset.extentByteCount,
        "salt": ExtentHeader.Offset.salt, "commit": ExtentHeader.Offset.commit,
        "revision": ExtentHeader.Offset.revision,
      ]
    )
    typealias Use = LogExtentUseHeader.Offset
    try expect(
      "### Use header",
      [
        "extentOffset": Use.extentOffset, "extentByteCount": Use.extentByteCount, "salt": Use.salt,
        "epoch": Use.epoch, "firstSequence": Use.firstSequence,
        "previousExtentOffset": Use.previousExtentOffset, "previousEpoch": Use.previousEpoch,
      ]
    )
    #expect(ExtentHeader.copyOffset == 2_048)
    #expect(LogExtentUseHeader.offset == 512)
    #expect(LogExtentUseHeader.copyOffset == 2_560)
    #expect(ExtentHeader.byteCount == 4_096)
  }

  @Test func recordsAreWhatTheDocumentSaysTheyAre() throws {
    typealias Offset = LogRecordHeader.Offset
    try expect(
      "### Record header",
      [
        "checksum": Offset.checksum, "magic": Offset.magic, "byteCount": Offset.byteCount,
        "sequence": Offset.sequence, "previousChecksum": Offset.previousChecksum,
        "durableSequence": Offset.durableSequence, "commit": Offset.commit, "timestamp": Offset.timestamp,
        "epoch": Offset.epoch, "kind": Offset.kind, "durability": Offset.durability, "flags": Offset.flags,
      ]
    )
    #expect(LogRecordHeader.Kind.allCases.map(\.rawValue) == [1, 2, 3, 4])
    #expect(Durability.allCases.map(\.rawValue) == [0, 1, 2])
    #expect(LogRecordHeader.byteLimit == 4 << 20 + 64 << 10)
    #expect(StoreLimits.loggedValueByteCount == 64 << 10)
  }

  @Test func payloadsAreWhatTheDocumentSaysTheyAre() throws {
    typealias Offset = CheckpointRecord.Offset
    try expect(
      "### Checkpoint",
      [
        "commit": Offset.commit, "timestamp": Offset.timestamp, "catalogue": Offset.catalogue,
        "nextTreeID": Offset.nextTreeID,
        "previousReplayEpoch": Offset.previousReplayEpoch, "end": Offset.end,
        "logExtentCount": Offset.logExtentCount, "reserved": Offset.reserved,
        "retainedRootCount": Offset.retainedRootCount, "replayEpoch": Offset.replayEpoch,
        "replayExtentOffset": Offset.replayExtentOffset,
        "replayExtentByteCount": Offset.replayExtentByteCount,
        "replaySalt": Offset.replaySalt, "replayOffset": Offset.replayOffset,
        "replaySequence": Offset.replaySequence, "replayPreviousChecksum": Offset.replayPreviousChecksum,
        "tailOffset": Offset.tailOffset, "spaceTree": Offset.spaceTree,
        "previousSpaceTree": Offset.previousSpaceTree,
      ]
    )
    #expect(CheckpointRecord.fixedByteCount == 248)
    typealias RecordTree = StoredTree.Offset
    try expect(
      "### Tree of a record",
      [
        "location": RecordTree.location, "checksum": RecordTree.checksum, "birth": RecordTree.birth,
        "count": RecordTree.count, "treeID": RecordTree.treeID, "height": RecordTree.height,
        "pageCount": RecordTree.pageCount,
      ]
    )
    #expect(SpaceTree.treeID == 2)
    #expect(SpaceTree.chunkPageCount == 4_096)
    #expect(SpaceTree.valueByteCount == 512)
    typealias Root = Catalogue.Offset
    try expect(
      "### Root",
      [
        "treeID": Root.treeID, "height": Root.height, "flags": Root.flags, "reserved": Root.reserved,
        "location": Root.location,
        "checksum": Root.checksum, "birth": Root.birth, "count": Root.count, "pageCount": Root.pageCount,
      ]
    )
    var operations: [String: Int] = [:]
    for tag in LogOperation.Tag.allCases { operations["\(tag)"] = Int(tag.rawValue) }
    for tag in LogOperation.BoundTag.allCases { operations["\(tag)"] = Int(tag.rawValue) }
    try expect("### Transaction", operations)
  }

  @Test func aWrittenLinkIsWhatTheDocumentSaysItIs() throws {
    let next = LogExtentUse(extent: Extent(offset: 0x4000, byteCount: 0x8000), epoch: 7, salt: 0x1122)
    try LinkRecord.encoded(next).withUnsafeBytes { bytes in
      for (field, value) in [("extentOffset", 0x4000), ("extentByteCount", 0x8000), ("salt", 0x1122)] {
        let offset = try #require(try rows(after: "### Link")[field])
        #expect(bytes.integer(at: offset, as: UInt64.self) == UInt64(value))
      }
      let offset = try #require(try rows(after: "### Link")["epoch"])
      #expect(bytes.integer(at: offset, as: UInt32.self) == 7)
    }
  }

  // MARK: Reading the document

  private func expect(_ heading: String, _ constants: [String: Int]) throws {
    #expect(try rows(after: heading) == constants)
  }

  /// First and second column of the tables up to the next heading.
  private func rows(after heading: String) throws -> [String: Int] {
    let lines = try document().split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex(of: heading[...]))
    var rows: [String: Int] = [:]
    for line in lines[(start + 1)...].prefix(while: { !$0.hasPrefix("#") }) where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").map { $0.filter { $0 != " " && $0 != "," } }
      if cells.count > 1, let number = Int(cells[1]) { rows[cells[0]] = number }
    }
    return rows
  }

  private func document() throws -> String { try Document("Docs/FileFormat.md").text }
}
