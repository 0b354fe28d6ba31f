/// The header and the anchors at the start of a file, as far as they are legible.
struct FixedBlocks {
  let identity: FormatIdentity
  /// Newest first.
  let anchors: [Anchor]
  /// The slot that the next anchor goes to: not the newest one's.
  let nextAnchorSlot: Int
  /// False if the header's block is damaged and the identity comes from a copy.
  let isHeaderIntact: Bool
  /// The header was never written, or has been zeroed since.
  let isHeaderBlank: Bool
  let byteCount: UInt64

  /// What the start of a file can be.
  enum Finding {
    case store(FixedBlocks)
    /// Empty, or what a creation leaves that a crash cuts short before anything of it is durable.
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
    let anchorBlocks = FileLayout.anchorOffsets.map { UnsafeRawBufferPointer(rebasing: blocks[Int($0)...]) }
    let copies = anchorBlocks.compactMap { FormatIdentity(block: $0, kind: .anchor) }
    var found = header ?? copies.first
    if found == nil { found = try firstExtentIdentity(file) }
    let isHeaderBlank = blocks[..<FormatIdentity.blockByteCount].allSatisfy { $0 == 0 }
    guard let identity = found else {
      // A file of zeros holds nothing; anything else is somebody's, even if it begins with zeros.
      guard isHeaderBlank, byteCount <= StoreCreation.byteLimit else { return .somethingElse }
      return try isAllZeros(file) ? .nothing : .somethingElse
    }
    // Nothing can be told of a file whose pages have no size: this throws what is wrong with it.
    if !FileLayout.isValidPageSize(Int(identity.pageSize)) { try identity.checkSupported(forWriting: false) }
    let anchors = anchorBlocks.map { Anchor(block: $0, of: identity) }
    let slots = anchors.indices.filter { anchors[$0] != nil }
      .sorted { anchors[$0]?.checkpoint.sequence ?? 0 > anchors[$1]?.checkpoint.sequence ?? 0 }
    return .store(
      FixedBlocks(
        identity: identity,
        anchors: slots.compactMap { anchors[$0] },
        nextAnchorSlot: slots.first == 0 ? 1 : 0,
        isHeaderIntact: header != nil,
        isHeaderBlank: isHeaderBlank,
        byteCount: byteCount
      )
    )
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

  /// With the first three blocks gone, the first extent still says what store this is.
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
