import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The files beside the store's.
@Suite struct SpillFileTests {
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

  @Test func nothingToSpillMakesNoFile() throws {
    let openCount = OpenCount()
    var fixture = StoreFixture()
    fixture.options.durability = .none
    fixture.options.dirtyMemoryBytes = 1 << 20
    var environment = fixture.environment
    environment.makeSpillFile = { () throws(StoreError) in CountedFile(openCount) }
    let store = try Store.open(
      file: fixture.disk,
      path: "test",
      options: fixture.options,
      environment: environment
    )
    func write(_ round: Int) throws {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for index in 0..<100 {
          try tree.put(bytes("key \(index)"), [UInt8](repeating: UInt8(round), count: 900))
        }
      }
    }
    // Everything that snapshots come to hold is in the file already.
    var snapshots: [Snapshot] = []
    for round in 0..<200 {
      try write(round)
      try store.checkpointBeside()
      snapshots.append(try store.snapshot())
    }
    #expect(openCount.value.load(ordering: .relaxed) == 0)
    snapshots.removeAll()
    try write(200)
    #expect(openCount.value.load(ordering: .relaxed) == 0)
    try store.close()
  }
}
