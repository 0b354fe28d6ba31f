/// Folds the UTF-8 bytes of a string as ``CaseFolding`` does, without a String where they are ASCII.
enum FoldedBytes {
  static func withFolded<R>(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard bytes.allSatisfy({ $0 < 0x80 }) else {
      var folded = CaseFolding.fold(String(decoding: bytes, as: UTF8.self))
      return folded.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
    return withUnsafeTemporaryAllocation(byteCount: max(1, bytes.count), alignment: 1) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[index] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
      }
      return body(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
    }
  }

  static func folded(_ text: String) -> [UInt8] { Array(CaseFolding.fold(text).utf8) }
}
