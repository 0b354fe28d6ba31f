/// The order of keys: by unsigned bytes, a proper prefix first.
enum ByteComparison {
  /// Returns a negative number, zero or a positive number if the first string sorts before, equals or sorts
  /// after the second.
  @inline(__always)
  static func compare(
    _ left: UnsafeRawPointer,
    _ leftCount: Int,
    _ right: UnsafeRawPointer,
    _ rightCount: Int
  ) -> Int {
    let common = min(leftCount, rightCount)
    if common >= 8 {
      var offset = 0
      while offset &+ 8 <= common {
        let order = compareWords(UInt64.self, left, right, offset)
        if order != 0 { return order }
        offset &+= 8
      }
      // The last word overlaps bytes that are known to be equal.
      let order = compareWords(UInt64.self, left, right, common &- 8)
      return order != 0 ? order : leftCount &- rightCount
    }
    if common >= 4 {
      let order = compareWords(UInt32.self, left, right, 0)
      if order != 0 { return order }
      let last = compareWords(UInt32.self, left, right, common &- 4)
      return last != 0 ? last : leftCount &- rightCount
    }
    var offset = 0
    while offset < common {
      let order = compareWords(UInt8.self, left, right, offset)
      if order != 0 { return order }
      offset &+= 1
    }
    return leftCount &- rightCount
  }

  /// Compares as many bytes as the integer type has, the first byte being the most significant.
  @inline(__always)
  private static func compareWords<Word: FixedWidthInteger & BitwiseCopyable>(
    _ type: Word.Type,
    _ left: UnsafeRawPointer,
    _ right: UnsafeRawPointer,
    _ offset: Int
  ) -> Int {
    let a = left.loadUnaligned(fromByteOffset: offset, as: Word.self)
    let b = right.loadUnaligned(fromByteOffset: offset, as: Word.self)
    if a == b { return 0 }
    return Word(bigEndian: a) < Word(bigEndian: b) ? -1 : 1
  }

  /// Compares two buffers as ``compare(_:_:_:_:)`` does.
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    compare(left.start, left.count, right.start, right.count)
  }

  /// Returns the length of the common prefix of two strings, `limit` at most.
  @inline(__always)
  static func commonPrefix(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, limit: Int) -> Int {
    var offset = 0
    while offset &+ 8 <= limit {
      let a = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let b = right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if a != b { return offset &+ (UInt64(littleEndian: a ^ b).trailingZeroBitCount >> 3) }
      offset &+= 8
    }
    while offset < limit {
      if left.load(fromByteOffset: offset, as: UInt8.self)
        != right.load(fromByteOffset: offset, as: UInt8.self)
      {
        return offset
      }
      offset &+= 1
    }
    return offset
  }

  /// Returns the first bytes, as many as the type has, as a big-endian number; missing bytes are zero. An
  /// order-preserving digest of a key: if two are equal, the whole keys decide.
  @inline(__always)
  static func head<Head: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: UnsafeRawPointer,
    _ count: Int,
    as type: Head.Type = UInt32.self
  ) -> Head {
    let width = MemoryLayout<Head>.size
    if count >= width { return Head(bigEndian: bytes.loadUnaligned(as: Head.self)) }
    var head: Head = 0
    var offset = 0
    while offset < count {
      let byte = Head(truncatingIfNeeded: bytes.load(fromByteOffset: offset, as: UInt8.self))
      head |= byte &<< Head(truncatingIfNeeded: 8 &* (width &- 1 &- offset))
      offset &+= 1
    }
    return head
  }
}

extension UnsafeRawBufferPointer {
  /// The address of the first byte; for an empty buffer, which may have none, an arbitrary address.
  @inline(__always)
  var start: UnsafeRawPointer {
    // An empty buffer is never read, so the address only has to be non-zero. A positive bit pattern always
    // makes a pointer.
    baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
  }
}
