import Foundation
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Copies of open stores: their contents and their size.
struct CopyTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("copy") }

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: FileLayout.pageSizes)
  func holdsWhatTheSnapshotShows(_ pageSize: Int) throws {
    var generator = SeededGenerator("\(#function) \(pageSize)")
    for round in 0..<3 {
      var options = StoreOptions()
      options.pageSize = generator.pick(FileLayout.pageSizes)
      let subject = StoreUnderTest(options: options, seed: generator.next())
      try subject.open()
      for _ in 0..<12 { _ = try subject.commit(generator.pick(StoreWorkload.Shape.allCases)) }
      let store = try #require(subject.store)
      let path = folder.file("copy \(round)")
      #expect(try store.copy(to: path, pageSize: pageSize, keepsUUID: false))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == round + 1)

      let copy = try Store.open(at: path)
      var comparison = SnapshotComparison(seed: generator.next())
      #expect(try comparison.difference(of: copy.snapshot(), from: subject.ledger.model.state) == nil)
      #expect(try copy.verify() == [])
      #expect(try copy.statistics.pageSize == pageSize)
      #expect(copy.lastCommit == store.lastCommit)
      #expect(try copy.snapshot().timestamp == store.snapshot().timestamp)
      #expect(copy.uuid != store.uuid)
      try expectDense(copy)

      try copy.put("after", "the copying")
      #expect(copy.lastCommit == store.lastCommit + 1)
      #expect(try copy.verify() == [])
      try copy.close()
      #expect(try Store.open(at: path, options: .reading).value("after") == "the copying")
    }
  }

  /// The bound that `Store.copy` states.
  private func expectDense(_ copy: Store) throws {
    let ledger = try copy.spaceLedger()
    let pageSize = UInt64(try copy.statistics.pageSize)
    let bound = ledger.liveBytes + ledger.liveBytes / 64 + 256 << 10 + 16 * pageSize
    #expect(ledger.totalBytes <= bound, "\(ledger)")
  }

  @Test func aLargeStoreIsCopiedPieceByPiece() throws {
    var options = StoreOptions()
    options.durability = .none
    let store = try Store.inMemory(options: options)
    var generator = SeededGenerator()
    var byteCount = 0
    // Keys come in random order, so that the pages are half empty. The entries are also more than one transaction of
    // the copy takes.
    for _ in 0..<40 {
      try store.write { transaction in
        let tree = try transaction.tree("small")
        for _ in 0..<2_600 {
          let (key, value) = (generator.bytes(8), generator.bytes(120))
          try tree.put(key, value)
          byteCount += key.count + value.count
        }
      }
    }
    let large = generator.bytes(9 << 20)
    for number in 0..<3 { try store.write { try $0.tree("large").put([UInt8(number)], large) } }
    try store.write { _ = try $0.tree("a tree without entries") }
    byteCount += 3 * (large.count + 1)

    var reports: [CopyProgress] = []
    try store.copy(to: path) { progress in
      reports.append(progress)
      return true
    }
    #expect(reports.count >= byteCount / (16 << 20) && reports.count < 16)
    #expect(reports.last?.copiedEntries == reports.last?.totalEntries)
    #expect(reports.last?.copiedBytes == UInt64(byteCount))
    let copy = try Store.open(at: path, options: .reading)
    #expect(try copy.verify() == [])
    #expect(try copy.snapshot().treeNames == ["a tree without entries", "large", "small"])
    let small = (try copy.snapshot().tree("small"), try store.snapshot().tree("small"))
    #expect(try small.0.count == small.1.count)
    var other = small.1.cursor()
    var cursor = small.0.cursor()
    while try cursor.next() {
      #expect(try other.next())
      let isSame = try cursor.withEntry { key, value in
        try other.withEntry { bytes(key) == bytes($0) && bytes(value) == bytes($1) }
      }
      try #require(isSame)
    }
    for number in 0..<3 { #expect(try copy.snapshot().tree("large").value(for: [UInt8(number)]) == large) }
    try expectDense(copy)
    // The bytes of the entries, a slot and a length for each entry, and some branches.
    let ledger = try copy.spaceLedger()
    let entryBytes = UInt64(byteCount + 10 * (reports.last?.totalEntries ?? 0))
    #expect(ledger.totalBytes <= entryBytes + entryBytes / 20, "\(ledger.totalBytes) for \(entryBytes)")
  }

  private func bytes(_ span: RawSpan) -> [UInt8] { span.withUnsafeBytes { Array($0) } }

  @Test func showsOneCommitWhileOthersAreMade() throws {
    let store = try Store.open(at: folder.file("store"))
    @Sendable func commit(_ number: UInt64) throws {
      try store.write(durability: .relaxed) { transaction in
        let number = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        try transaction.tree("numbers").put(number, [UInt8](repeating: 1, count: 2_000))
        try transaction.tree("last").put([0], number)
      }
    }
    for number in 1...UInt64(3_000) { try commit(number) }
    let isOver = Atomic(false)
    let writer = Thread {
      var number = store.lastCommit
      while !isOver.load(ordering: .relaxed) {
        number += 1
        if (try? commit(number)) == nil { break }
      }
    }
    writer.start()
    for round in 0..<4 {
      let before = store.lastCommit
      try store.copy(to: folder.file("copy \(round)"), pageSize: 16_384)
      let copy = try Store.open(at: folder.file("copy \(round)"))
      #expect(copy.lastCommit >= before && copy.lastCommit <= store.lastCommit)
      #expect(try copy.snapshot().tree("numbers").count == Int(copy.lastCommit))
      let last = try copy.snapshot().tree("last").value(for: [0])
      #expect(last == withUnsafeBytes(of: copy.lastCommit.bigEndian) { Array($0) })
      #expect(try copy.verify() == [])
      try copy.close()
    }
    isOver.store(true, ordering: .relaxed)
    while !writer.isFinished { usleep(1_000) }
    try store.close()
  }

  @Test func anEmptyStoreIsCopied() throws {
    let store = try Store.inMemory()
    try store.copy(to: path)
    let copy = try Store.open(at: path)
    #expect(copy.lastCommit == 0 && copy.uuid == store.uuid)
    #expect(try copy.snapshot().treeNames == [])
    #expect(try copy.verify() == [])
  }

  @Test func nothingRemainsOfACopyThatWasEnded() throws {
    struct Ended: Error {}
    let store = try Store.inMemory()
    try store.put("a", "1")
    #expect(try store.copy(to: path) { _ in false } == false)
    #expect(throws: Ended.self) { try store.copy(to: path) { _ in throw Ended() } }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    #expect(code { try store.copy(to: path, pageSize: 5_000) } == .invalidOptions)
    #expect(code { try store.copy(to: folder.file("no/such/folder")) } == .inputOutput)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func neverReplacesAFile() throws {
    let store = try Store.inMemory()
    try store.put("a", "1")
    try Data("somebody's".utf8).write(to: URL(fileURLWithPath: path))
    #expect(code { try store.copy(to: path) } == .inputOutput)
    // A file that appears while the copy is made isn't replaced either.
    let other = folder.file("other")
    #expect(
      code {
        try store.copy(to: other) { _ in
          try Data("somebody's".utf8).write(to: URL(fileURLWithPath: other))
          return true
        }
      } == .inputOutput
    )
    for path in [path, other] {
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("somebody's".utf8))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["copy", "other"])
  }

  @Test func whatACrashHasLeftIsRemoved() throws {
    let store = try Store.inMemory()
    try store.put("a", "1")
    let leftover = path + ".cambium-copy"
    try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: leftover))
    // A temporary file that another copy is writing isn't removed.
    let other = try PosixFile.openLocked(path: leftover)
    #expect(code { try store.copy(to: path) } == .storeInUse)
    #expect(try Data(contentsOf: URL(fileURLWithPath: leftover)).count == 100_000)
    other.close()
    try store.copy(to: path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy"])
    #expect(try Store.open(at: path).value("a") == "1")
  }

  @Test func isReadByNobodyWhoCannotReadTheStore() throws {
    let store = try Store.open(at: folder.file("store"))
    try store.put("a", "1")
    for permissions in [0o600, 0o640, 0o444] {
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: store.path)
      let path = folder.file("copy \(permissions)")
      try store.copy(to: path) { _ in
        let temporary = try FileManager.default.attributesOfItem(atPath: path + ".cambium-copy")
        #expect(temporary[.posixPermissions] as? Int == permissions)
        return true
      }
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == permissions)
    }
  }

  @Test func aDamagedStoreGivesNoCopy() throws {
    let file = MemoryFile()
    let made = try Store.open(file: file, path: "", options: StoreOptions(), environment: .system)
    try made.put("a", "a value that is easy to find")
    try made.close()
    let text = Array("easy to find".utf8)
    var image = file.bytes
    for start in image.indices.dropLast(text.count)
    where image[start..<start + text.count].elementsEqual(text) { image[start] ^= 1 }
    let store = try Store.open(
      file: MemoryFile(image),
      path: "",
      options: .reading,
      environment: .system
    )
    #expect(code { try store.copy(to: path) } == .corrupt)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}

extension StoreOptions {
  /// For reading only.
  static var reading: StoreOptions {
    var options = StoreOptions()
    options.isReadOnly = true
    return options
  }
}
