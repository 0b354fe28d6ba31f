/// The bytes of a value that a walk has found: in a page, in a buffer, or in memory of their own.
///
/// Valid until the walk ends, unless ``base`` is protected.
struct ValueBytes {
  let bytes: UnsafeRawBufferPointer
  /// The page or buffer that has the bytes; nil for memory that this struct keeps alive.
  let base: UnsafeRawPointer?
  private let owner: OverflowBuffer?

  @inline(__always)
  init(borrowing bytes: UnsafeRawBufferPointer, in base: UnsafeRawPointer) {
    self.bytes = bytes
    self.base = base
    owner = nil
  }

  init(owner: OverflowBuffer) {
    bytes = owner.bytes
    base = nil
    self.owner = owner
  }

  /// Returns a copy of the bytes in memory of its own.
  func copy() -> ValueBytes {
    guard base != nil else { return self }
    let copy = OverflowBuffer()
    copy.append(bytes, limit: bytes.count)
    return ValueBytes(owner: copy)
  }

  /// Calls `body` with the bytes, which are kept alive until it returns.
  @inline(__always)
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(owner) {} }
    return try body(bytes)
  }
}

/// The value of a key, without a copy wherever possible. Its page or buffer stays in memory as long as this
/// exists.
package struct FoundValue: ~Copyable {
  private let value: ValueBytes
  private let reader: Reader

  /// Owns a reader whose walk has ended, and which protects the value.
  @inline(__always)
  init(_ value: ValueBytes, protectedBy reader: Reader) {
    self.value = value
    self.reader = reader
  }

  deinit { reader.leave() }

  /// Calls `body` with the bytes.
  @inline(__always)
  package borrowing func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try value.withBytes(body)
  }
}

/// The bytes of an overflowing value that was read from the file.
final class OverflowBuffer {
  private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var count = 0

  deinit { storage.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

  /// Adds bytes. The buffer grows by doubling, up to `limit`, which its contents must not exceed.
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
