/// The tree that records which pages a checkpoint reaches, its own included: a bit for each page of the file,
/// in chunks of 4,096. Every chunk below the file's end has an entry. Docs/FileFormat.md, section 9.
///
/// Opening a store doesn't read it; the first change does.
enum SpaceTree {
  static let treeID: UInt32 = 2
  /// Pages in one entry.
  static let chunkPageCount: UInt64 = 4_096
  static let valueByteCount = 512
  private static let wordsPerChunk = valueByteCount / 8

  /// Returns the number of entries in the tree of a file with `end` pages.
  static func chunkCount(end: UInt64) -> UInt64 { (end + chunkPageCount - 1) / chunkPageCount }

  /// Returns the most pages that the tree of a file with `end` pages can have: a leaf has at least three
  /// entries, unless there are fewer, and a branch eight.
  static func largestPageCount(end: UInt64) -> UInt64 {
    var level = (chunkCount(end: end) + 2) / 3
    var count = level
    while level > 1 {
      level = (level + 7) / 8
      count += level
    }
    return count
  }

  static func key(_ chunk: UInt64) -> [UInt8] {
    withUnsafeBytes(of: UInt32(chunk).bigEndian) { [UInt8]($0) }
  }

  // MARK: Reading

  /// Returns the pages that a checkpoint reaches. Throws `corrupt`.
  static func read(_ root: TreeRoot, pool: PagePool) throws(StoreError) -> PageBitmap {
    guard root.height <= TreeLimits.height, root.count <= chunkCount(end: PageTable.count) else {
      throw damaged("it can't have \(root.count) entries in \(root.height) levels")
    }
    var words: [UInt64] = []
    var cursor = TreeCursor(
      core: TreeCore(root: root, pool: pool),
      range: .all,
      owner: pool,
      changes: pool.unchanging
    )
    var chunk: UInt64 = 0
    while try cursor.next() {
      let value = try cursor.value()
      guard [UInt8](try cursor.key()) == key(chunk), value.count == valueByteCount else {
        throw damaged("an entry has a wrong key or a value of a wrong length")
      }
      for index in 0..<wordsPerChunk { words.append(value.integer(at: index * 8, as: UInt64.self)) }
      chunk += 1
    }
    return PageBitmap(words: words)
  }

  private static func damaged(_ what: String) -> StoreError {
    StoreError(.corrupt, "the record of pages in use is damaged: \(what)", context: .init(tree: "space"))
  }

  // MARK: Changing

  /// Changes the tree of `editor`, which records `old`, to record `new`. Takes pages for the tree itself from
  /// the front of `spare`, and updates `new` for the tree's own pages. Returns the pages that it took.
  static func update(
    _ editor: TreeEditor,
    from old: PageBitmap,
    to new: inout PageBitmap,
    end: UInt64,
    takingFrom spare: inout [Range<UInt64>]
  ) throws(StoreError) -> [Range<UInt64>] {
    let chunkCount = chunkCount(end: end)
    let oldChunkCount = UInt64(editor.count)
    for chunk in chunkCount..<max(chunkCount, oldChunkCount) {
      try key(chunk).withBytes { key throws(StoreError) in _ = try editor.remove(key) }
    }
    var touched: Set<UInt64> = []
    var taken: [Range<UInt64>] = []
    var takenCount: UInt64 = 0
    while true {
      let fresh = changedChunks(from: old, to: new, oldChunkCount: oldChunkCount, chunkCount: chunkCount)
        .filter { touched.insert($0).inserted }
      if fresh.isEmpty, !touched.isEmpty || editor.dirty.retiredPages.isEmpty { break }
      // The values are known last, but take as much room as these.
      for chunk in fresh { try put(PageBitmap(), chunk, editor) }
      let needed = WritingPlan([editor.root], .replacing, in: editor.pool).demand.count
      while takenCount < needed {
        guard let run = take(needed - takenCount, from: &spare) else {
          throw StoreError(.diskFull, "room for the record of pages in use is missing")
        }
        taken.append(run)
        takenCount += run.upperBound - run.lowerBound
        new.insert(run)
      }
      for page in editor.dirty.retiredPages { new.remove(page.range) }
    }
    // Leaves may be packed more tightly than in an earlier round, so pages may be left over.
    let needed = WritingPlan([editor.root], .replacing, in: editor.pool).demand.count
    while takenCount > needed, let last = taken.popLast() {
      let surplus = min(takenCount - needed, last.upperBound - last.lowerBound)
      let middle = last.upperBound - surplus
      if middle > last.lowerBound { taken.append(last.lowerBound..<middle) }
      spare.append(middle..<last.upperBound)
      new.remove(middle..<last.upperBound)
      takenCount -= surplus
    }
    for chunk in touched { try put(new, chunk, editor) }
    return taken
  }

  private static func take(_ count: UInt64, from spare: inout [Range<UInt64>]) -> Range<UInt64>? {
    guard let first = spare.first else { return nil }
    let end = first.lowerBound + min(count, first.upperBound - first.lowerBound)
    if end == first.upperBound { spare.removeFirst() } else { spare[0] = end..<first.upperBound }
    return first.lowerBound..<end
  }

  private static func changedChunks(
    from old: PageBitmap,
    to new: PageBitmap,
    oldChunkCount: UInt64,
    chunkCount: UInt64
  ) -> [UInt64] {
    (0..<chunkCount).filter { chunk in
      chunk >= oldChunkCount
        || (0..<wordsPerChunk).contains { index in
          let word = Int(chunk) * wordsPerChunk + index
          return old.word(word) != new.word(word)
        }
    }
  }

  private static func put(_ pages: PageBitmap, _ chunk: UInt64, _ editor: TreeEditor) throws(StoreError) {
    var value = [UInt8](repeating: 0, count: valueByteCount)
    value.withUnsafeMutableBytes { value in
      for index in 0..<wordsPerChunk {
        value.setInteger(pages.word(Int(chunk) * wordsPerChunk + index), at: index * 8)
      }
    }
    try key(chunk).withBytes { key throws(StoreError) in
      try value.withBytes { value throws(StoreError) in _ = try editor.put(key, value) }
    }
  }
}
