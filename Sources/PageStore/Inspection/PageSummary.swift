/// What is in one page of the file.
package struct PageSummary: Sendable, Encodable {
  /// One entry of a leaf or branch.
  package struct Entry: Sendable, Encodable {
    /// The key, or separator, as far as it is in the page.
    package var key: [UInt8]
    /// Whether the key goes on in overflow pages.
    package var keyOverflows: Bool
    /// Bytes of a leaf's value, wherever they are.
    package var valueByteCount: UInt64?
    /// The page that a branch's child, or an overflowing value, begins in.
    package var page: UInt64?
    /// Entries below a branch's child.
    package var entryCount: UInt64?
  }

  package var number: UInt64
  /// `leaf`, `branch`, `overflow`; `header`, `extent header`, `empty` or `unknown` (such as a part
  /// of the log) for what is no page of a tree.
  package var kind: String
  /// Whether the page's own checksum fits its bytes. Nil where there is none.
  package var isIntact: Bool?
  package var treeID: UInt32?
  package var level: UInt8?
  /// The commit that made the page.
  package var birth: UInt64?
  /// Bytes of the page that are free, and that are lost among the cells.
  package var freeBytes: Int?
  package var garbageBytes: Int?
  /// What every key begins with.
  package var prefix: [UInt8]?
  package var entries: [Entry] = []
  /// Bytes of a value in an overflow page, and in all of that value's pages.
  package var payloadBytes: Int?
  package var totalBytes: UInt32?

  init(_ bytes: UnsafeRawBufferPointer, number: UInt64, identity: FormatIdentity) {
    self.number = number
    kind = Self.kindOfBlock(bytes, number: number)
    guard kind == "unknown" else { return }
    let image = PageImage(bytes.start)
    let geometry = PageGeometry(pageSize: bytes.count)
    switch PageKind(rawValue: image.kind) {
    case .leaf?, .branch?: describe(image, geometry)
    case .overflow?: describe(OverflowChunk(bytes.start))
    case nil: break
    }
  }

  private static func kindOfBlock(_ bytes: UnsafeRawBufferPointer, number: UInt64) -> String {
    if bytes.allSatisfy({ $0 == 0 }) { return "empty" }
    for kind in FormatIdentity.BlockKind.allCases where FormatIdentity(block: bytes, kind: kind) != nil {
      return kind == .header || kind == .anchor ? "header" : "extent header"
    }
    return "unknown"
  }

  private mutating func describe(_ image: PageImage, _ geometry: PageGeometry) {
    let covered = UnsafeRawBufferPointer(start: image.base + 8, count: geometry.pageSize - 8)
    // A stranger's bytes may have the kind of a page by chance; what else they say could lead anywhere.
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

  /// The checksum of a chunk covers pages that aren't here, so nothing is said of it.
  private mutating func describe(_ chunk: OverflowChunk) {
    guard chunk.number == number else { return }
    kind = "overflow"
    treeID = chunk.treeID
    birth = chunk.birth
    payloadBytes = chunk.payloadLength
    totalBytes = chunk.totalLength
  }
}
