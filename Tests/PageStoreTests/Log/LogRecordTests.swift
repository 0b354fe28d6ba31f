import TestSupport
import Testing

@testable import PageStore

struct LogRecordTests {
  private let use = LogExtentUse(extent: Extent(offset: 16_384, byteCount: 65_536), epoch: 3, salt: 0xABCD)

  private func record(_ payload: [UInt8]) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + payload
    let header = LogRecordHeader(
      byteCount: UInt32(record.count),
      sequence: 7,
      previousChecksum: 8,
      durableSequence: 6,
      commit: 5,
      timestamp: -4,
      epoch: 3,
      kind: .transaction,
      durability: .relaxed
    )
    _ = header.seal(&record, salt: use.salt)
    return record
  }

  @Test func aRecordIsReadAsItWasWritten() throws {
    let record = record([1, 2, 3])
    let decoded = record.withUnsafeBytes { LogRecordHeader.decode($0, use: use)?.header }
    let header = try #require(decoded)
    #expect(header.sequence == 7)
    #expect(header.previousChecksum == 8)
    #expect(header.durableSequence == 6)
    #expect(header.commit == 5)
    #expect(header.timestamp == -4)
    #expect(header.kind == .transaction)
    #expect(header.durability == .relaxed)
  }

  @Test func aRecordWithAnyBitChangedIsNone() {
    let record = record([1, 2, 3])
    for bit in 0..<record.count * 8 {
      var changed = record
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(changed.withUnsafeBytes { LogRecordHeader.decode($0, use: use)?.header } == nil)
    }
  }

  @Test func aRecordOfAnEarlierUseIsNone() {
    let record = record([1, 2, 3])
    for other in [
      LogExtentUse(extent: use.extent, epoch: 4, salt: use.salt),
      LogExtentUse(extent: use.extent, epoch: 3, salt: 1),
    ] {
      #expect(record.withUnsafeBytes { LogRecordHeader.decode($0, use: other)?.header } == nil)
    }
  }

  @Test func aRecordThatIsCutShortIsNone() {
    let record = record([1, 2, 3])
    for count in 0..<record.count {
      #expect(Array(record[..<count]).withUnsafeBytes { LogRecordHeader.decode($0, use: use)?.header } == nil)
    }
  }

  @Test func operationsAreReadAsTheyWereWritten() throws {
    var bytes: [UInt8] = []
    let key = [UInt8](repeating: 7, count: 200)
    key.withUnsafeBytes { key in
      LogOperation.createTree(id: 9, name: key).append(to: &bytes)
      LogOperation.selectTree(id: 9).append(to: &bytes)
      LogOperation.put(key: key, value: UnsafeRawBufferPointer(rebasing: key[..<0])).append(to: &bytes)
      LogOperation.remove(key: key).append(to: &bytes)
      LogOperation.removeRange(KeyRange(lower: .including([1]), upper: .unbounded)).append(to: &bytes)
      LogOperation.removeRange(KeyRange(lower: .unbounded, upper: .excluding([2, 3]))).append(to: &bytes)
      LogOperation.dropTree(id: 9).append(to: &bytes)
    }
    let texts = bytes.withUnsafeBytes { buffer in
      var reader = ByteReader(buffer)
      var texts: [String] = []
      while let operation = LogOperation(&reader) { texts.append(describe(operation)) }
      #expect(reader.isAtEnd)
      return texts
    }
    #expect(
      texts == [
        "create 9 200", "select 9", "put 200 0", "remove 200", "range [1] nil", "range nil [2, 3]", "drop 9",
      ]
    )
  }

  private func describe(_ operation: LogOperation) -> String {
    switch operation {
    case .createTree(let id, let name): "create \(id) \(name.count)"
    case .dropTree(let id): "drop \(id)"
    case .selectTree(let id): "select \(id)"
    case .put(let key, let value): "put \(key.count) \(value.count)"
    case .remove(let key): "remove \(key.count)"
    case .removeRange(let range): "range \(describe(range.lower)) \(describe(range.upper))"
    }
  }

  private func describe(_ bound: KeyRange.Bound) -> String {
    switch bound {
    case .unbounded: "nil"
    case .including(let key), .excluding(let key): "\(key)"
    }
  }

  @Test func anyBytesAreReadWithoutATrap() {
    var generator = SeededGenerator()
    for _ in 0..<3_000 {
      let bytes = generator.bytes(generator.number(in: 0...120))
      bytes.withUnsafeBytes { buffer in
        var reader = ByteReader(buffer)
        while LogOperation(&reader) != nil {}
        #expect(reader.offset <= buffer.count)
        _ = try? CheckpointRecord(buffer, pageSize: 4_096)
        _ = LinkRecord.decode(buffer, pageSize: 4_096)
        _ = Catalogue.decode(buffer)
      }
    }
  }

  @Test func aCheckpointIsReadAsItWasWritten() throws {
    let root = TreeRoot(
      treeID: 1,
      height: 2,
      reference: ChildReference(location: .page(77), checksum: 5, birth: 6, count: 8)
    )
    let checkpoint = CheckpointRecord(
      commit: 3,
      timestamp: 4,
      catalogue: StoredTree(root: root, pageCount: 2),
      nextTreeID: 12,
      previousReplayEpoch: 2,
      replayStart: LogTail(
        position: LogPosition(
          use: LogExtentUse(extent: Extent(offset: 16_384, byteCount: 65_536), epoch: 3, salt: 9),
          offset: 20_480,
          sequence: 70
        ),
        previousChecksum: 123
      ),
      end: 1 << 20,
      tailOffset: 98_304,
      logExtents: [Extent(offset: 16_384, byteCount: 65_536)],
      spaceTree: StoredTree(
        root: TreeRoot(
          treeID: 2,
          height: 1,
          reference: ChildReference(location: .page(78), checksum: 6, birth: 7, count: 1)
        ),
        pageCount: 1
      ),
      previousSpaceTree: .empty(treeID: 2)
    )
    let read = try checkpoint.encoded().withBytes { bytes throws(StoreError) in
      try CheckpointRecord(bytes, pageSize: 8_192)
    }
    #expect(read == checkpoint)
  }
}
