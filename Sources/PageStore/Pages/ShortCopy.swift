/// Copying a few bytes without a call.
@usableFromInline
package enum ShortCopy {
  /// Copies `count` bytes between ranges that don't overlap. Accesses no bytes outside them.
  @inlinable
  @inline(__always)
  package static func copy(
    from source: UnsafeRawPointer,
    to target: UnsafeMutableRawPointer,
    count: Int
  ) {
    if count >= 8 {
      guard count <= 64 else { return target.copyMemory(from: source, byteCount: count) }
      var offset = 0
      while offset &+ 8 <= count {
        copyWord(UInt64.self, source, target, offset)
        offset &+= 8
      }
      // The last word overlaps the one before it.
      copyWord(UInt64.self, source, target, count &- 8)
    } else if count >= 4 {
      copyWord(UInt32.self, source, target, 0)
      copyWord(UInt32.self, source, target, count &- 4)
    } else {
      var offset = 0
      while offset < count {
        copyWord(UInt8.self, source, target, offset)
        offset &+= 1
      }
    }
  }

  @inlinable
  @inline(__always)
  static func copyWord<Word: BitwiseCopyable>(
    _ type: Word.Type,
    _ source: UnsafeRawPointer,
    _ target: UnsafeMutableRawPointer,
    _ offset: Int
  ) {
    target.storeBytes(
      of: source.loadUnaligned(fromByteOffset: offset, as: Word.self),
      toByteOffset: offset,
      as: Word.self
    )
  }
}
