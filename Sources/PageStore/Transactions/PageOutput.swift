/// Gathers a checkpoint's images into large writes: as many as lie side by side in the file, in the order in which they come.
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

  /// Takes whole pages that belong at the page with this number.
  func append(_ bytes: UnsafeRawBufferPointer, at number: UInt64) throws(StoreError) {
    let start = number * pageSize
    if start != offset + UInt64(buffer.count) || buffer.count >= Self.batchByteCount {
      try flush()
      offset = start
    }
    buffer.append(contentsOf: bytes)
  }

  /// Writes what has gathered.
  func flush() throws(StoreError) {
    if buffer.isEmpty { return }
    try buffer.withBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
    buffer.removeAll(keepingCapacity: true)
  }
}
