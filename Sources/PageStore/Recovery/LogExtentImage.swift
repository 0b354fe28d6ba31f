/// The bytes of a log extent, read at once. What the file lacks of it is zeros.
final class LogExtentImage {
  let use: LogExtentUse
  private let bytes: UnsafeMutableRawBufferPointer

  /// The longest log extent there can be; one that claims more is not read.
  static let byteLimit = UInt64(LogRecordHeader.byteLimit) + (64 << 10)

  init(_ use: LogExtentUse, from file: StoreFile) throws(StoreError) {
    guard use.extent.byteCount <= Self.byteLimit else {
      throw StoreError(
        .corrupt,
        "a log extent claims \(use.extent.byteCount) bytes",
        context: .init(offset: use.extent.offset)
      )
    }
    self.use = use
    bytes = .allocate(byteCount: Int(use.extent.byteCount), alignment: 16)
    // An error from here on runs `deinit`: every property has its value.
    let count = try file.read(into: bytes, at: use.extent.offset)
    UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { bytes.deallocate() }

  struct Record {
    var header: LogRecordHeader
    var checksum: UInt64
    /// Valid while the image lives.
    var payload: UnsafeRawBufferPointer
  }

  /// The whole and undamaged record of this use at `offset` of the file.
  func record(at offset: UInt64) -> Record? {
    guard offset >= use.firstRecordOffset, offset < use.extent.end, offset % LogExtentUse.recordAlignment == 0
    else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[Int(offset - use.extent.offset)...])
    guard let (header, checksum) = LogRecordHeader.decode(rest, use: use) else { return nil }
    let payload = rest[LogRecordHeader.encodedByteCount..<Int(header.byteCount)]
    return Record(header: header, checksum: checksum, payload: UnsafeRawBufferPointer(rebasing: payload))
  }

  /// Calls `body` with every undamaged record from `offset` on, whatever lies between.
  func forEachRecord(from offset: UInt64, _ body: (UInt64, Record) -> Void) {
    var offset = offset
    while offset < use.extent.end {
      if let record = record(at: offset) {
        body(offset, record)
        offset += record.header.paddedByteCount
      } else {
        offset += LogExtentUse.recordAlignment
      }
    }
  }
}
