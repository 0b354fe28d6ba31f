/// The header and the anchors at the start of a file, as far as they are legible.
struct FixedBlocks {
  let identity: FormatIdentity
  let anchors: LegibleAnchors
  /// The slot of the next anchor: not that of the newest one.
  let nextAnchorSlot: Int
  /// False if the header's block is damaged and the identity comes from a copy.
  let isHeaderIntact: Bool
  /// True if the header is all zeros: it was never written, or was zeroed since.
  let isHeaderBlank: Bool
  let byteCount: UInt64

  /// The newest anchor and its offset, if it has the closing mark.
  var closingAnchor: (anchor: Anchor, offset: UInt64)? {
    guard let newest = anchors.newest, newest.isClosed else { return nil }
    return (newest, FileLayout.anchorOffsets[1 - nextAnchorSlot])
  }

  /// The possible contents of the start of a file.
  enum Finding {
    case store(FixedBlocks)
    /// An empty file, or one whose creation was interrupted by a crash before any of it was durable.
    case nothing
    case somethingElse
  }

  static func read(_ file: StoreFile) throws(StoreError) -> Finding {
    let byteCount = try file.byteCount()
    if byteCount == 0 { return .nothing }
    let bytes = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(FileLayout.fixedByteCount),
      alignment: 16
    )
    defer { bytes.deallocate() }
    let count = try file.read(into: bytes, at: 0)
    UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).initializeMemory(as: UInt8.self, repeating: 0)
    let blocks = UnsafeRawBufferPointer(bytes)

    let header = FormatIdentity(block: blocks, kind: .header)
    var found = header
    for offset in FileLayout.anchorOffsets where found == nil {
      found = FormatIdentity(block: UnsafeRawBufferPointer(rebasing: blocks[Int(offset)...]), kind: .anchor)
    }
    if found == nil { found = try firstExtentIdentity(file) }
    let isHeaderBlank = blocks[..<FormatIdentity.blockByteCount].allSatisfy { $0 == 0 }
    guard let identity = found else {
      // A file of zeros holds nothing. Any other file may hold data, even if it begins with zeros.
      guard isHeaderBlank, byteCount <= StoreCreation.byteLimit else { return .somethingElse }
      return try isAllZeros(file) ? .nothing : .somethingElse
    }
    // With an invalid page size nothing more can be read: this throws the error.
    if !FileLayout.isValidPageSize(Int(identity.pageSize)) { try identity.checkSupported(forWriting: false) }
    let (anchors, newestSlot) = anchors(in: blocks, identity)
    return .store(
      FixedBlocks(
        identity: identity,
        anchors: anchors,
        nextAnchorSlot: newestSlot == 0 ? 1 : 0,
        isHeaderIntact: header != nil,
        isHeaderBlank: isHeaderBlank,
        byteCount: byteCount
      )
    )
  }

  /// Returns the legible anchors, newest first, and the newest one's slot.
  private static func anchors(
    in blocks: UnsafeRawBufferPointer,
    _ identity: FormatIdentity
  ) -> (LegibleAnchors, newestSlot: Int?) {
    var anchors = LegibleAnchors()
    var newestSlot: Int?
    for (slot, offset) in FileLayout.anchorOffsets.enumerated() {
      let block = UnsafeRawBufferPointer(rebasing: blocks[Int(offset)...])
      guard let anchor = Anchor(block: block, of: identity) else { continue }
      let isNewest = anchors.newest.map { $0.checkpoint.sequence < anchor.checkpoint.sequence } ?? true
      if isNewest { newestSlot = slot }
      anchors.add(anchor, isNewest: isNewest)
    }
    return (anchors, newestSlot)
  }

  private static func isAllZeros(_ file: StoreFile) throws(StoreError) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    var offset: UInt64 = 0
    while true {
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { return true }
      guard buffer[..<count].allSatisfy({ $0 == 0 }) else { return false }
      offset += UInt64(count)
    }
  }

  /// Returns the store's identity from the header of the first extent, which still has it if the file's
  /// header and both anchors are damaged.
  private static func firstExtentIdentity(_ file: StoreFile) throws(StoreError) -> FormatIdentity? {
    let sector = UnsafeMutableRawBufferPointer.allocate(
      byteCount: FormatIdentity.blockByteCount,
      alignment: 16
    )
    defer { sector.deallocate() }
    for pageSize in FileLayout.pageSizes {
      let offset = FileLayout.firstExtentOffset(pageSize: UInt64(pageSize))
      for copy in [0, UInt64(ExtentHeader.copyOffset)] {
        guard try file.read(into: sector, at: offset + copy) == sector.count else { continue }
        for kind in ExtentHeader.Kind.allCases {
          let identity = FormatIdentity(block: UnsafeRawBufferPointer(sector), kind: kind.blockKind)
          if let identity, identity.pageSize == UInt32(pageSize) { return identity }
        }
      }
    }
    return nil
  }
}
