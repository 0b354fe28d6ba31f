import Synchronization
import TestSupport

@_spi(Testing) @testable import PageStore

/// The pages of a file that exists only in memory.
final class MemoryPages: PageLoader {
  private let pageSize: Int
  private let bytes = Mutex<[UInt64: [UInt8]]>([:])

  init(pageSize: Int) { self.pageSize = pageSize }

  var numbers: [UInt64] { bytes.withLock { $0.keys.sorted() } }

  subscript(number: UInt64) -> [UInt8] {
    get { bytes.withLock { $0[number] ?? [] } }
    set { bytes.withLock { $0[number] = newValue } }
  }

  /// Stores whole pages from `number` on.
  func store(_ image: UnsafeRawBufferPointer, at number: UInt64) {
    for page in 0..<(image.count / pageSize) {
      self[number + UInt64(page)] = [UInt8](image[(page * pageSize)..<((page + 1) * pageSize)])
    }
  }

  func loadPages(from number: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) {
    for page in 0..<(buffer.count / pageSize) {
      let source = self[number &+ UInt64(page)]
      guard source.count == pageSize else {
        throw StoreError(.corrupt, "The file is shorter.", context: .init(page: number))
      }
      UnsafeMutableRawBufferPointer(rebasing: buffer[(page * pageSize)...]).copyBytes(from: source)
    }
  }
}

/// One tree without a store around it: transactions, checkpoints and reopening, as the store does them.
final class TreeFixture {
  let pageSize: Int
  let file: MemoryPages
  private(set) var pool: PagePool
  private(set) var root = TreeRoot.none(treeID: 7)
  private(set) var commit: UInt64 = 0
  private var nextPage: UInt64 = 3
  private let cacheByteBudget: Int

  init(pageSize: Int, cacheByteBudget: Int = 256 << 20) {
    self.pageSize = pageSize
    self.cacheByteBudget = cacheByteBudget
    file = MemoryPages(pageSize: pageSize)
    pool = PagePool(pageSize: pageSize, loader: file, cacheBudget: MemoryBudget(chosen: cacheByteBudget))
  }

  /// The tree as it was committed last.
  var reader: TreeReader { TreeReader(core: TreeCore(root: root, pool: pool), owner: pool) }

  /// Runs one write transaction and commits it. Keeps the memory of earlier versions, because readers may still read
  /// them.
  @discardableResult
  func write<R>(_ body: (TreeEditor) throws -> R) throws -> R {
    let (result, _) = try writeRetiring(body)
    return result
  }

  /// Does the same, and also returns the memory that the new version doesn't need.
  func writeRetiring<R>(_ body: (TreeEditor) throws -> R) throws -> (R, RetiredMemory) {
    let dirty = DirtySet(commit: commit + 1, pool: pool)
    let editor = TreeEditor(root: root, dirty: dirty)
    do {
      let result = try body(editor)
      root = editor.root
      commit += 1
      return (result, dirty.finish())
    } catch {
      dirty.abort()
      throw error
    }
  }

  /// Writes the pages that are only in memory to the file, as one checkpoint; returns the number of pages written.
  @discardableResult
  func checkpoint() throws -> UInt64 {
    let (writer, count) = try write(.replacing)
    pool.adopt(writer.images)
    return count
  }

  /// Does the same, and leaves the version in memory as it is.
  @discardableResult
  func checkpointConcurrently() throws -> UInt64 {
    let memory = root
    let (writer, count) = try write(.concurrent)
    root = memory
    pool.note(writer.stored)
    return count
  }

  private func write(_ mode: PageWriter.Mode) throws -> (PageWriter, UInt64) {
    let plan = WritingPlan([root], mode, in: pool)
    let expected = plan.demand.count
    var writer = PageWriter(
      pool: pool,
      mode: mode,
      placement: .consecutive(from: nextPage),
      packings: plan.packings
    )
    var written: UInt64 = 0
    root = try writer.write(root) { number, image in
      file.store(image, at: number)
      written += UInt64(image.count / pageSize)
    }
    guard writer.pageCount == written, written == expected else { throw FixtureError.pageCount }
    nextPage += written
    return (writer, expected)
  }

  /// Forgets all memory: everything is read from the file again.
  func reopen() throws {
    try checkpoint()
    pool = PagePool(pageSize: pageSize, loader: file, cacheBudget: MemoryBudget(chosen: cacheByteBudget))
  }

  /// Replaces the root, which is the tree's only page, by a forged page with the right checksum, and forgets all
  /// memory.
  func forge(page number: UInt64, _ bytes: [UInt8]) {
    var bytes = bytes
    let checksum = bytes.withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[8...])) }
    withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(0..<8, with: $0) }
    file[number] = bytes
    root.reference.checksum = checksum
    pool = PagePool(pageSize: pageSize, loader: file, cacheBudget: MemoryBudget(chosen: cacheByteBudget))
  }

  /// Returns all problems of the tree.
  func problems() -> [IntegrityProblem] {
    var verifier = TreeVerifier(pool: pool)
    verifier.verify(root, name: "fixture")
    return verifier.problems
  }

  enum FixtureError: Error { case pageCount }
}

