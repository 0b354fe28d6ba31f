/// Gathers a checkpoint's images into large writes.
final class PageOutput {
  private let file: StoreFile
  private var offset: UInt64
  private var buffer: [UInt8] = []

  private static let batchByteCount = 1 << 20

  init(file: StoreFile, offset: UInt64) {
    self.file = file
    self.offset = offset
  }

  func append(_ bytes: [UInt8]) throws(StoreError) {
    try bytes.withBytes { bytes throws(StoreError) in try append(bytes) }
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.batchByteCount { try flush() }
  }

  func flush() throws(StoreError) {
    try buffer.withBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
    offset += UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }
}
