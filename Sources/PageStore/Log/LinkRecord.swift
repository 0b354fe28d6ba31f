/// The payload of a link record: the use of an extent in which the log continues.
///
/// The link contains epoch and salt, so that the records after it can be checked even if the next extent's
/// own headers are damaged. Docs/FileFormat.md, section 7.
enum LinkRecord {
  static let byteCount = 28

  static func encoded(_ next: LogExtentUse) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendInteger(next.extent.offset)
    bytes.appendInteger(next.extent.byteCount)
    bytes.appendInteger(next.salt)
    bytes.appendInteger(next.epoch)
    return bytes
  }

  static func decode(_ payload: UnsafeRawBufferPointer, pageSize: UInt64) -> LogExtentUse? {
    var reader = ByteReader(payload)
    guard let offset = reader.integer(UInt64.self), let byteCount = reader.integer(UInt64.self),
      let salt = reader.integer(UInt64.self), let epoch = reader.integer(UInt32.self), reader.isAtEnd
    else { return nil }
    let extent = Extent(offset: offset, byteCount: byteCount)
    guard extent.isPlausible(pageSize: pageSize), byteCount <= LogExtentUse.byteLimit,
      epoch < LogExtentUse.epochLimit
    else { return nil }
    return LogExtentUse(extent: extent, epoch: epoch, salt: salt)
  }
}
