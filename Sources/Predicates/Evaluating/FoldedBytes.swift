/// The folding of the UTF-8 bytes of a string as ``StringFolding`` does it, without a String where the bytes are ASCII.
package enum FoldedBytes {
  /// Calls `body` with the folded bytes: without options, the bytes as they are.
  package static func withFolded<R>(
    _ bytes: UnsafeRawBufferPointer,
    _ options: StringOptions,
    _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    if options.isEmpty { return body(bytes) }
    guard options.contains(.caseInsensitive) else {
      return ASCIIBytes.areASCII(bytes) ? body(bytes) : withFoldedText(bytes, options, body)
    }
    return withUnsafeTemporaryAllocation(byteCount: max(1, bytes.count), alignment: 8) { buffer in
      guard ASCIIBytes.lowercase(bytes, into: buffer) else { return withFoldedText(bytes, options, body) }
      return body(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
    }
  }

  private static func withFoldedText<R>(
    _ bytes: UnsafeRawBufferPointer,
    _ options: StringOptions,
    _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    var folded = StringFolding.fold(String(decoding: bytes, as: UTF8.self), options)
    return folded.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}

/// Operations on ASCII bytes, eight at a time.
enum ASCIIBytes {
  private static let highBits: UInt64 = 0x8080_8080_8080_8080
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  static func areASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    var union: UInt64 = 0
    while position &+ 8 <= bytes.count {
      union |= bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      position &+= 8
    }
    while position < bytes.count {
      union |= UInt64(bytes[position])
      position &+= 1
    }
    return union & highBits == 0
  }

  /// Writes the bytes, in lower case, to the start of the buffer, which has room for them. Returns false if a byte
  /// is not ASCII; the buffer's content is then meaningless.
  static func lowercase(_ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var position = 0
    var union: UInt64 = 0
    while position &+ 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      union |= word
      buffer.storeBytes(of: lowercase(word), toByteOffset: position, as: UInt64.self)
      position &+= 8
    }
    while position < bytes.count {
      let byte = UInt64(bytes[position])
      union |= byte
      buffer[position] = UInt8(truncatingIfNeeded: lowercase(byte))
      position &+= 1
    }
    return union & highBits == 0
  }

  /// Returns the lower case of eight bytes below 0x80. One sum sets the high bit of a byte that is at least A, the
  /// other that of a byte greater than Z; neither carries into the next byte.
  @inline(__always)
  private static func lowercase(_ word: UInt64) -> UInt64 {
    let fromA = word &+ ones &* UInt64(0x80 - UInt8(ascii: "A"))
    let afterZ = word &+ ones &* UInt64(0x7F - UInt8(ascii: "Z"))
    return word | (fromA & ~afterZ & highBits) >> 2
  }
}
