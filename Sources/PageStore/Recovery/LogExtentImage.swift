/// The bytes of a log extent, read on demand, so that opening a closed store doesn't read its whole log.
/// Bytes of the extent past the end of the file are zeros.
final class LogExtentImage {
  let use: LogExtentUse
  private let file: StoreFile
  private let budget: LogReadBudget
  /// Memory for the whole extent. The part that wasn't read isn't touched, and so takes no memory.
  private let bytes: UnsafeMutableRawBufferPointer
  /// The part that was read. Its bytes don't move.
  private var loaded = 0..<0

  /// Bytes that are read at a time; fewer the first time, because mostly there is only one record.
  private static let stepByteCount = 64 << 10
  private static let firstStepByteCount = 4 << 10

  /// - Parameter budget: the bytes that may be read and hashed, of this extent and others.
  init(_ use: LogExtentUse, from file: StoreFile, _ budget: LogReadBudget) throws(StoreError) {
    guard use.extent.byteCount <= LogExtentUse.byteLimit else {
      throw StoreError(
        .corrupt,
        "a log extent can't have \(use.extent.byteCount) bytes",
        context: .init(offset: use.extent.offset)
      )
    }
    self.use = use
    self.file = file
    self.budget = budget
    bytes = .allocate(byteCount: Int(use.extent.byteCount), alignment: 16)
  }

  deinit { bytes.deallocate() }

  struct Record {
    var header: LogRecordHeader
    var checksum: UInt64
    /// Valid while the image lives.
    var payload: UnsafeRawBufferPointer
  }

  /// Returns the complete and undamaged record of this use at `offset` of the file; nil if there is none.
  func record(at offset: UInt64) throws(StoreError) -> Record? {
    guard offset >= use.firstRecordOffset, offset < use.extent.end, offset % LogExtentUse.recordAlignment == 0
    else { return nil }
    let start = Int(offset - use.extent.offset)
    let header = try load(start..<min(start + LogRecordHeader.encodedByteCount, bytes.count))
    guard let byteCount = LogRecordHeader.claimedByteCount(header, use: use),
      byteCount <= bytes.count - start
    else { return nil }
    let whole = try load(start..<start + byteCount)
    try budget.spend(UInt64(byteCount))
    guard let (header, checksum) = LogRecordHeader.decode(whole, use: use) else { return nil }
    let payload = whole[LogRecordHeader.encodedByteCount..<Int(header.byteCount)]
    return Record(header: header, checksum: checksum, payload: UnsafeRawBufferPointer(rebasing: payload))
  }

  /// Calls `body` with every undamaged record from `offset` on, and skips other bytes. Reads small pieces,
  /// because most of the bytes are zeros.
  func forEachRecord(from offset: UInt64, _ body: (UInt64, Record) -> Void) throws(StoreError) {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.stepByteCount, alignment: 16)
    defer { piece.deallocate() }
    var offset = offset
    var pieceStart = offset
    var pieceCount = 0
    while offset < use.extent.end {
      if offset >= pieceStart + UInt64(pieceCount) {
        pieceStart = offset
        pieceCount = Int(min(UInt64(piece.count), use.extent.end - offset))
        try read(into: UnsafeMutableRawBufferPointer(rebasing: piece[..<pieceCount]), at: offset)
      }
      let rest = UnsafeRawBufferPointer(rebasing: piece[Int(offset - pieceStart)..<pieceCount])
      if LogRecordHeader.claimedByteCount(rest, use: use) != nil, let record = try record(at: offset) {
        body(offset, record)
        offset += record.header.paddedByteCount
      } else {
        offset += LogExtentUse.recordAlignment
      }
    }
  }

  /// Returns the bytes of `range`, which are read if they weren't before.
  private func load(_ range: Range<Int>) throws(StoreError) -> UnsafeRawBufferPointer {
    if loaded.isEmpty { loaded = range.lowerBound..<range.lowerBound }
    if range.lowerBound < loaded.lowerBound {
      try fill(range.lowerBound..<loaded.lowerBound)
      loaded = range.lowerBound..<loaded.upperBound
    }
    if range.upperBound > loaded.upperBound {
      let step = loaded.isEmpty ? Self.firstStepByteCount : Self.stepByteCount
      let end = min(bytes.count, max(range.upperBound, loaded.upperBound + step))
      try fill(loaded.upperBound..<end)
      loaded = loaded.lowerBound..<end
    }
    return UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  private func fill(_ range: Range<Int>) throws(StoreError) {
    try read(
      into: UnsafeMutableRawBufferPointer(rebasing: bytes[range]),
      at: use.extent.offset + UInt64(range.lowerBound)
    )
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) {
    try budget.spend(UInt64(buffer.count))
    let count = try file.read(into: buffer, at: offset)
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(as: UInt8.self, repeating: 0)
  }
}
