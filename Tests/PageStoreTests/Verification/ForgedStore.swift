@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The file of a closed store, in which a test can change any bytes: ``seal()`` makes every checksum right again, from
/// the pages up to the newest checkpoint's record and the newest anchor.
struct ForgedStore {
  private(set) var bytes: [UInt8]
  let identity: FormatIdentity
  var anchor: Anchor
  /// The contents of the newest checkpoint's record.
  var record: CheckpointRecord
  private let header: LogRecordHeader
  private let anchorOffset: Int

  var pageSize: Int { Int(identity.pageSize) }

  init(_ content: SparseBytes) throws {
    let file = StoreFile(SimulatedDisk(content), path: "forged")
    guard case .store(let blocks) = try FixedBlocks.read(file) else { throw Unusable() }
    let newest = try #require(blocks.anchors.first)
    let image = try LogExtentImage(
      newest.checkpoint.use,
      from: file,
      LogReadBudget(fileByteCount: blocks.byteCount)
    )
    let found = try #require(try image.record(at: newest.checkpoint.offset))
    bytes = content.bytes
    identity = blocks.identity
    anchor = newest
    header = found.header
    record = try CheckpointRecord(found.payload, pageSize: UInt64(blocks.identity.pageSize))
    anchorOffset = Int(FileLayout.anchorOffsets[1 - blocks.nextAnchorSlot])
  }

  struct Unusable: Error {}

  /// The store on a disk of its own.
  func fixture(isReadOnly: Bool = false) -> StoreFixture {
    var fixture = StoreFixture(SimulatedDisk(SparseBytes(bytes)), pageSize: pageSize)
    fixture.options.isReadOnly = isReadOnly
    return fixture
  }

  // MARK: Looking

  func page(_ number: UInt64) -> [UInt8] {
    Array(bytes[Int(number) * pageSize..<(Int(number) + 1) * pageSize])
  }

  /// Returns a tree's root, and its offset in the catalogue's leaf from the start of the file.
  func entry(of name: String) throws -> (offset: Int, root: TreeRoot) {
    let leaf = record.catalogue.root.reference.location.number
    return try page(leaf).withUnsafeBytes { bytes in
      let page = PageImage(try #require(bytes.baseAddress))
      for index in 0..<page.count {
        let entry = PageEntry(page, index, PageGeometry(pageSize: pageSize))
        guard entry.keyInPage == Array(name.utf8) else { continue }
        let value = UnsafeRawBufferPointer(start: entry.payload, count: entry.payloadCount)
        return (
          Int(leaf) * pageSize + (entry.payload - page.base), try #require(Catalogue.decode(value)).root
        )
      }
      throw Unusable()
    }
  }

  /// The pages of a tree, root first, and of its overflows.
  func pages(of root: TreeRoot) -> [UInt64] {
    root.height == 0 ? [] : pages(below: root.reference, level: Int(root.height) - 1)
  }

  private func pages(below parent: ChildReference, level: Int) -> [UInt64] {
    let number = parent.location.number
    let geometry = PageGeometry(pageSize: pageSize)
    return [number]
      + references(in: page(number)).flatMap { offset, isChild in
        let child = reference(at: Int(number) * pageSize + offset)
        if isChild { return pages(below: child, level: level - 1) }
        let count = geometry.overflowPageCount(Int(child.count))
        return Array(child.location.number..<child.location.number + UInt64(count))
      }
  }

  func reference(at offset: Int) -> ChildReference {
    bytes.withUnsafeBytes { ChildReference(loading: $0.start + offset) }
  }

  /// Returns the positions of a page's references, and whether they refer to children or to overflow.
  private func references(in page: [UInt8]) -> [(offset: Int, isChild: Bool)] {
    page.withUnsafeBytes { bytes in
      let page = PageImage(bytes.start)
      var found: [(offset: Int, isChild: Bool)] = []
      for index in 0..<page.count {
        found += page.overflowReferences(index).map { ($0, false) }
        if !page.isLeaf { found.append((page.reference(index) - page.base, true)) }
      }
      return found
    }
  }

  // MARK: Changing

  mutating func change(page number: UInt64, _ body: (inout [UInt8]) throws -> Void) rethrows {
    var page = page(number)
    try body(&page)
    bytes.replaceSubrange(Int(number) * pageSize..<(Int(number) + 1) * pageSize, with: page)
  }

  mutating func set<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
  }

