import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The files beside the store's.
struct SpillFileTests {
  /// Counts the files that are open.
  private final class CountedFile: RandomAccessFile {
    private let file = MemoryFile()
    private let openCount: OpenCount

    init(_ openCount: OpenCount) {
      self.openCount = openCount
      openCount.value.add(1, ordering: .relaxed)
    }

    deinit { openCount.value.subtract(1, ordering: .relaxed) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
      file.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int { file.write(bytes, at: offset) }
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      file.write(bytes, at: offset)
    }
    func synchronize() -> Int32 { 0 }
    func allocate(at offset: UInt64, byteCount: UInt64) -> Int32 {
      file.allocate(at: offset, byteCount: byteCount)
    }
    func truncate(to byteCount: UInt64) -> Int32 { file.truncate(to: byteCount) }
    func byteCount() -> Int64 { file.byteCount() }
    func close() {}
  }

  private final class OpenCount: Sendable {
    let value = Atomic(0)
  }

  /// A store that counts its spill files, with small memory for what changes.
  private static func openStore(_ fixture: inout StoreFixture, _ openCount: OpenCount) throws -> Store {
    fixture.options.durability = .none
    fixture.options.dirtyMemoryBytes = 1 << 20
    var environment = fixture.environment
    environment.makeSpillFile = { () throws(StoreError) in CountedFile(openCount) }
    return try fixture.open(in: environment)
  }

  private static func write(_ round: Int, _ keys: Range<Int>, to store: Store) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for index in keys { try tree.put(bytes("key \(index)"), [UInt8](repeating: UInt8(round), count: 900)) }
    }
  }

  @Test func nothingToSpillMakesNoFile() throws {
    let openCount = OpenCount()
    var fixture = StoreFixture()
    let store = try Self.openStore(&fixture, openCount)
    // All pages that snapshots will hold are in the file already.
    var snapshots: [Snapshot] = []
    for round in 0..<200 {
      try Self.write(round, 0..<100, to: store)
      try store.checkpointConcurrently()
      snapshots.append(try store.snapshot())
    }
    #expect(openCount.value.load(ordering: .relaxed) == 0)
    snapshots.removeAll()
    try Self.write(200, 0..<100, to: store)
    #expect(openCount.value.load(ordering: .relaxed) == 0)
    try store.close()
  }

  @Test func aFileIsMadeForMuchAndNotForLittle() throws {
    let openCount = OpenCount()
    var fixture = StoreFixture()
    let store = try Self.openStore(&fixture, openCount)
    // Most pages that snapshots will hold are in the file already, but not all.
    var snapshots: [Snapshot] = []
    for round in 0..<200 {
      try Self.write(round, 0..<100, to: store)
      try store.checkpointConcurrently()
      snapshots.append(try store.snapshot())
      try Self.write(round + 1, 0..<2, to: store)
      snapshots.append(try store.snapshot())
    }
    // About 200 times two leaves, by 256 KiB.
    #expect(try store.statistics.spilledBytes > 512 << 10)
    #expect(openCount.value.load(ordering: .relaxed) < 20)
    for (place, snapshot) in snapshots.enumerated() {
      let value = try snapshot.tree("t").value(for: bytes("key 1"))
      #expect(value == [UInt8](repeating: UInt8((place + 1) / 2), count: 900))
    }
    snapshots.removeAll()
    try Self.write(201, 0..<100, to: store)
    #expect(openCount.value.load(ordering: .relaxed) == 0)
    try store.close()
  }
}
