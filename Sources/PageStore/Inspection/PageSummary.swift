/// The contents of one page of the file.
package struct PageSummary: Sendable, Encodable {
  /// One entry of a leaf or branch.
  package struct Entry: Sendable, Encodable {
    /// The key, or separator, as far as it is in the page.
    package var key: [UInt8]
    /// True if the rest of the key is in overflow pages.
    package var keyOverflows: Bool
    /// Bytes of a leaf's value, in the page or in overflow pages.
    package var valueByteCount: UInt64?
    /// The page of a branch's child, or the first page of an overflowing value.
    package var page: UInt64?
    /// Entries below a branch's child.
    package var entryCount: UInt64?
  }

  package var number: UInt64
  /// `leaf`, `branch` or `overflow` for a page of a tree; otherwise `header`, `extent header`, `empty`, or
  /// `unknown`, such as a part of the log.
  package var kind: String
  /// True if the page's own checksum is right; nil if it has none.
  package var isIntact: Bool?
  package var treeID: UInt32?
  package var level: UInt8?
  /// The commit that made the page.
  package var birth: UInt64?
  /// Free bytes of the page, and bytes lost among the cells.
  package var freeBytes: Int?
  package var garbageBytes: Int?
  /// The common prefix of all keys.
  package var prefix: [UInt8]?
  package var entries: [Entry] = []
  /// Bytes of a value in an overflow page, and in all overflow pages of that value.
  package var payloadBytes: Int?
  package var totalBytes: UInt32?

  init(_ bytes: UnsafeRawBufferPointer, number: UInt64) {
    self.number = number
    kind = Self.kindOfBlock(bytes)
    guard kind == "unknown" else { return }
    let image = PageImage(bytes.start)
    let geometry = PageGeometry(pageSize: bytes.count)
    switch PageKind(rawValue: image.kind) {
    case .leaf?, .branch?: describe(image, geometry)
    case .overflow?: describe(OverflowChunk(bytes.start))
    case nil: break
    }
  }

  private static func kindOfBlock(_ bytes: UnsafeRawBufferPointer) -> String {
    if bytes.allSatisfy({ $0 == 0 }) { return "empty" }
    for kind in FormatIdentity.BlockKind.allCases where FormatIdentity(block: bytes, kind: kind) != nil {
      return kind == .header || kind == .anchor ? "header" : "extent header"
    }
    return "unknown"
  }

  private mutating func describe(_ image: PageImage, _ geometry: PageGeometry) {
    let covered = UnsafeRawBufferPointer(start: image.base + 8, count: geometry.pageSize - 8)
    // Foreign bytes may look like a page's kind by chance; their other fields could lead anywhere.
    guard image.hasSoundStructure(geometry, inFile: true) else { return }
    kind = image.isLeaf ? "leaf" : "branch"
    isIntact = XXH64.hash(covered) == image.checksum && image.number == number
    treeID = image.treeID
    level = image.level
    birth = image.birth
    freeBytes = image.freeBytes
    garbageBytes = image.garbage
    prefix = [UInt8](UnsafeRawBufferPointer(start: image.prefix(geometry), count: image.prefixLength))
    entries = (0..<image.count).map { Self.entry(image, $0, geometry) }
  }

  private static func entry(_ image: PageImage, _ index: Int, _ geometry: PageGeometry) -> Entry {
    let page = PageEntry(image, index, geometry)
    var entry = Entry(key: page.keyInPage, keyOverflows: page.keyRest != nil)
    if image.isLeaf && !page.valueOverflows {
      entry.valueByteCount = UInt64(page.payloadCount)
      return entry
    }
    let reference = ChildReference(loading: page.payload)
    entry.page = reference.location.number
    if image.isLeaf { entry.valueByteCount = reference.count } else { entry.entryCount = reference.count }
    return entry
  }

  /// Describes a chunk. Its checksum covers pages that weren't read, so ``isIntact`` stays nil.
  private mutating func describe(_ chunk: OverflowChunk) {
    guard chunk.number == number else { return }
    kind = "overflow"
    treeID = chunk.treeID
    birth = chunk.birth
    payloadBytes = chunk.payloadLength
    totalBytes = chunk.totalLength
  }
}