  /// Flips a bit of a page, in the middle of the bytes that its checksum covers. Call this after ``seal()``.
  mutating func damage(page number: UInt64) { bytes[Int(number) * pageSize + 40] ^= 4 }

  /// Records in the space tree, a lone leaf, whether pages are in use.
  mutating func record(_ pages: some Sequence<UInt64>, asInUse isInUse: Bool, previously: Bool = false) {
    let root = previously ? record.previousSpaceTree.root : record.spaceTree.root
    change(page: root.reference.location.number) { bytes in
      let start = bytes.withUnsafeBytes { bytes in
        let page = PageImage(bytes.start)
        return page.leafPayload(page.slot(0)).start - page.base
      }
      for page in pages {
        let mask = UInt8(1) << UInt8(page % 8)
        if isInUse { bytes[start + Int(page / 8)] |= mask } else { bytes[start + Int(page / 8)] &= ~mask }
      }
    }
  }

  // MARK: Sealing

  /// Makes the checksums of all pages, of the record and of the anchor right.
  mutating func seal() {
    let isSame = record.previousSpaceTree.root.reference.location == record.spaceTree.root.reference.location
    record.catalogue.root = sealed(record.catalogue.root)
    record.spaceTree.root = sealed(record.spaceTree.root)
    record.previousSpaceTree.root = isSame ? record.spaceTree.root : sealed(record.previousSpaceTree.root)
    var whole = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + record.encoded()
    var header = header
    header.byteCount = UInt32(whole.count)
    anchor.recordByteCount = header.byteCount
    anchor.recordChecksum = header.seal(&whole, salt: anchor.checkpoint.use.salt)
    put(whole, at: Int(anchor.checkpoint.offset))
    writeAnchor()
  }

  /// Ruins the newest anchor, so that the store counts as one that was not closed.
  mutating func removeAnchor() { set(UInt64.max, at: anchorOffset) }

  /// Writes an anchor in the place of the older one.
  mutating func writeOlder(_ anchor: Anchor) {
    let offset = Int(FileLayout.anchorOffsets[0] + FileLayout.anchorOffsets[1]) - anchorOffset
    put(anchor.encoded(identity), at: offset)
  }

  mutating func put(_ block: [UInt8], at offset: Int) {
    bytes.replaceSubrange(offset..<offset + block.count, with: block)
  }

  mutating func writeAnchor() {
    put(anchor.encoded(identity), at: anchorOffset)
  }

  private mutating func sealed(_ root: TreeRoot) -> TreeRoot {
    guard root.height > 0 else { return root }
    var root = root
    root.reference.checksum = seal(
      root.reference.location.number,
      level: Int(root.height) - 1,
      isCatalogue: root.treeID == Catalogue.treeID
    )
    return root
  }

  private mutating func seal(_ number: UInt64, level: Int, isCatalogue: Bool) -> UInt64 {
    let start = Int(number) * pageSize
    if level > 0 {
      for (offset, isChild) in references(in: page(number)) where isChild {
        let child = reference(at: start + offset).location.number
        set(seal(child, level: level - 1, isCatalogue: isCatalogue), at: start + offset + 8)
      }
    } else if isCatalogue {
      for offset in roots(in: page(number)) {
        let value = bytes.withUnsafeBytes {
          Catalogue.decode(UnsafeRawBufferPointer(rebasing: $0[start + offset..<start + offset + 48]))
        }
        guard let root = value?.root, root.height > 0 else { continue }
        set(sealed(root).reference.checksum, at: start + offset + Catalogue.Offset.checksum)
      }
    }
    let checksum = XXH64.hash(page(number).dropFirst(8))
    set(checksum, at: start)
    return checksum
  }

  private func roots(in page: [UInt8]) -> [Int] {
    page.withUnsafeBytes { bytes in
      let page = PageImage(bytes.start)
      return (0..<page.count).map { page.leafPayload(page.slot($0)).start - page.base }
    }
  }
}

extension XXH64 {
  fileprivate static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.withUnsafeBytes { hash($0) } }
}
