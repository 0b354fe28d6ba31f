/// The tree that maps the names of trees to their roots, as of the last checkpoint. Between checkpoints the
/// versions hold the roots. Docs/FileFormat.md, section 8.
enum Catalogue {
  static let treeID: UInt32 = 1
  static let valueByteCount = 48

  enum Offset {
    static let treeID = 0
    static let height = 4
    static let flags = 5
    static let reserved = 6
    static let location = 8
    static let checksum = 16
    static let birth = 24
    static let count = 32
    static let pageCount = 40
  }

  /// - Parameter pageCount: the number of the tree's pages in the file, including overflow pages.
  static func encoded(_ root: TreeRoot, pageCount: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: valueByteCount)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.setInteger(root.treeID, at: Offset.treeID)
      bytes.setInteger(root.height, at: Offset.height)
      bytes.setInteger(UInt8(root.hasOverflow ? 1 : 0), at: Offset.flags)
      bytes.setInteger(root.reference.location.rawValue, at: Offset.location)
      bytes.setInteger(root.reference.checksum, at: Offset.checksum)
      bytes.setInteger(root.reference.birth, at: Offset.birth)
      bytes.setInteger(root.reference.count, at: Offset.count)
      bytes.setInteger(UInt64(pageCount), at: Offset.pageCount)
    }
    return bytes
  }

  static func decode(_ bytes: UnsafeRawBufferPointer) -> (root: TreeRoot, pageCount: UInt64)? {
    guard bytes.count == valueByteCount else { return nil }
    let root = TreeRoot(
      treeID: bytes.integer(at: Offset.treeID, as: UInt32.self),
      height: bytes.integer(at: Offset.height, as: UInt8.self),
      reference: ChildReference(
        location: PageLocation(rawValue: bytes.integer(at: Offset.location, as: UInt64.self)),
        checksum: bytes.integer(at: Offset.checksum, as: UInt64.self),
        birth: bytes.integer(at: Offset.birth, as: UInt64.self),
        count: bytes.integer(at: Offset.count, as: UInt64.self)
      ),
      hasOverflow: bytes.integer(at: Offset.flags, as: UInt8.self) & 1 != 0
    )
    let isEmpty = root.height == 0
    guard !root.reference.location.isFrame, root.height <= TreeLimits.height, root.treeID > SpaceTree.treeID,
      root.reference.location.isNone == isEmpty, (root.reference.count == 0) == isEmpty,
      root.reference.count <= PageLocation.numberMask
    else { return nil }
    let pageCount = bytes.integer(at: Offset.pageCount, as: UInt64.self)
    return pageCount <= PageTable.count ? (root, pageCount) : nil
  }

  /// The contents of the catalogue, by slot of the directory: the names of the trees (nil in the slot of a
  /// dropped tree), their roots, and the numbers of their pages in the file.
  struct Content {
    var names = TreeNames()
    var roots: [TreeRoot] = []
    /// Signed, because the standard library has the type of such an array ready.
    var pageCounts: [Int] = []

    /// Throws `corrupt` if the trees together claim more than a file of `filePageCount` pages can hold.
    func check(filePageCount: UInt64, pageSize: Int) throws(StoreError) {
      var rest = filePageCount
      for (root, pageCount) in zip(roots, pageCounts) {
        let pageCount = UInt64(pageCount)
        guard pageCount <= rest, StoredTree(root: root, pageCount: pageCount).canBe(pageSize: pageSize) else {
          throw Catalogue.damaged(
            "tree \(root.treeID) can't have \(root.count) entries in \(pageCount) of \(rest) pages"
          )
        }
        rest -= pageCount
      }
    }
  }

  /// Reads all trees of the catalogue, in order of the names' bytes. Throws `corrupt` if the entries have
  /// another order, or if two trees have one name or number.
  static func read(_ root: TreeRoot, pool: PagePool) throws(StoreError) -> Content {
    guard root.height <= TreeLimits.height else { throw damaged("it can't have \(root.height) levels") }
    var content = Content()
    var cursor = TreeCursor(
      core: TreeCore(root: root, pool: pool),
      range: .all,
      owner: pool,
      changes: pool.unchanging
    )
    var last: [UInt8] = []
    while try cursor.next() {
      let key = try cursor.key()
      guard let name = name(key), let entry = decode(try cursor.value()) else {
        throw damaged("an entry can't be decoded")
      }
      guard last.withUnsafeBytes({ ByteComparison.compare($0, key) < 0 }) else {
        throw damaged("the names don't ascend")
      }
      last = Array(key)
      content.names.append(name)
      content.roots.append(entry.root)
      content.pageCounts.append(Int(entry.pageCount))
    }
    let sorted = content.roots.sorted { $0.treeID < $1.treeID }
    for index in sorted.indices.dropFirst() where sorted[index].treeID == sorted[index - 1].treeID {
      throw damaged("two trees have the same number")
    }
    return content
  }

  /// Returns the name of a tree with these bytes; nil if they aren't UTF-8, or not a possible number of
  /// bytes.
  static func name(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard !bytes.isEmpty, bytes.count <= TransactionState.nameByteLimit else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  fileprivate static func damaged(_ what: String) -> StoreError {
    StoreError(.corrupt, "the catalogue is damaged: \(what)", context: .init(tree: "catalogue"))
  }
}
