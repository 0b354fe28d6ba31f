@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport

/// A simulated disk that counts the bytes that are read from it. The allowed cost of an input grows with its size
/// alone, and no clock is needed.
final class MeteredFile: RandomAccessFile {
  private let disk: SimulatedDisk
  private let reads = Atomic<UInt64>(0)

  /// The number of times that each byte of the file may be read. Opening, reading, verifying, changing and closing read
  /// most of it a few times each, and recovery may read a log 64 times.
  private static let share: UInt64 = 256
  /// A shorter file may cost as much as a file of so many bytes.
  private static let leastByteCount: UInt64 = 1 << 20

  init(_ bytes: [UInt8]) {
    disk = SimulatedDisk(SparseBytes(bytes))
    limit = Self.share * max(UInt64(bytes.count), Self.leastByteCount)
  }

  private let limit: UInt64

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
    let count = disk.read(into: buffer, at: offset)
    let sum = reads.wrappingAdd(UInt64(max(0, count)), ordering: .relaxed).newValue
    if sum > limit { report("more than \(limit) bytes were read") }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int { disk.write(bytes, at: offset) }
  func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    disk.writeDurably(bytes, at: offset)
  }
  func synchronize() -> Int32 { disk.synchronize() }
  func allocate(at offset: UInt64, byteCount: UInt64) -> Int32 {
    disk.allocate(at: offset, byteCount: byteCount)
  }
  func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32 {
    disk.punchHole(at: offset, byteCount: byteCount)
  }
  func truncate(to byteCount: UInt64) -> Int32 { disk.truncate(to: byteCount) }
  func byteCount() -> Int64 { disk.byteCount() }
  func nextData(from offset: UInt64) -> Int64 { disk.nextData(from: offset) }
  func close() { disk.close() }
}
