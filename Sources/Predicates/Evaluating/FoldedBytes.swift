/// Folds the UTF-8 bytes of a string as ``StringFolding`` does, without a String where they are ASCII.
package enum FoldedBytes {
  /// Calls `body` with the folded bytes: without options, the bytes as they are.
  package static func withFolded<R>(
    _ bytes: UnsafeRawBufferPointer,
    _ options: StringOptions,
    _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    if options.isEmpty { return body(bytes) }
    guard bytes.allSatisfy({ $0 < 0x80 }) else {
      var folded = StringFolding.fold(String(decoding: bytes, as: UTF8.self), options)
      return folded.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
    guard options.contains(.caseInsensitive) else { return body(bytes) }
    return withUnsafeTemporaryAllocation(byteCount: max(1, bytes.count), alignment: 1) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[index] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
      }
      return body(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
    }
  }
}
