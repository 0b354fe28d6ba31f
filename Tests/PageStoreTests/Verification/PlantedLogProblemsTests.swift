@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The rules of Docs/FileFormat.md for the header, the anchors, the log and the extents, broken one by one.
struct PlantedLogProblemsTests {
  private func expect(
    _ message: String,
    in content: SparseBytes? = nil,
    _ change: (inout ForgedStore) throws -> Void
  ) throws {
    var forged = try ForgedStore(content ?? SampleStore.content())
    #expect(try forged.fixture(isReadOnly: true).open().verify() == [])
    try change(&forged)
    let found = try forged.fixture(isReadOnly: true).open().verify()
    #expect(found.contains { $0.message.contains(message) }, "\(message): \(found)")
  }

  /// A store that was not closed: transactions follow its checkpoint.
  private func unclosed(valueByteCount: Int = 1, transactionCount: Int = 2) throws -> SparseBytes {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for value in ["a", "b"] {
      try store.put("k", value)
      try store.checkpoint()
    }
    for _ in 0..<transactionCount { try store.put("k", String(repeating: "c", count: valueByteCount)) }
    return fixture.disk.content
  }

  private func recovery(_ forged: ForgedStore) throws -> Recovery {
    let file = StoreFile(SimulatedDisk(SparseBytes(forged.bytes)), path: "forged")
    guard case .store(let blocks) = try FixedBlocks.read(file) else { throw ForgedStore.Unusable() }
    return try Recovery(file, blocks, trustsClosingMark: false)
  }

  @Test func theHeaderAndTheAnchors() throws {
    try expect("The file's header is damaged.") { $0.set(UInt64.max, at: 504) }
    try expect("Both anchors are damaged.") { forged in
      for offset in FileLayout.anchorOffsets { forged.set(UInt64.max, at: Int(offset)) }
    }
    try expect("An anchor contradicts its checkpoint.") { forged in
      forged.anchor.commit += 1
      forged.writeAnchor()
    }
  }

  @Test func theClosingMark() throws {
    try expect("The older anchor says that the store was closed.") { forged in
      var older = forged.anchor
      older.checkpoint.sequence -= 1
      forged.writeOlder(older)
    }
    try expect("says that the store was closed, but records follow", in: unclosed()) { forged in
      forged.anchor.isClosed = true
      forged.writeAnchor()
    }
  }

  @Test func theRecordsOfTheLog() throws {
    try expect("A checkpoint contradicts its record's header.") { forged in
      forged.record.timestamp += 1
      forged.seal()
    }
    try expect("A commit's time is earlier than that of the commit before it.", in: unclosed()) { forged in
      try changeLastRecord(&forged) { $0.timestamp = 0 }
    }
    try expect("A record says of itself that it is durable.", in: unclosed()) { forged in
      try changeLastRecord(&forged) { $0.durableSequence = $0.sequence }
    }
  }

  private func changeLastRecord(
    _ forged: inout ForgedStore,
    _ change: (inout LogRecordHeader) -> Void
  ) throws {
    let last = try #require(try recovery(forged).chain.transactions.last)
    var header = last.record.header
    change(&header)
    var whole = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + last.record.payload
    _ = header.seal(&whole, salt: last.image.use.salt)
    forged.put(whole, at: Int(last.offset))
  }

  @Test func extentsAndTheirUses() throws {
    try expect("overlap") { forged in
      var extent = try #require(try recovery(forged).uses.first).extent
      extent.byteCount += 4_096
      let header = ExtentHeader(kind: .log, extent: extent, salt: 1, commit: 0, revision: 9)
      forged.put(header.encoded(forged.identity), at: Int(extent.offset))
    }
    try expect("have the epoch", in: unclosed(valueByteCount: 3_000, transactionCount: 20)) { forged in
      let uses = try recovery(forged).uses.sorted { $0.epoch < $1.epoch }
      try #require(uses.count > 1)
      var oldest = uses[0]
      oldest.epoch = uses[1].epoch
      let header = LogExtentUseHeader.encoded(oldest, firstSequence: 1, previous: nil, forged.identity)
      for copy in [LogExtentUseHeader.offset, LogExtentUseHeader.copyOffset] {
        forged.put(header, at: Int(oldest.extent.offset) + copy)
      }
    }
  }

  /// The catalogue's contents can be so wrong that no store opens.
  @Test func aCatalogueThatIsRefused() throws {
    var twins = try ForgedStore(SampleStore.content())
    try twins.set(twins.entry(of: "rows").root.treeID, at: twins.entry(of: "t").offset)
    twins.seal()
    #expect(code { _ = try twins.fixture(isReadOnly: true).open() } == .corrupt)
    var nameless = try ForgedStore(SampleStore.content())
    nameless.change(page: nameless.record.catalogue.root.reference.location.number) { page in
      let slot = page.withUnsafeBytes { PageImage($0.start).slot(0) }
      let start = slot.offset + slot.keyLength
      for byte in 0..<LeafCell.keyOffset { page[start + byte] = page[slot.offset + byte] }
      for byte in 0..<PageSlot.byteCount { page[PageHeader.byteCount + byte] = 0 }
      page[PageHeader.byteCount + PageSlot.offset] = UInt8(truncatingIfNeeded: start)
      page[PageHeader.byteCount + PageSlot.offset + 1] = UInt8(start >> 8)
      page[PageHeader.garbage] += UInt8(slot.keyLength)
    }
    nameless.seal()
    #expect(code { _ = try nameless.fixture(isReadOnly: true).open() } == .corrupt)
  }
}
