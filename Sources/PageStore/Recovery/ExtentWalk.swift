/// A walk over a file from extent to extent, by their headers.
///
/// A header leads past the whole extent, so the walk never reads the bytes of values, which may be a copy of
/// a store. Where there is no header (in a gap, or where both copies are damaged), it tries page after page.
/// It skips holes, because they may be very long. A header that it accepts must have the store's UUID and its
/// own offset.
struct ExtentWalk {
  private let file: StoreFile
  private let identity: FormatIdentity
  private let end: UInt64
  private var offset: UInt64

  init(_ file: StoreFile, _ identity: FormatIdentity, from offset: UInt64) throws(StoreError) {
    self.init(file, identity, from: offset, to: try file.byteCount())
  }

  /// - Parameter end: the length of the file.
  init(_ file: StoreFile, _ identity: FormatIdentity, from offset: UInt64, to end: UInt64) {
    self.file = file
    self.identity = identity
    self.offset = offset
    self.end = end
  }

  struct Found {
    var header: ExtentHeader
    /// The use of a log extent, if it is legible and names the same extent.
    var use: LogExtentUse?
  }

  /// Returns the next extent; nil at the end of the file.
  mutating func next() throws(StoreError) -> Found? {
    while offset < end {
      if let found = try Self.extent(at: offset, in: file, identity) {
        offset = found.header.extent.end
        return found
      }
      offset += UInt64(identity.pageSize)
      guard offset < end, let data = try file.nextData(from: offset) else { return nil }
      offset = max(offset, data - data % UInt64(identity.pageSize))
    }
    return nil
  }

  /// Returns the extent that begins at `offset`; nil if there is no legible header.
  static func extent(
    at offset: UInt64,
    in file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) -> Found? {
    try withBlock(at: offset, in: file) { block in
      guard let header = ExtentHeader(block: block, at: offset, of: identity) else { return nil }
      let use = header.kind == .log ? LogExtentUseHeader.decode(block: block, at: offset, of: identity) : nil
      return Found(header: header, use: use?.extent == header.extent ? use : nil)
    }
  }

  /// Returns the copies of the header of the extent at `offset`; nil for a copy that isn't legible.
  static func headerCopies(
    at offset: UInt64,
    in file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) -> [ExtentHeader?] {
    try withBlock(at: offset, in: file) { ExtentHeader.copies(in: $0, at: offset, of: identity) } ?? []
  }

  /// Returns the copies of the use header of the log extent at `offset`; nil for a copy that isn't legible.
  static func useCopies(
    at offset: UInt64,
    in file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) -> [LogExtentUse?] {
    try withBlock(at: offset, in: file) { LogExtentUseHeader.copies(in: $0, at: offset, of: identity) } ?? []
  }

  /// Returns the use of a log extent, even if its static header is damaged; nil if the use isn't legible.
  static func use(
    of extent: Extent,
    in file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) -> LogExtentUse? {
    let use = try withBlock(at: extent.offset, in: file) {
      LogExtentUseHeader.decode(block: $0, at: extent.offset, of: identity)
    }
    return use?.extent == extent ? use : nil
  }

  private static func withBlock<Result>(
    at offset: UInt64,
    in file: StoreFile,
    _ body: (UnsafeRawBufferPointer) -> Result?
  ) throws(StoreError) -> Result? {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: ExtentHeader.byteCount, alignment: 16)
    defer { block.deallocate() }
    let count = try file.read(into: block, at: offset)
    return body(UnsafeRawBufferPointer(rebasing: block[..<count]))
  }
}
