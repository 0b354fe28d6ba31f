import Synchronization

/// Buffers for overflowing values and keys that no checkpoint has written yet, numbered from 1.
///
/// Reading takes no lock. Allocation and release are safe from any thread; whoever releases a buffer has made
/// sure that nobody reads it.
final class BlobTable: Sendable {
  private struct State {
    var free: [UInt64] = []
    var next: UInt64 = 1
    var usedByteCount = 0
  }

  /// Address of each buffer: its length, where it was written, then its bytes.
  private let buffers = AtomicTable()
  private let state = Mutex(State())

  private static let headerByteCount = 32
  private static let placeOffset = 8

  deinit {
    buffers.forEach { UnsafeMutableRawPointer(bitPattern: $0)?.deallocate() }
    buffers.deallocate()
  }

  /// A buffer with a copy of `bytes`.
  func allocate(copying bytes: UnsafeRawBufferPointer) -> UInt64 {
    let buffer = UnsafeMutableRawPointer.allocate(
      byteCount: Self.headerByteCount + bytes.count,
      alignment: 16
    )
    buffer.storeBytes(of: bytes.count, as: Int.self)
    StoredPlace.none.store(to: buffer + Self.placeOffset)
    if let source = bytes.baseAddress {
      (buffer + Self.headerByteCount).copyMemory(from: source, byteCount: bytes.count)
    }
    let index = state.withLock { state in
      state.usedByteCount += bytes.count
      if let index = state.free.popLast() { return index }
      defer { state.next += 1 }
      return state.next
    }
    buffers.exchange(UInt(bitPattern: buffer), at: index)
    return index
  }

  /// The bytes of an allocated buffer.
  func bytes(_ index: UInt64) -> UnsafeRawBufferPointer {
    // References to buffers exist only in memory, made by `allocate`; bytes from a file never hold one.
    let buffer = UnsafeRawPointer(bitPattern: buffers.load(index)).unsafelyUnwrapped
    return UnsafeRawBufferPointer(start: buffer + Self.headerByteCount, count: buffer.load(as: Int.self))
  }

  /// Where a checkpoint has written an allocated buffer. For checkpoints only.
  func storedPlace(_ index: UInt64) -> StoredPlace {
    let buffer = UnsafeRawPointer(bitPattern: buffers.load(index)).unsafelyUnwrapped
    return StoredPlace(loading: buffer + Self.placeOffset)
  }

  /// Notes where an allocated buffer has been written. For checkpoints only.
  func setStoredPlace(_ place: StoredPlace, of index: UInt64) {
    let buffer = UnsafeMutableRawPointer(bitPattern: buffers.load(index)).unsafelyUnwrapped
    place.store(to: buffer + Self.placeOffset)
  }

  /// Takes buffers back.
  func free(_ indexes: [UInt64]) {
    var byteCount = 0
    for index in indexes {
      guard let buffer = UnsafeMutableRawPointer(bitPattern: buffers.exchange(0, at: index)) else { continue }
      byteCount += buffer.load(as: Int.self)
      buffer.deallocate()
    }
    state.withLock { state in
      state.free.append(contentsOf: indexes)
      state.usedByteCount -= byteCount
    }
  }

  /// Bytes of buffers that are in use.
  var usedByteCount: Int { state.withLock { $0.usedByteCount } }
}

/// A value's bytes: in a page, or in a buffer that this struct keeps alive.
package struct ValueBytes {
  /// Valid while the snapshot lives, or until the tree's next change in a write transaction, and as long as
  /// this struct does.
  package let bytes: UnsafeRawBufferPointer
  private let owner: OverflowBuffer?

  /// Whether the bytes live only as long as this struct, not as long as the snapshot.
  package var isOwned: Bool { owner != nil }

  @inline(__always)
  init(borrowing bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    owner = nil
  }

  init(owner: OverflowBuffer) {
    bytes = owner.bytes
    self.owner = owner
  }

  /// Calls `body` with the bytes, kept alive until it returns.
  @inline(__always)
  package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(owner) {} }
    return try body(bytes)
  }
}

/// An overflowing value as it was read from the file.
final class OverflowBuffer {
  private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var count = 0

  deinit { storage.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

  /// Adds bytes. The buffer grows by doubling, but not beyond `limit`, which it must not come to exceed.
  func append(_ bytes: UnsafeRawBufferPointer, limit: Int) {
    if count + bytes.count > storage.count {
      let size = min(limit, max(2 * storage.count, count + bytes.count))
      let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
      grown.copyMemory(from: self.bytes)
      storage.deallocate()
      storage = grown
    }
    UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
    count += bytes.count
  }
}
