/// Recomputes the checksums of a changed file, so that fuzzers reach the code behind the checks.
@_spi(Testing)
public enum FileSealing {
  /// Seals every block that has the format's magic number, every page, and the records of every legible use
  /// of a log extent. Copies of their checksums elsewhere are updated, too.
  public static func seal(_ file: inout [UInt8]) {
    file.withUnsafeMutableBytes { bytes in
      let sector = FormatIdentity.blockByteCount
      for offset in stride(from: 0, through: bytes.count - sector, by: sector) {
        sealBlock(UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + sector]))
      }
      guard let identity = identity(of: UnsafeRawBufferPointer(bytes)),
        FileLayout.isValidPageSize(Int(identity.pageSize))
      else { return }
      let pages = PageSealing(bytes, pageSize: Int(identity.pageSize))
      for offset in stride(from: 0, to: bytes.count, by: sector) {
        let block = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[offset...])
        guard let use = LogExtentUseHeader.decode(block: block, at: UInt64(offset), of: identity) else {
          continue
        }
        sealRecords(of: use, in: bytes, pages)
      }
      for offset in FileLayout.anchorOffsets { sealAnchor(at: Int(offset), in: bytes) }
    }
  }

  /// Stores the checksum of the record that an anchor leads to in the anchor.
  private static func sealAnchor(at offset: Int, in file: UnsafeMutableRawBufferPointer) {
    guard offset + FormatIdentity.blockByteCount <= file.count else { return }
    let bytes = UnsafeRawBufferPointer(file)
    let record = Int(clamping: bytes.integer(at: offset + Anchor.Offset.recordOffset, as: UInt64.self))
    guard record <= file.count - LogRecordHeader.encodedByteCount,
      bytes.integer(at: record + LogRecordHeader.Offset.magic, as: UInt32.self) == LogRecordHeader.magic
    else { return }
    let checksum = bytes.integer(at: record + LogRecordHeader.Offset.checksum, as: UInt64.self)
    file.setInteger(checksum, at: offset + Anchor.Offset.recordChecksum)
    let block = file[offset..<offset + FormatIdentity.blockByteCount]
    sealBlock(UnsafeMutableRawBufferPointer(rebasing: block))
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

  /// Seals the records of a use in order, because each has the checksum of the one before it.
  private static func sealRecords(
    of use: LogExtentUse,
    in file: UnsafeMutableRawBufferPointer,
    _ pages: PageSealing
  ) {
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
      mendTrees(ofRecordAt: offset, byteCount: byteCount, in: bytes, pages)
      if let previous { rest.setInteger(previous, at: LogRecordHeader.Offset.previousChecksum) }
      let covered = UnsafeRawBufferPointer(rebasing: rest[LogRecordHeader.Offset.magic..<byteCount])
      let checksum = XXH64.hash(covered, seed: use.salt)
      rest.setInteger(checksum, at: LogRecordHeader.Offset.checksum)
      previous = checksum
      offset += Int(UInt64(byteCount).roundedUp(to: LogExtentUse.recordAlignment))
    }
  }

  /// Updates the checksums in a checkpoint record's references to its trees.
  private static func mendTrees(
    ofRecordAt offset: Int,
    byteCount: Int,
    in file: UnsafeRawBufferPointer,
    _ pages: PageSealing
  ) {
    let fixedByteCount = LogRecordHeader.encodedByteCount + CheckpointRecord.fixedByteCount
    guard file[offset + LogRecordHeader.Offset.kind] == LogRecordHeader.Kind.checkpoint.rawValue,
      byteCount >= fixedByteCount
    else { return }
    typealias Fields = CheckpointRecord.Offset
    for field in [Fields.catalogue, Fields.spaceTree, Fields.previousSpaceTree] {
      pages.mend(referenceAt: offset + LogRecordHeader.encodedByteCount + field + StoredTree.Offset.location)
    }
  }
}
