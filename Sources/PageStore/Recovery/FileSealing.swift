/// Makes the checksums of a changed file fit again: a way for fuzzers past the checksums, behind which hostile bytes would
/// have to lie. Pages are not sealed, because their checksums are in their parents; ``PageProbe`` does that.
@_spi(Testing)
public enum FileSealing {
  /// Seals every block that has the format's magic number, and the records of every legible use of a log extent.
  public static func seal(_ file: inout [UInt8]) {
    file.withUnsafeMutableBytes { bytes in
      let sector = FormatIdentity.blockByteCount
      for offset in stride(from: 0, through: bytes.count - sector, by: sector) {
        sealBlock(UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + sector]))
      }
      guard let identity = identity(of: UnsafeRawBufferPointer(bytes)) else { return }
      for offset in stride(from: 0, to: bytes.count, by: sector) {
        let block = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[offset...])
        guard let use = LogExtentUseHeader.decode(block: block, at: UInt64(offset), of: identity) else {
          continue
        }
        sealRecords(of: use, in: bytes)
      }
    }
  }

  private static func sealBlock(_ block: UnsafeMutableRawBufferPointer) {
    let bytes = UnsafeRawBufferPointer(block)
    guard bytes.integer(at: FormatIdentity.Offset.magic, as: UInt64.self) == FormatIdentity.magic else {
      return
    }
    let checksum = XXH64.hash(
      UnsafeRawBufferPointer(rebasing: bytes[..<FormatIdentity.checksumOffset]),
      seed: 0
    )
    block.setInteger(checksum, at: FormatIdentity.checksumOffset)
  }

  private static func identity(of file: UnsafeRawBufferPointer) -> FormatIdentity? {
    let starts = [FileLayout.headerOffset] + FileLayout.anchorOffsets
    for (start, kind) in zip(starts, [FormatIdentity.BlockKind.header, .anchor, .anchor])
    where Int(start) < file.count {
      let block = UnsafeRawBufferPointer(rebasing: file[Int(start)...])
      if let identity = FormatIdentity(block: block, kind: kind) { return identity }
    }
    return nil
  }

  /// Goes from record to record, so that each has the checksum of the one before it.
  private static func sealRecords(of use: LogExtentUse, in file: UnsafeMutableRawBufferPointer) {
    let bytes = UnsafeRawBufferPointer(file)
    var offset = Int(clamping: use.firstRecordOffset)
    let end = min(bytes.count, Int(clamping: use.extent.end))
    var previous: UInt64?
    while offset + LogRecordHeader.encodedByteCount <= end {
      let rest = UnsafeMutableRawBufferPointer(rebasing: file[offset..<end])
      let byteCount = Int(bytes.integer(at: offset + LogRecordHeader.Offset.byteCount, as: UInt32.self))
      guard
        bytes.integer(at: offset + LogRecordHeader.Offset.magic, as: UInt32.self) == LogRecordHeader.magic,
        byteCount >= LogRecordHeader.encodedByteCount, byteCount <= rest.count
      else { return }
      if let previous { rest.setInteger(previous, at: LogRecordHeader.Offset.previousChecksum) }
      let covered = UnsafeRawBufferPointer(rebasing: rest[LogRecordHeader.Offset.magic..<byteCount])
      let checksum = XXH64.hash(covered, seed: use.salt)
      rest.setInteger(checksum, at: LogRecordHeader.Offset.checksum)
      previous = checksum
      offset += Int(UInt64(byteCount).roundedUp(to: LogExtentUse.recordAlignment))
    }
  }
}
