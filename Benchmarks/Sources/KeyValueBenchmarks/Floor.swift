import BenchmarkHarness

/// The lower bounds for every store on this machine, measured in the same run.
struct Floor: Codable {
  /// Seconds of one synced write of 512 bytes into space that was already there (`pwritev2` with `RWF_DSYNC`).
  var syncedWrite: Double
  /// Seconds that it takes to copy all keys and values once in memory.
  var copy: Double
  var copiedBytes: Int

  /// The name under which the synced write runs in the rounds of K4.
  static let name = "one synced write"

  init(in folder: String, entries: Int) throws {
    syncedWrite = try SyncedWrite.medianSeconds(in: folder, count: 200)
    copiedBytes = entries * (Entries.keyByteCount + Entries.valueByteCount)
    copy = Self.copySeconds(byteCount: copiedBytes)
  }

  private static func copySeconds(byteCount: Int) -> Double {
    let source = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
    let target = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
    defer {
      source.deallocate()
      target.deallocate()
    }
    // The first touch of new pages would be measured, too.
    source.initializeMemory(as: UInt8.self, repeating: 1)
    target.initializeMemory(as: UInt8.self, repeating: 2)
    let clock = ContinuousClock()
    return Figures.median(
      (0..<5).map { _ in
        let start = clock.now
        target.copyMemory(from: UnsafeRawBufferPointer(source))
        return (clock.now - start) / .seconds(1)
      }
    )
  }
}
