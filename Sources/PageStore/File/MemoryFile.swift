import Glibc
import Synchronization

/// A file in memory, for stores without a path. Syncs do nothing.
///
/// The bytes are in blocks of 64 KiB that are allocated at their first write, so that neither growth nor gaps
/// copy anything.
@_spi(Testing)
public final class MemoryFile: RandomAccessFile {
  private static let blockByteCount = 64 << 10

  private struct Contents {
    var blocks: [[UInt8]] = []
    var byteCount = 0
  }
  private let contents: Mutex<Contents>

  /// Makes a file that begins with `bytes`.
  public init(_ bytes: [UInt8] = []) {
    contents = Mutex(Contents())
    _ = bytes.withUnsafeBytes { write($0, at: 0) }
  }

  /// Copies bytes into the buffer, and returns how many: fewer than the buffer takes only at the end of the
  /// file.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
    contents.withLock { contents in
      guard offset < UInt64(contents.byteCount) else { return 0 }
      let total = min(buffer.count, contents.byteCount - Int(offset))
      Self.forEachPart(at: Int(offset), byteCount: total) { block, start, done, count in
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
        if contents.blocks[block].isEmpty {
          target.initializeMemory(as: UInt8.self, repeating: 0)
        } else {
          contents.blocks[block].withUnsafeBytes {
            target.copyMemory(from: .init(rebasing: $0[start..<start + count]))
          }
        }
      }
      return total
    }
  }

  /// Writes all the bytes, and returns their count; -EFBIG if the file would be longer than `Int.max`.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    guard offset <= UInt64(Int.max) - UInt64(bytes.count) else { return -Int(EFBIG) }
    contents.withLock { contents in
      Self.extend(&contents, to: Int(offset) + bytes.count)
      Self.forEachPart(at: Int(offset), byteCount: bytes.count) { block, start, done, count in
        if contents.blocks[block].isEmpty {
          contents.blocks[block] = [UInt8](repeating: 0, count: Self.blockByteCount)
        }
        contents.blocks[block].withUnsafeMutableBytes {
          UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + count])
            .copyMemory(from: .init(rebasing: bytes[done..<done + count]))
        }
      }
    }
    return bytes.count
  }

  /// Writes as ``write(_:at:)`` does: memory knows no durability.
  public func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    write(bytes, at: offset)
  }

  /// Does nothing, and returns 0.
  public func synchronize() -> Int32 { 0 }

  /// Extends the file to the end of the range, with zeros. -EFBIG if it would be longer than `Int.max`.
  public func allocate(at offset: UInt64, byteCount: UInt64) -> Int32 {
    guard offset <= UInt64(Int.max) - byteCount else { return -EFBIG }
    contents.withLock { Self.extend(&$0, to: Int(offset + byteCount)) }
    return 0
  }

  /// Frees the whole blocks of the range, and zeroes the rest of it.
  public func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32 {
    contents.withLock { contents in
      guard offset < UInt64(contents.byteCount) else { return }
      let end = min(byteCount, UInt64(contents.byteCount) - offset)
      Self.forEachPart(at: Int(offset), byteCount: Int(end)) { block, start, _, count in
        if count == Self.blockByteCount {
          contents.blocks[block] = []
        } else if !contents.blocks[block].isEmpty {
          for index in start..<start + count { contents.blocks[block][index] = 0 }
        }
      }
    }
    return 0
  }

  /// Sets the file's length. -EFBIG if that is more than `Int.max`.
  public func truncate(to byteCount: UInt64) -> Int32 {
    guard byteCount <= UInt64(Int.max) else { return -EFBIG }
    contents.withLock { contents in
      let byteCount = Int(byteCount)
      if byteCount < contents.byteCount {
        let keptInLast = byteCount % Self.blockByteCount
        contents.blocks.removeLast(contents.blocks.count - Self.blockCount(for: byteCount))
        if keptInLast > 0, let last = contents.blocks.indices.last, !contents.blocks[last].isEmpty {
          for index in keptInLast..<Self.blockByteCount { contents.blocks[last][index] = 0 }
        }
        contents.byteCount = byteCount
      } else {
        Self.extend(&contents, to: byteCount)
      }
    }
    return 0
  }

  /// Returns the file's size in bytes.
  public func byteCount() -> Int64 { contents.withLock { Int64($0.byteCount) } }

  /// Does nothing: the bytes are freed with the last reference to the file.
  public func close() {}

  /// The contents of the file.
  public var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(byteCount())) { buffer, count in
      count = read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
  }

  private static func blockCount(for byteCount: Int) -> Int {
    (byteCount + blockByteCount - 1) / blockByteCount
  }

  private static func extend(_ contents: inout Contents, to byteCount: Int) {
    guard byteCount > contents.byteCount else { return }
    contents.byteCount = byteCount
    let missing = blockCount(for: byteCount) - contents.blocks.count
    if missing > 0 { contents.blocks.append(contentsOf: repeatElement([], count: missing)) }
  }

  /// Calls `body` for each block that the range touches, with four numbers: the block's index, the offset in
  /// the block, the bytes of the range before it, and the bytes in it.
  private static func forEachPart(at offset: Int, byteCount: Int, _ body: (Int, Int, Int, Int) -> Void) {
    var done = 0
    while done < byteCount {
      let start = (offset + done) % blockByteCount
      let count = min(byteCount - done, blockByteCount - start)
      body((offset + done) / blockByteCount, start, done, count)
      done += count
    }
  }
}
