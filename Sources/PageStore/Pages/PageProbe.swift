/// Decodes one page of arbitrary bytes as if it came from a file with the right checksum, so that fuzzers
/// reach the code behind the checks.
@_spi(Testing)
public enum PageProbe {
  /// Uses the page as the root of a tree: looks up, counts, walks both ways, verifies. Throws if the page is
  /// damaged; must never trap or hang.
  public static func examine(_ bytes: [UInt8], key: [UInt8]) throws(StoreError) {
    let page = SinglePage(bytes)
    let pool = PagePool(pageSize: SinglePage.pageSize, loader: page)
    let core = TreeCore(root: page.root, pool: pool)
    var verifier = TreeVerifier(pool: pool)
    verifier.verify(page.root, name: "probed")
    do throws(StoreError) {
      try look(core, key)
    } catch {
      withExtendedLifetime(pool) {}
      throw error
    }
    withExtendedLifetime(pool) {}
  }

  private static func look(_ core: TreeCore, _ key: [UInt8]) throws(StoreError) {
    try key.withBytes { (key) throws(StoreError) in
      _ = try core.find(key)
      _ = try core.rank(of: key)
    }
    _ = try core.count(in: KeyRange(lower: .excluding(key), upper: .unbounded))
    for isReversed in [false, true] {
      var cursor = TreeCursor(core: core, range: .all, owner: core.pool, changes: core.pool.unchanging)
      var walked = 0
      while walked < 10_000, isReversed ? try cursor.previous() : try cursor.next() {
        _ = try cursor.key()
        _ = try cursor.value()
        walked += 1
      }
    }
  }
}

/// A file that has the same page at every page number.
private final class SinglePage: PageLoader {
  static let pageSize = 4_096
  private static let number: UInt64 = 1

  private let bytes: [UInt8]
  /// A root that matches the page's header.
  let root: TreeRoot

  init(_ given: [UInt8]) {
    var bytes = Array(given.prefix(Self.pageSize))
    bytes += [UInt8](repeating: 0, count: Self.pageSize - bytes.count)
    let root = bytes.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: Self.number.littleEndian, toByteOffset: PageHeader.number, as: UInt64.self)
      let covered = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[8...])
      let checksum = XXH64.hash(covered)
      bytes.storeBytes(of: checksum.littleEndian, toByteOffset: PageHeader.checksum, as: UInt64.self)
      return Self.root(of: UnsafeRawBufferPointer(bytes), checksum: checksum)
    }
    self.bytes = bytes
    self.root = root
  }

  private static func root(of bytes: UnsafeRawBufferPointer, checksum: UInt64) -> TreeRoot {
    // The memory is valid during this call, and as long as a page.
    let image = PageImage(bytes.baseAddress.unsafelyUnwrapped)
    let count = image.isLeaf ? UInt64(image.count) : bytes.load(fromByteOffset: pageSize - 8, as: UInt64.self)
    return TreeRoot(
      treeID: image.treeID,
      height: image.level &+ 1,
      reference: ChildReference(
        location: .page(number),
        checksum: checksum,
        birth: image.birth,
        count: count & PageLocation.numberMask
      )
    )
  }

  func loadPages(from number: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) {
    for start in stride(from: 0, to: buffer.count, by: Self.pageSize) {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
      bytes.withUnsafeBytes {
        rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<min(rest.count, $0.count)]))
      }
    }
  }
}
