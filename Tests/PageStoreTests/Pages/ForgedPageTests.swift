import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Pages that were forged: every checksum on the way to them is right.
struct ForgedPageTests {
  @Test(arguments: TreeOracleTests.pageSizes)
  func aForgedPageNeverTraps(pageSize: Int) throws {
    var generator = SeededGenerator("aForgedPageNeverTraps")
    for style in KeyStyle.allCases {
      let fixture = TreeFixture(pageSize: pageSize)
      try fixture.write { editor in
        for _ in 0..<400 { try editor.put(style.key(&generator), generator.value(upTo: 3 * pageSize)) }
      }
      try fixture.reopen()
      for _ in 0..<36 {
        var forger = Forger(fixture)
        for _ in 0..<generator.number(in: 1...3) { forger.forge(&generator) }
        exercise(forger.root, forger.pool(), style, &generator)
      }
    }
  }

  @Test func anyChangedByteOfAPageIsFound() throws {
    var generator = SeededGenerator("anyChangedByteOfAPageIsFound")
    let fixture = TreeFixture(pageSize: 4_096)
    try fixture.write { editor in
      for _ in 0..<300 { try editor.put(generator.bytes(20), generator.value(upTo: 3_000)) }
    }
    try fixture.reopen()
    for number in fixture.file.numbers {
      let intact = fixture.file[number]
      let offset = generator.number(in: 0...(PageHeader.byteCount + 40))
      fixture.file[number][offset] ^= UInt8(1) << UInt8(generator.number(in: 0...7))
      let pool = PagePool(pageSize: 4_096, loader: fixture.file)
      var verifier = TreeVerifier(pool: pool)
      verifier.verify(fixture.root, name: "flipped")
      #expect(!verifier.problems.isEmpty)
      fixture.file[number] = intact
    }
  }

  /// Calls all functions of a tree: errors are expected, traps and endless loops are not.
  private func exercise(
    _ root: TreeRoot,
    _ pool: PagePool,
    _ style: KeyStyle,
    _ generator: inout SeededGenerator
  ) {
    var verifier = TreeVerifier(pool: pool)
    verifier.verify(root, name: "forged")
    let reader = TreeReader(core: TreeCore(root: root, pool: pool), owner: pool)
    attempt {
      var steps = 0
      try reader.forEach { _, _ in
        steps += 1
        return steps < 5_000
      }
    }
    attempt {
      var steps = 0
      try reader.forEach(reversed: true) { _, _ in
        steps += 1
        return steps < 5_000
      }
    }
    for _ in 0..<10 {
      let key = style.key(&generator)
      attempt { _ = try reader.value(for: key) }
      attempt { _ = try reader.rank(of: key) }
      attempt { _ = try reader.entry(at: generator.number(in: 0...500)) }
    }
    change(root, pool, style, &generator)
  }

  private func change(
    _ root: TreeRoot,
    _ pool: PagePool,
    _ style: KeyStyle,
    _ generator: inout SeededGenerator
  ) {
    let dirty = DirtySet(commit: 1_000, pool: pool)
    let editor = TreeEditor(root: root, dirty: dirty)
    for step in 0..<60 {
      let key = style.key(&generator)
      let other = style.key(&generator)
      attempt {
        if step % 20 == 19 {
          try editor.removeRange(KeyRange(lower: .including(key), upper: .excluding(other)))
        } else if step % 3 == 0 {
          try editor.remove(key)
        } else {
          try editor.put(key, generator.value(upTo: 10_000))
        }
      }
    }
    attempt {
      var writer = PageWriter(pool: pool, mode: .replacing, placement: .consecutive(from: 10_000))
      if editor.isIntact { _ = try writer.write(editor.root) { _, _ in } }
    }
    dirty.abort()
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch is StoreError {} catch { Issue.record(error) }
  }
}

/// Changes pages of a file and makes every checksum above them right again.
private struct Forger {
  private var pages: [UInt64: [UInt8]]
  private(set) var root: TreeRoot
  private let pageSize: Int

  init(_ fixture: TreeFixture) {
    pages = Dictionary(uniqueKeysWithValues: fixture.file.numbers.map { ($0, fixture.file[$0]) })
    root = fixture.root
    pageSize = fixture.pageSize
  }

  func pool() -> PagePool {
    let file = MemoryPages(pageSize: pageSize)
    for (number, bytes) in pages { file[number] = bytes }
    return PagePool(pageSize: pageSize, loader: file)
  }

  /// Changes one tree page.
  mutating func forge(_ generator: inout SeededGenerator) {
    let numbers = pages.keys.sorted().filter { pages[$0]?[PageHeader.kind] != PageKind.overflow.rawValue }
    let number = generator.pick(numbers)
    guard var bytes = pages[number] else { return }
    switch generator.number(in: 0...5) {
    case 0:
      let start = generator.number(in: 32...(pageSize - 1))
      for offset in start..<min(pageSize, start + 64) { bytes[offset] = generator.bytes(1)[0] }
    case 1:
      // The header's fields.
      bytes[generator.number(in: 24...47)] = generator.bytes(1)[0]
    case 2:
      // A slot, often one that then refers to another slot's cell.
      let slot = PageHeader.byteCount + 8 * generator.number(in: 0...20)
      let other = PageHeader.byteCount + 8 * generator.number(in: 0...20)
      for byte in 0..<8 { bytes[slot + byte] = bytes[other + byte] }
    case 3:
      let slot = PageHeader.byteCount + 8 * generator.number(in: 0...20)
      bytes[slot + generator.number(in: 0...7)] ^= UInt8(1) << UInt8(generator.number(in: 0...7))
    case 4:
      // Another page's contents under this one's number.
      let other = pages[generator.pick(numbers)] ?? bytes
      bytes.replaceSubrange(24..., with: other[24...])
    default:
      for _ in 0..<4 { bytes[generator.number(in: 24...(pageSize - 1))] = generator.bytes(1)[0] }
    }
    pages[number] = bytes
    seal(number, depth: 0)
  }

  /// Puts the right checksum into a page and into the references to it, and so on up to the root.
  private mutating func seal(_ number: UInt64, depth: Int) {
    guard var bytes = pages[number], depth < 8 else { return }
    let checksum = bytes.withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[8...])) }
    withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(0..<8, with: $0) }
    pages[number] = bytes
    if root.reference.location.rawValue == number { root.reference.checksum = checksum }
    let needle = withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
    for (parent, image) in pages where parent != number && image[PageHeader.kind] == PageKind.branch.rawValue
    {
      guard let offset = self.offset(of: needle, in: image) else { continue }
      var changed = image
      withUnsafeBytes(of: checksum.littleEndian) {
        changed.replaceSubrange((offset + 8)..<(offset + 16), with: $0)
      }
      pages[parent] = changed
      seal(parent, depth: depth + 1)
    }
  }

  /// Returns the offset at which a branch has a reference to a page; nil if it has none.
  private func offset(of needle: [UInt8], in image: [UInt8]) -> Int? {
    image.withUnsafeBytes { bytes in
      let page = PageImage(bytes.start)
      for index in 0..<min(page.count, (image.count - PageHeader.byteCount) / PageSlot.byteCount) {
        let offset = page.slot(index).offset
        if offset + 32 <= image.count, needle.elementsEqual(bytes[offset..<(offset + 8)]) { return offset }
      }
      return nil
    }
  }
}
