/// Reads fields one after the other from untrusted bytes: every read is checked, and returns nil instead of
/// passing the end.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type) -> Value? {
    guard bytes.count - offset >= MemoryLayout<Value>.size else { return nil }
    defer { offset += MemoryLayout<Value>.size }
    return bytes.integer(at: offset, as: type)
  }

  /// Reads an unsigned LEB128 number of at most 63 bits.
  mutating func variableLengthInteger() -> Int? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 63, by: 7) {
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return Int(value) }
    }
    return nil
  }

  mutating func slice(byteCount: Int) -> UnsafeRawBufferPointer? {
    guard byteCount >= 0, bytes.count - offset >= byteCount else { return nil }
    defer { offset += byteCount }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + byteCount])
  }

  /// Reads bytes that are preceded by their count.
  mutating func countedSlice() -> UnsafeRawBufferPointer? {
    guard let byteCount = variableLengthInteger() else { return nil }
    return slice(byteCount: byteCount)
  }
}

/// Appends the fields that ``ByteReader`` reads.
extension [UInt8] {
  mutating func appendInteger<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  mutating func appendVariableLengthInteger(_ value: Int) {
    var rest = UInt64(value)
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  mutating func appendCounted(_ bytes: UnsafeRawBufferPointer) {
    appendVariableLengthInteger(bytes.count)
    append(contentsOf: bytes)
  }
}
