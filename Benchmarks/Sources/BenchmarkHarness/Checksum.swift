/// Sums up all bytes that a peer reads, in the order in which it reads them: two peers that read the same have the same
/// sum.
///
/// The sum isn't made to withstand an adversary. It costs little compared with the measured work, and depends on every
/// byte.
@frozen
package struct Checksum: Sendable {
  @usableFromInline var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  @usableFromInline var count = 0

  @inlinable
  package init() {}

  /// The sum of what was added so far.
  package var value: UInt64 { state ^ UInt64(truncatingIfNeeded: count) }

  @inlinable @inline(__always)
  package mutating func add(_ word: UInt64) {
    state = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
    state ^= state >> 32
    count &+= 1
  }

  @inlinable @inline(__always)
  package mutating func add(_ number: Int) { add(UInt64(truncatingIfNeeded: number)) }

  @inlinable @inline(__always)
  package mutating func add(_ number: Double) { add(number.bitPattern) }

  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  /// Four independent lanes of eight bytes each, so that the sum doesn't wait for its own multiplications.
  @inlinable @inline(__always)
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
    var offset = 0
    while offset &+ 32 <= bytes.count {
      lanes.0 = (lanes.0 ^ Self.word(bytes, offset)) &* 0x9FB2_1C65_1E98_DF25
      lanes.1 = (lanes.1 ^ Self.word(bytes, offset &+ 8)) &* 0xC2B2_AE3D_27D4_EB4F
      lanes.2 = (lanes.2 ^ Self.word(bytes, offset &+ 16)) &* 0x1656_67B1_9E37_79F9
      lanes.3 = (lanes.3 ^ Self.word(bytes, offset &+ 24)) &* 0x2545_F491_4F6C_DD1D
      offset &+= 32
    }
    while offset &+ 8 <= bytes.count {
      lanes.0 = (lanes.0 ^ Self.word(bytes, offset)) &* 0x9FB2_1C65_1E98_DF25
      offset &+= 8
    }
    while offset < bytes.count {
      lanes.1 = (lanes.1 ^ UInt64(bytes[offset])) &* 0xC2B2_AE3D_27D4_EB4F
      offset &+= 1
    }
    add(lanes.0 ^ (lanes.1 >> 7) ^ (lanes.2 << 9) ^ (lanes.3 >> 17) ^ UInt64(bytes.count))
  }

  @inlinable @inline(__always)
  static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
