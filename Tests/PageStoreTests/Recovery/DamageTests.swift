@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Files with damaged bytes: they are refused with a typed error, or read to the same result.
struct DamageTests {
  /// A store with a checkpoint, commits after it and perhaps a watermark, as a crash leaves it.
  private func image(isClosed: Bool = false) throws -> [UInt8] {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for index in 0..<12 {
      try store.put("k\(index)", String(repeating: "v\(index)", count: 20 + index))
      if index == 4 || index == 7 { try store.checkpoint() }
    }
    fixture.schedule.run()
    if isClosed { try store.close() }
    return fixture.disk.content.bytes
  }

  private func open(_ image: [UInt8], isReadOnly: Bool = false) throws -> Store {
    var fixture = StoreFixture(SimulatedDisk(SparseBytes(image)))
    fixture.options.isReadOnly = isReadOnly
    return try fixture.open()
  }

  private func expectEverything(_ store: Store, _ comment: String = "") throws {
    #expect(store.lastCommit == 12, "\(comment)")
    for index in 0..<12 {
      let value = try store.value("k\(index)")
      #expect(value == String(repeating: "v\(index)", count: 20 + index), "\(comment)")
    }
  }

  private func zero(_ image: [UInt8], _ range: Range<Int>) -> [UInt8] {
    var image = image
    for index in range { image[index] = 0 }
    return image
  }

