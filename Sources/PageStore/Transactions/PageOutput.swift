/// Gathers the images of a checkpoint into large writes: images that come one after the other, and are
/// adjacent in the file, are written together.
final class PageOutput {
  private let file: StoreFile
  private let pageSize: UInt64
  private var offset: UInt64 = 0
  private var buffer: [UInt8] = []

  private static let batchByteCount = 1 << 20

  init(file: StoreFile, pageSize: UInt64) {
    self.file = file
    self.pageSize = pageSize
  }

  /// Takes whole pages, of which the first has this number.
  func append(_ bytes: UnsafeRawBufferPointer, at number: UInt64) throws(StoreError) {
    let start = number * pageSize
    if start != offset + UInt64(buffer.count) || buffer.count >= Self.batchByteCount {
      try flush()
      offset = start
    }
    buffer.append(contentsOf: bytes)
  }

  /// Writes the gathered images.
  func flush() throws(StoreError) {
    if buffer.isEmpty { return }
    try buffer.withBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
    buffer.removeAll(keepingCapacity: true)
  }
}
