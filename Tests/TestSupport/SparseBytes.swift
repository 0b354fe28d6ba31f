/// The content of a simulated file: chunks that exist where something was written, zeros elsewhere.
///
/// Copies share their chunks until one of them is changed, so that a crash image costs what it changes, and a file
/// may be many gigabytes long.
public struct SparseBytes: Sendable {
  private static let chunkByteCount = 16_384

  private var chunks: [UInt64: [UInt8]] = [:]
  /// The file's size in bytes. Bytes past it read as zeros if it grows again.
  public private(set) var byteCount: UInt64 = 0

  public init() {}

  public init(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { write($0, at: 0) }
  }

  /// Copies the bytes at `offset` into `buffer`; what lies past the end is not touched. Returns how many there were.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
    guard offset < byteCount else { return 0 }
    let count = Int(min(UInt64(buffer.count), byteCount - offset))
    var done = 0
    while done < count {
      let (chunk, start, length) = Self.piece(at: offset + UInt64(done), limit: count - done)
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length])
      if let bytes = chunks[chunk] {
        bytes.withUnsafeBytes {
          target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + length]))
        }
      } else {
        target.initializeMemory(as: UInt8.self, repeating: 0)
      }
      done += length
    }
    return count
  }

  /// The bytes of `range`, as far as the file reaches.
  public func bytes(in range: Range<UInt64>) -> [UInt8] {
    let end = min(range.upperBound, byteCount)
    guard range.lowerBound < end else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(end - range.lowerBound)) { buffer, count in
      count = read(into: UnsafeMutableRawBufferPointer(buffer), at: range.lowerBound)
    }
  }

  /// The start of the first chunk at or after `offset` in which something was written, or `offset` inside of one; nil
  /// if there is none.
  public func nextData(from offset: UInt64) -> UInt64? {
    let size = UInt64(Self.chunkByteCount)
    let starts = chunks.keys.lazy.filter { ($0 + 1) * size > offset && $0 * size < byteCount }
    return starts.min().map { max(offset, $0 * size) }
  }

  /// All bytes of the file.
  public var bytes: [UInt8] { bytes(in: 0..<byteCount) }

  /// Puts `bytes` at `offset`; the file grows to hold them.
  public mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    overwrite(bytes, at: offset)
    byteCount = max(byteCount, offset + UInt64(bytes.count))
  }

  /// Puts `bytes` at `offset`; the size stays, even where they lie past it.
  public mutating func overwrite(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    var done = 0
    while done < bytes.count {
      let (chunk, start, length) = Self.piece(at: offset + UInt64(done), limit: bytes.count - done)
      let source = UnsafeRawBufferPointer(rebasing: bytes[done..<done + length])
      chunks[chunk, default: Self.emptyChunk].withUnsafeMutableBytes { target in
        UnsafeMutableRawBufferPointer(rebasing: target[start..<start + length]).copyMemory(from: source)
      }
      done += length
    }
  }

  public mutating func write(_ bytes: [UInt8], at offset: UInt64) {
    bytes.withUnsafeBytes { write($0, at: offset) }
  }

  public mutating func overwrite(_ bytes: [UInt8], at offset: UInt64) {
    bytes.withUnsafeBytes { overwrite($0, at: offset) }
  }

  /// Sets the size; bytes that lie past it are forgotten.
  public mutating func truncate(to size: UInt64) {
    forget(from: size)
    byteCount = size
  }

  private mutating func forget(from offset: UInt64) {
    let (chunk, start, length) = Self.piece(at: offset, limit: Self.chunkByteCount)
    for later in chunks.keys where later > chunk || (later == chunk && start == 0) { chunks[later] = nil }
    if start > 0, chunks[chunk] != nil {
      overwrite(UnsafeRawBufferPointer.zeros(length), at: offset)
    }
  }

  private static let emptyChunk = [UInt8](repeating: 0, count: chunkByteCount)

  /// The part of the chunk at `offset`, at most `limit` bytes of it.
  private static func piece(at offset: UInt64, limit: Int) -> (chunk: UInt64, start: Int, length: Int) {
    let start = Int(offset % UInt64(chunkByteCount))
    return (offset / UInt64(chunkByteCount), start, min(limit, chunkByteCount - start))
  }
}

extension UnsafeRawBufferPointer {
  /// `count` zeros, at most 64 KiB, that live as long as the process.
  static func zeros(_ count: Int) -> UnsafeRawBufferPointer {
    precondition(count <= zeroBytes.count)
    return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(zeroBytes)[0..<count])
  }

  // Safety: the memory is zeroed once, never written again, and never freed.
  private nonisolated(unsafe) static let zeroBytes: UnsafeRawBufferPointer = {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    return UnsafeRawBufferPointer(memory)
  }()
}