  /// A value of one overflow page is read like other pages. A value of several pages is read by itself.
  @Test(arguments: [3_500, 40_000]) func damageToAnOverflowPageNamesTheFile(_ byteCount: Int) throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", String(repeating: "overflow", count: byteCount / 8))
    try store.close()
    var image = fixture.disk.content.bytes
    // One byte of each stretch of the value, wherever the file has it.
    let pattern = bytes("overflow")
    for start in stride(from: 0, to: image.count, by: 1_024) {
      for index in start..<min(start + 1_024, image.count) - 8
      where image[index..<index + 8].elementsEqual(pattern) {
        image[index] ^= 1
        break
      }
    }
    let damaged = try open(image, isReadOnly: true)
    do {
      _ = try damaged.value("a")
      Issue.record("the damage was not noticed")
    } catch let error as StoreError {
      #expect(error.code == .corrupt && error.context.page != nil)
      #expect(error.context.path == "test", "\(error)")
    }
  }

  @Test func eitherAnchorIsEnough() throws {
    for isClosed in [false, true] {
      let image = try image(isClosed: isClosed)
      try expectEverything(open(zero(image, 4_096..<8_192)))
      try expectEverything(open(zero(image, 8_192..<12_288)))
    }
  }

  @Test func withoutAnchorsTheNewestCheckpointIsFound() throws {
    for isClosed in [false, true] {
      let image = try image(isClosed: isClosed)
      let store = try open(zero(image, 4_096..<12_288))
      try expectEverything(store)
      #expect(try store.verify() == [])
    }
  }

  @Test func withoutHeaderTheStoreOpensAndTheHeaderIsWrittenAnew() throws {
    let image = try image()
    let fixture = StoreFixture(SimulatedDisk(SparseBytes(zero(image, 0..<4_096))))
    try expectEverything(fixture.open())
    #expect(Array(fixture.disk.content.bytes[0..<7]) == bytes("Cambium"))
  }

  @Test func withoutHeaderAndAnchorsTheStoreOpens() throws {
    try expectEverything(open(zero(try image(), 0..<12_288)))
  }

  @Test func aTornTailIsDropped() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    let before = fixture.disk.content.bytes
    try store.put("a", "2")
    let after = fixture.disk.content.bytes
    let changed = try #require(before.indices.first { before[$0] != after[$0] })
    for cut in [1, 8, 63, 64, 100] {
      var torn = after
      for index in changed + cut..<changed + 512 { torn[index] = before[index] }
      let reopened = try open(torn)
      let found = try reopened.value("a")
      #expect(found == (torn == after ? "2" : "1"))
      try reopened.put("b", "3")
    }
  }

  @Test func rotInARecordThatALaterOneVouchesForIsRefused() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    let first = fixture.disk.content.bytes
    try store.put("a", "2")
    let second = fixture.disk.content.bytes
    try store.put("a", "3")
    try store.put("a", "4")
    let place = try #require(first.indices.first { first[$0] != second[$0] })
    var rotten = fixture.disk.content.bytes
    rotten[place + 70] ^= 4
    #expect(code { _ = try open(rotten) } == .corrupt)
    #expect(code { _ = try open(rotten, isReadOnly: true) } == .corrupt)
  }

  @Test func everyFlippedBitIsDetectedOrUnused() throws {
    var generator = SeededGenerator()
    for isClosed in [false, true] {
      let image = try image(isClosed: isClosed)
      for _ in 0..<400 {
        var flipped = image
        let position = generator.number(in: 0...image.count - 1)
        let bit = generator.number(in: 0...7)
        flipped[position] ^= 1 << UInt8(bit)
        do {
          try expectEverything(open(flipped), "byte \(position), bit \(bit)")
        } catch let error as StoreError {
          #expect(
            [.corrupt, .unsupportedFormat, .notAStore].contains(error.code),
            "byte \(position), bit \(bit)"
          )
        }
      }
    }
  }

  @Test func everyTruncationIsDetectedOrHarmless() throws {
    let image = try image()
    for length in stride(from: 0, to: image.count, by: 509) {
      do {
        let store = try open(Array(image[..<length]))
        // The rest of the log is a prefix of it, and the anchors vouch for the last checkpoint.
        #expect(store.lastCommit == 0 && length <= 12_288 || store.lastCommit >= 8, "length \(length)")
        _ = try store.value("k1")
      } catch let error as StoreError {
        #expect([.corrupt, .notAStore].contains(error.code), "length \(length)")
      }
    }
  }

  @Test func garbageBehindTheEndIsIgnored() throws {
    let image = try image(isClosed: true)
    var generator = SeededGenerator()
    try expectEverything(open(image + generator.bytes(10_000)))
    try expectEverything(open(image + image.suffix(32_768)))
  }

  @Test func aReadOnlyStoreReplaysInMemoryAndWritesNothing() throws {
    let image = try image()
    var fixture = StoreFixture(SimulatedDisk(SparseBytes(image)))
    fixture.options.isReadOnly = true
    let store = try fixture.open()
    try expectEverything(store)
    #expect(try store.verify() == [])
    #expect(code { try store.put("a", "1") } == .readOnly)
    #expect(code { try store.checkpoint() } == .readOnly)
    try store.close()
    #expect(fixture.disk.content.bytes == image)
  }

  @Test func otherFilesAreNotTakenForStores() throws {
    var generator = SeededGenerator()
    #expect(code { _ = try open(generator.bytes(100)) } == .notAStore)
    #expect(code { _ = try open(generator.bytes(100_000)) } == .notAStore)
    #expect(code { _ = try open(bytes("SQLite format 3")) } == .notAStore)
    // A file that only begins with zeros, as disk images do, isn't a store, either.
    let image = MemoryFile([UInt8](repeating: 0, count: 512) + [UInt8](repeating: 65, count: 100_000))
    let refusal = code { _ = try Store.open(file: image, path: "", options: .init(), environment: .system) }
    #expect(refusal == .notAStore)
    #expect(image.byteCount() == 100_512)
    #expect(code { _ = try open([UInt8](repeating: 0, count: 100_000)) } == nil)
    #expect(code { _ = try open([], isReadOnly: true) } == .notAStore)
  }

  /// The records of the file prove that it isn't the remains of a store whose creation was cut short.
  @Test func aYoungStoreWithoutHeaderAndCheckpointIsNotMadeAnew() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    let checkpoint = store.committer.anchors.legible[0].checkpoint.offset
    for index in 0..<10 { try store.put("k", "\(index)") }
    // The header of the first extent of pages wasn't synced.
    let next = StoreFixture(SimulatedDisk(fixture.disk.crashPoint.image(.allLost, seed: 0)))
    for (offset, count) in [(0, FormatIdentity.blockByteCount), (checkpoint, 64)] as [(UInt64, Int)] {
      let zeros = [UInt8](repeating: 0, count: count)
      _ = zeros.withUnsafeBytes { next.disk.write($0, at: offset) }
    }
    #expect(code { _ = try next.open() } == .corrupt)
  }
}