extension TreeRoot {
  static func none(treeID: UInt32) -> TreeRoot {
    TreeRoot(
      treeID: treeID,
      height: 0,
      reference: ChildReference(location: .none, checksum: 0, birth: 0, count: 0)
    )
  }
}

extension TreeEditor {
  /// Makes the page of a key, and the pages above it, the transaction's own, after `body` has seen the old page.
  func makeWritable(_ key: [UInt8], _ body: (PageImage) -> Void) throws {
    try key.withUnsafeBytes { key in
      try change { () throws(StoreError) in
        _ = try descend(to: SearchKey(key))
        body(path[0].page)
        try makePathWritable()
      }
    }
  }

  @discardableResult
  func put(_ key: [UInt8], _ value: [UInt8]) throws -> Bool {
    try key.withUnsafeBytes { key in try value.withUnsafeBytes { value in try put(key, value) } }
  }

  @discardableResult
  func put(near key: [UInt8], _ value: [UInt8]) throws -> Bool {
    try key.withUnsafeBytes { key in try value.withUnsafeBytes { value in try put(near: key, value) } }
  }

  @discardableResult
  func remove(near key: [UInt8]) throws -> Bool {
    try key.withUnsafeBytes { key in try remove(near: key) }
  }

  /// Replaces a value unless the new one is nil, and returns the one that was there; nil if there was none.
  func replace(near key: [UInt8], by value: [UInt8]?) throws -> [UInt8]? {
    var old: [UInt8]?
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: value?.count ?? 0, alignment: 1)
    defer { copy.deallocate() }
    if let value { copy.copyBytes(from: value) }
    let exists = try key.withUnsafeBytes { key in
      try replace(near: key) { bytes in
        old = [UInt8](bytes)
        return value == nil ? nil : UnsafeRawBufferPointer(copy)
      }
    }
    return exists ? old : nil
  }

  @discardableResult
  func remove(_ key: [UInt8]) throws -> Bool {
    try key.withUnsafeBytes { key in try remove(key) }
  }

  var reader: TreeReader { TreeReader(core: core, owner: pool) }
}

extension OrderedTree {
  /// All entries of a range, by the cursor.
  func list(_ range: KeyRange = .all, reversed: Bool = false) throws -> [(key: [UInt8], value: [UInt8])] {
    var entries: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try cursor(in: range)
    while reversed ? try cursor.previous() : try cursor.next() {
      entries.append((key: [UInt8](try cursor.key()), value: [UInt8](try cursor.value())))
    }
    return entries
  }
}

/// Whether two lists have the same entries.
func sameEntries(
  _ left: some Sequence<(key: [UInt8], value: [UInt8])>,
  _ right: some Sequence<(key: [UInt8], value: [UInt8])>
) -> Bool {
  left.elementsEqual(right) { $0.key == $1.key && $0.value == $1.value }
}

/// Kinds of keys that trees have to cope with.
enum KeyStyle: CaseIterable, Sendable {
  /// Random bytes of one length.
  case random
  /// A common prefix and a big-endian counter.
  case counted
  /// Any length from none, of few different bytes: many common prefixes, keys that are prefixes of others.
  case ragged
  /// Long common prefixes that differ in the last bytes, on both sides of the lengths where keys overflow.
  case longPrefix

  func key(_ generator: inout SeededGenerator) -> [UInt8] {
    switch self {
    case .random:
      return generator.bytes(16)
    case .counted:
      let number = UInt32.random(in: 0..<20_000, using: &generator)
      return Array("customer/".utf8) + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
    case .ragged:
      let count = generator.number(in: 0...12)
      return (0..<count).map { _ in generator.pick([0, 1, 97, 255]) }
    case .longPrefix:
      let length = generator.pick([3, 300, 395, 396, 397, 400, 430, 431, 432, 433, 900, 945, 4_000, 4_080])
      var key = [UInt8](repeating: 0x61, count: length)
      for _ in 0..<generator.number(in: 0...16) { key.append(generator.pick([0x61, 0x60, 0x62, 0])) }
      return key
    }
  }
}

extension SeededGenerator {
  /// A value's length: mostly short, now and then long enough for overflow pages.
  mutating func value(upTo longest: Int) -> [UInt8] {
    let count = chance(1, in: 12) ? number(in: 0...longest) : number(in: 0...60)
    return [UInt8](repeating: UInt8.random(in: 0...255, using: &self), count: count)
  }
}
