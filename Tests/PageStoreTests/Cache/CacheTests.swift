import Dispatch
import Foundation
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Stores that are larger than the memory that they may take.
struct CacheTests {
  private static let count = 40_000
  private static let budget = 256 << 10

  private static let keys = (0..<count).map { bytes(String(format: "key%08d", $0)) }
  private static let values = (0..<count).map { value($0, 0) }

  private static func key(_ index: Int) -> [UInt8] { keys[index] }
  private static func value(_ index: Int) -> [UInt8] { values[index] }

  private static func value(_ index: Int, _ round: Int) -> [UInt8] {
    bytes("value \(index) of round \(round), and so many bytes that a page has few of them")
  }

  /// Returns the first key with a wrong value.
  private static func firstWrongKey(
    in tree: TreeReader,
    _ expected: (Int) -> [UInt8] = { CacheTests.values[$0] }
  ) throws -> Int? {
    try (0..<count).first { try tree.value(for: keys[$0]) != expected($0) }
  }

  /// A store of about 4 MB, just opened, with a cache of 256 KiB.
  private static func makeStore(_ fixture: inout StoreFixture) throws -> Store {
    fixture.options.cacheBytes = budget
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      try tree.append(sorted: (0..<count).map { (key: key($0), value: value($0)) })
      try transaction.tree("large").put(bytes("page"), [UInt8](repeating: 7, count: 3_000))
      try transaction.tree("large").put(bytes("pages"), [UInt8](repeating: 8, count: 30_000))
    }
    try store.close()
    return try fixture.open()
  }

  private static func checkBudget(_ store: Store) throws {
    let statistics = try store.statistics
    #expect(statistics.cachedBytes <= UInt64(budget))
    // Retired pages that wait to be used again.
    #expect(statistics.residentBytes <= UInt64(budget) + 64 * 4_096)
  }

  @Test func aScanOfMoreThanTheCacheStaysWithinTheBudget() throws {
    var fixture = StoreFixture()
    let store = try Self.makeStore(&fixture)
    for isReversed in [false, true] {
      var found = 0
      try store.read { snapshot in
        try snapshot.tree("t").forEach(reversed: isReversed) { key, value in
          let index = isReversed ? Self.count - 1 - found : found
          found += key.withUnsafeBytes { $0.elementsEqual(Self.key(index)) } ? 1 : 0
          return value.withUnsafeBytes { $0.elementsEqual(Self.value(index)) }
        }
      }
      #expect(found == Self.count)
      try Self.checkBudget(store)
    }
    let statistics = try store.statistics
    #expect(statistics.cacheEvictions > 1_500)
    #expect(statistics.cacheMisses >= statistics.cacheEvictions)
    #expect(statistics.cacheHits > statistics.cacheMisses)
  }

  @Test func whatACursorStandsOnStays() throws {
    var fixture = StoreFixture()
    let store = try Self.makeStore(&fixture)
    let tree = try store.snapshot().tree("t")
    let large = try store.snapshot().tree("large")
    var cursor = tree.cursor(in: .all)
    #expect(try cursor.seek(to: Self.key(100)))
    var overflow = large.cursor(in: .all)
    #expect(try overflow.next())
    let bytesOfPage = try overflow.value()
    try tree.withValue(for: Self.key(20_000)) { (value: RawSpan?) throws in
      #expect(try Self.firstWrongKey(in: tree) == nil)
      value?.withUnsafeBytes { #expect($0.elementsEqual(Self.value(20_000))) }
    }
    for index in 100..<130 {
      #expect(try [UInt8](cursor.key()) == Self.key(index))
      #expect(try [UInt8](cursor.value()) == Self.value(index))
      #expect(try cursor.next())
    }
    #expect(bytesOfPage.allSatisfy { $0 == 7 } && bytesOfPage.count == 3_000)
    let isThere = try overflow.next()
    #expect(isThere)
    let bytesOfPages = try overflow.value()
    #expect(bytesOfPages.allSatisfy { $0 == 8 })
    try Self.checkBudget(store)
  }

  @Test func aScanLeavesWhatIsReadOftenInMemory() throws {
    var fixture = StoreFixture()
    let store = try Self.makeStore(&fixture)
    let tree = try store.snapshot().tree("t")
    let often = stride(from: 0, to: Self.count, by: 2_000)
    for _ in 0..<3 {
      for index in often { #expect(try tree.contains(Self.key(index))) }
    }
    try tree.forEach { _, _ in true }
    let misses = try store.statistics.cacheMisses
    for index in often { #expect(try tree.contains(Self.key(index))) }
    #expect(try store.statistics.cacheMisses - misses <= 2)
  }

  @Test func leavesThatWereWrittenBesideCommitsCanGo() throws {
    var fixture = StoreFixture()
    let store = try Self.makeStore(&fixture)
    let old = try store.snapshot().tree("t")
    for round in 1...6 {
      for first in stride(from: 0, to: Self.count, by: 4_000) {
        try store.write(durability: .relaxed) { transaction in
          let tree = try transaction.tree("t")
          for index in first..<(first + 4_000) where index % 7 == round {
            try tree.put(Self.key(index), Self.value(index, round))
          }
          try transaction.tree("large").put(bytes("page"), [UInt8](repeating: UInt8(round), count: 3_000))
        }
      }
      try store.checkpointConcurrently()
      let statistics = try store.statistics
      #expect(statistics.cachedBytes <= UInt64(Self.budget))
      let tree = try store.snapshot().tree("t")
      let wrongKey = try Self.firstWrongKey(in: tree) { index in
        (1...round).contains(index % 7) ? Self.value(index, index % 7) : Self.value(index)
      }
      #expect(wrongKey == nil)
      #expect(
        try store.snapshot().tree("large").value(for: bytes("page"))
          == [UInt8](repeating: UInt8(round), count: 3_000)
      )
      #expect(try store.verify().isEmpty)
    }
    // The snapshot of the beginning still shows the first values.
    #expect(try Self.firstWrongKey(in: old) == nil)
    let statistics = try store.statistics
    // Only branches are added: a branch has at least fifty leaves.
    #expect(statistics.residentBytes < UInt64(Self.budget) + (1 << 20))
    try store.close()
    let reopened = try fixture.open()
    #expect(try reopened.snapshot().tree("t").value(for: Self.key(8)) == Self.value(8, 1))
    #expect(try reopened.verify().isEmpty)
  }

  /// Without a snapshot of the beginning, memory holds one version and the changes of a few commits.
  @Test(arguments: [false, true])
  func changedPagesTakeTheMemoryOfThoseTheyReplace(_ isBesideSnapshot: Bool) throws {
    var fixture = StoreFixture()
    _ = try Self.makeStore(&fixture).close()
    fixture.options.cacheBytes = 64 << 20
    let store = try fixture.open()
    try store.read { try $0.tree("t").forEach { _, _ in true } }
    let before = try store.statistics.residentBytes
    let old = isBesideSnapshot ? try store.snapshot().tree("t") : nil
    for first in stride(from: 0, to: Self.count, by: 1_000) {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for index in first..<(first + 1_000) { try tree.put(Self.key(index), Self.value(index, 1)) }
      }
    }
    let after = try store.statistics
    #expect(after.cacheEvictions == 0)
    if let old {
      let misses = after.cacheMisses
      #expect(try Self.firstWrongKey(in: old) == nil)
      #expect(try store.statistics.cacheMisses == misses)
    } else {
      #expect(after.residentBytes < before + before / 8)
    }
    let tree = try store.snapshot().tree("t")
    let wrongKey = try Self.firstWrongKey(in: tree) { Self.value($0, 1) }
    #expect(wrongKey == nil)
    #expect(try store.verify().isEmpty)
  }

  @Test func readersOfManyThreadsSeeWhatTheyShould() throws {
    let folder = try TemporaryFolder()
    var options = StoreOptions()
    options.pageSize = 4_096
    options.durability = .relaxed
    options.cacheBytes = Self.budget
    options.checkpointLogBytes = 256 << 10
    let store = try Store.open(at: folder.file("small.cambium"), options: options)
    try store.write { transaction in
      let tree = try transaction.tree("t")
      try tree.append(sorted: (0..<Self.count).map { (key: Self.key($0), value: Self.value($0)) })
    }
    let seed = SeededGenerator("readersOfManyThreads").seed
    let problems = Mutex<[String]>([])
    let isOver = Atomic(false)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var generator = SeededGenerator(seed: mixed(seed, UInt64(thread)))
      do {
        if thread == 0 {
          try Self.overwrite(store, &generator)
          isOver.store(true, ordering: .relaxed)
        } else {
          while !isOver.load(ordering: .relaxed) { try Self.readSome(store, &generator) }
        }
      } catch {
        isOver.store(true, ordering: .relaxed)
        problems.withLock { $0.append("\(error)") }
      }
    }
    #expect(problems.withLock { $0 } == [])
    #expect(try store.statistics.cacheEvictions > 1_000)
    #expect(try store.statistics.checkpoints > 3)
    #expect(try store.verify().isEmpty)
    try store.close()
  }

  /// Makes 300 commits, and more until there were some checkpoints meanwhile. Each commit gives the values that it
  /// touches the number of its round.
  private static func overwrite(_ store: Store, _ generator: inout SeededGenerator) throws {
    var round = 0
    repeat {
      round += 1
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for _ in 0..<40 {
          let index = generator.number(in: 0...(count - 1))
          try tree.put(key(index), value(index, round))
        }
      }
    } while try round < 300 || (store.statistics.checkpoints <= 3 && round < 30_000)
  }

  private struct WrongValue: Error {
    var key: Int
  }

  private static func readSome(_ store: Store, _ generator: inout SeededGenerator) throws {
    let snapshot = try store.snapshot()
    let tree = try snapshot.tree("t")
    var cursor = tree.cursor(in: .all)
    var index = generator.number(in: 0...(count - 1))
    _ = try cursor.seek(to: key(index))
    for step in 0..<200 {
      let found = try [UInt8](cursor.value())
      guard try [UInt8](cursor.key()) == key(index), isValue(found, of: index) else {
        throw WrongValue(key: index)
      }
      let other = generator.number(in: 0...(count - 1))
      guard let value = try tree.value(for: key(other)), isValue(value, of: other) else {
        throw WrongValue(key: other)
      }
      guard try step % 3 == 2 ? cursor.previous() : cursor.next() else { break }
      index += step % 3 == 2 ? -1 : 1
    }
  }

  private static func isValue(_ found: [UInt8], of index: Int) -> Bool {
    found.starts(with: bytes("value \(index) of round ")) && found.count > 60
  }

  @Test func aPageThatCanNotBeReadIsAnErrorAndCanBeReadLater() throws {
    let folder = try TemporaryFolder()
    var options = StoreOptions()
    options.cacheBytes = Self.budget
    let path = folder.file("cut.cambium")
    let store = try Store.open(at: path, options: options)
    try store.write { transaction in
      let tree = try transaction.tree("t")
      try tree.append(sorted: (0..<Self.count).map { (key: Self.key($0), value: Self.value($0)) })
    }
    try store.checkpoint()
    // Another program truncates the file under the store, and puts the old contents back.
    let contents = try Data(contentsOf: URL(filePath: path))
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? handle.close() }
    try handle.truncate(atOffset: 64 << 10)
    let tree = try store.snapshot().tree("t")
    let failures = (0..<Self.count / 100).compactMap { index in
      code { _ = try tree.value(for: Self.key(100 * index)) }
    }
    #expect(failures.count > 100)
    #expect(failures.allSatisfy { $0 == .corrupt || $0 == .inputOutput })
    try handle.seek(toOffset: 0)
    try handle.write(contentsOf: contents)
    #expect(try Self.firstWrongKey(in: tree) == nil)
    try store.close()
  }

  @Test func aScanGoesOnWhereAnErrorHasStoppedIt() throws {
    var fixture = StoreFixture()
    let store = try Self.makeStore(&fixture)
    var generator = SeededGenerator("aScanGoesOnWhereAnErrorHasStoppedIt")
    for isReversed in [false, true] {
      var cursor = try store.snapshot().tree("t").cursor(in: .all)
      var found = 0
      var failures = 0
      var wrongKeys: [Int] = []
      while true {
        if failures * 600 < found {
          fixture.disk.inject(DiskFault(.read, at: generator.number(in: 0...1), .error(EIO)))
          failures += 1
        }
        do throws(StoreError) {
          guard try isReversed ? cursor.previous() : cursor.next() else { break }
          let index = isReversed ? Self.count - 1 - found : found
          if try [UInt8](cursor.key()) != Self.key(index) { wrongKeys.append(index) }
          found += 1
        } catch {
          #expect(error.code == .inputOutput)
        }
      }
      #expect(found == Self.count && wrongKeys == [])
      #expect(failures > 50)
    }
  }

  @Test func aBudgetBelowTheLeastIsRefused() {
    var fixture = StoreFixture()
    fixture.options.cacheBytes = 4_096
    #expect(code { _ = try fixture.open() } == .invalidOptions)
  }
}
