@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Stores with forged numbers: every checksum is right, and the numbers are absurd.
struct ForgedLogTests {
  /// Returns the error of opening the forgery, changing it and closing it.
  private func use(_ change: (inout StoreForgery) -> Void) -> StoreError.Code? {
    var forgery = StoreForgery()
    change(&forgery)
    let fixture = StoreFixture(SimulatedDisk(SparseBytes(forgery)))
    return code {
      let store = try fixture.open()
      _ = try store.verify()
      try store.put("a", "1")
      try store.checkpoint()
      try store.put("a", "2")
      try store.close()
      #expect(try fixture.reopened(powerFailed: true).value("a") == "2")
    }
  }

  @Test func aForgeryWithoutAbsurditiesOpens() {
    #expect(use { _ in } == nil)
  }

  @Test func aSequenceNumberWithoutASuccessorIsRefused() {
    #expect(use { $0.sequence = .max } == .corrupt)
    #expect(use { $0.sequence = LogRecordHeader.sequenceLimit } == .corrupt)
  }

  @Test func anEpochWithoutASuccessorIsRefused() {
    #expect(use { $0.epoch = .max } == .corrupt)
  }

  @Test func aCommitWithoutASuccessorIsRefused() {
    #expect(use { $0.commit = .max } == .corrupt)
    #expect(use { $0.commit = PageLocation.numberMask } == .corrupt)
    #expect(
      use {
        $0.commit = .max; $0.operations = []
      } == .corrupt
    )
  }

  @Test func treeNumbersThatCannotBeGivenOutAreRefused() {
    #expect(use { $0.nextTreeID = .max } == .tooManyTrees)
    #expect(use { $0.nextTreeID = 0 } == .corrupt)
  }

  @Test func aPageSizeThatCannotBeIsRefused() {
    for pageSize: UInt32 in [0, 1, 4_095, 1 << 31] {
      #expect(use { $0.pageSize = pageSize } == .corrupt)
      #expect(
        use {
          $0.pageSize = pageSize; $0.hasHeader = false
        } == .corrupt
      )
    }
  }

  /// Each of these extents is possible by itself. With enough of them, the sum of their bytes would overflow 64 bits.
  @Test func logExtentsThatLieOverEachOtherAreRefused() {
    let other = Extent(offset: 12_288 + 65_536, byteCount: 65_536)
    #expect(
      use {
        $0.moreLogExtents = [other, other]; $0.end = other.end
      } == .corrupt
    )
    let large = Extent(offset: other.offset, byteCount: 1 << 40)
    #expect(
      use {
        $0.moreLogExtents = [large] + Array(repeating: large, count: 2_000); $0.end = large.end
      } == .corrupt
    )
    let inside = Extent(offset: 12_288 + 4_096, byteCount: 4_096)
    #expect(use { $0.moreLogExtents = [inside] } == .corrupt)
  }

  @Test func anEndBeyondAllPageNumbersIsRefused() {
    #expect(use { $0.end = 1 << 45 } == .corrupt)
    #expect(use { $0.end = 1 << 59 } == .corrupt)
  }

  @Test func aReplayThatDoesNotLeadToItsCheckpointIsRefused() {
    let use = LogExtentUse(extent: Extent(offset: 12_288, byteCount: 65_536), epoch: 1, salt: 3)
    func start(_ use: LogExtentUse, offset: UInt64, sequence: UInt64, previous: UInt64 = 0) -> LogTail {
      let position = LogPosition(use: use, offset: offset, sequence: sequence)
      return LogTail(position: position, previousChecksum: previous)
    }
    let first = use.firstRecordOffset
    #expect(self.use { $0.replayStart = start(use, offset: first, sequence: $0.sequence) } == nil)
    var elsewhere = use
    elsewhere.extent.offset += 65_536
    var younger = use
    younger.epoch = 9
    for start in [
      start(use, offset: first, sequence: 0), start(use, offset: first, sequence: 77),
      start(use, offset: first + 512, sequence: 2), start(use, offset: first + 1, sequence: 1),
      start(use, offset: 0, sequence: 1), start(use, offset: .max, sequence: .max),
      start(use, offset: first, sequence: 1, previous: 5), start(elsewhere, offset: first, sequence: 1),
      start(younger, offset: first, sequence: 1),
    ] {
      #expect(self.use { $0.replayStart = start } == .corrupt)
    }
  }

  /// The key is refused whether its change is made or undone by the same record.
  @Test(arguments: ["put", "put and remove", "put and drop", "remove"])
  func aKeyThatIsTooLongIsRefused(_ changes: String) {
    let found = [StoreLimits.keyByteCount, StoreLimits.keyByteCount + 1].map { byteCount in
      use { forgery in
        let key = [UInt8](repeating: 7, count: byteCount)
        forgery.operations = key.withUnsafeBytes { key in
          var operations: [LogOperation] = [.selectTree(id: 3)]
          if changes.hasPrefix("put") { operations.append(.put(key: key, value: key)) }
          if changes.hasSuffix("remove") { operations.append(.remove(key: key)) }
          if changes.hasSuffix("drop") { operations.append(.dropTree(id: 3)) }
          var bytes: [UInt8] = []
          "t".utf8.withContiguousStorageIfAvailable {
            LogOperation.createTree(id: 3, name: UnsafeRawBufferPointer($0)).append(to: &bytes)
          }
          for operation in operations { operation.append(to: &bytes) }
          return bytes
        }
      }
    }
    #expect(found == [nil, .corrupt])
  }

  @Test func aLinkIntoAnExtentThatTheLogCameThroughIsRefused() {
    for (offset, expected) in [(12_288, .corrupt), (16_384, .corrupt), (77_824, nil)]
      as [(UInt64, StoreError.Code?)]
    {
      let next = LogExtentUse(extent: Extent(offset: offset, byteCount: 65_536), epoch: 2, salt: 5)
      let found = use {
        $0.kind = .link
        $0.operations = LinkRecord.encoded(next)
      }
      #expect(found == expected)
    }
  }
}

extension SparseBytes {
  /// The file of a forgery.
  init(_ forgery: StoreForgery) {
    self.init()
    for block in forgery.blocks { block.bytes.withUnsafeBytes { write($0, at: block.offset) } }
  }
}
