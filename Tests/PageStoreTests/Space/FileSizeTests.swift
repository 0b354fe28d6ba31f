import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// The size of a file compared with its contents. Counts of bytes, no times.
struct FileSizeTests {
  private func key(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8]($0) }
  }

  private func fill(_ store: Store, _ count: Int, valueByteCount: Int = 100) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      let value = [UInt8](repeating: 7, count: valueByteCount)
      for number in 0..<count { try tree.put(key(number), value) }
    }
  }

  private func allocated(_ path: String) -> UInt64 {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_blocks) * 512 : 0
  }

  private func withStore(
    _ options: StoreOptions = StoreOptions(),
    _ body: (Store, _ path: String) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    let store = try Store.open(at: path, options: options)
    try body(store, path)
  }

  @Test func updatesOfOneRowLeaveASmallFile() throws {
    var options = StoreOptions()
    options.durability = .none
    try withStore(options) { store, path in
      for round in 0..<3_000 {
        try store.write { transaction in
          let tree = try transaction.tree("t")
          for step in 0..<20 { try tree.put([1], key(round * 20 + step)) }
        }
      }
      let live = try store.spaceLedger().liveBytes
      #expect(allocated(path) <= 2 * live + 64 << 20)
      try store.close()
      #expect(allocated(path) <= 2 * live + 4 << 20)
      #expect(allocated(path) <= 256 << 10)
    }
  }

  @Test(arguments: ["random", "range"])
  func halfOfTheEntriesGoneIsHalfOfTheFileGone(_ manner: String) throws {
    var options = StoreOptions()
    options.durability = .none
    try withStore(options) { store, path in
      try fill(store, 60_000)
      try store.compact()
      let before = allocated(path)
      var generator = SeededGenerator("\(#function) \(manner)")
      let numbers =
        manner == "range"
        ? Array(15_000..<45_000) : Array(0..<60_000).filter { _ in generator.chance(1, in: 2) }
      for start in stride(from: 0, to: numbers.count, by: 3_000) {
        try store.write { transaction in
          let tree = try transaction.tree("t")
          for number in numbers[start..<min(numbers.count, start + 3_000)] { try tree.remove(key(number)) }
        }
      }
      var reports: [CompactionProgress] = []
      let result = try store.compact {
        reports.append($0); return true
      }
      #expect(reports.last == result)
      let freed = Double(before) - Double(allocated(path))
      let deleted = Double(before) * Double(numbers.count) / 60_000
      #expect(freed >= 0.9 * deleted, "freed \(freed) of \(deleted)")
      let ledger = try store.spaceLedger()
      #expect(ledger.totalBytes <= ledger.liveBytes + ledger.liveBytes / 8 + 512 << 10, "\(ledger)")
      #expect(try store.verify() == [])
      #expect(try store.snapshot().tree("t").count == 60_000 - numbers.count)
    }
  }

  @Test func oneReaderHoldsOnlyWhatItSees() throws {
    var options = StoreOptions()
    options.durability = .none
    options.dirtyMemoryBytes = 4 << 20
    options.cacheBytes = 1 << 20
    try withStore(options) { store, path in
      try fill(store, 30_000)
      try store.checkpoint()
      let live = try store.spaceLedger().liveBytes
      let reader = try store.snapshot(label: "a long look")
      var generator = SeededGenerator()
      for round in 0..<150 {
        try store.write { transaction in
          let tree = try transaction.tree("t")
          for _ in 0..<500 {
            try tree.put(
              key(generator.number(in: 0...29_999)),
              [UInt8](repeating: UInt8(round & 255), count: 100)
            )
          }
        }
      }
      try store.checkpoint()
      let ledger = try store.spaceLedger()
      #expect(ledger.pinnedBytes > 0 && ledger.pinnedBytes <= live)
      #expect(
        Double(ledger.liveBytes + ledger.pinnedBytes + ledger.deadBytes) <= 2.2 * Double(live),
        "\(ledger)"
      )
      let lease = try #require(try store.readers().first)
      #expect(lease.label == "a long look" && lease.commit == reader.commit)
      #expect(lease.pinnedBytes == ledger.pinnedBytes)
      let tree = try reader.tree("t")
      for number in stride(from: 0, to: 30_000, by: 997) {
        #expect(try tree.value(for: key(number)) == [UInt8](repeating: 7, count: 100))
      }
      #expect(try store.verify() == [])
      withExtendedLifetime(reader) {}
    }
  }

  @Test func whatIsFreeBetweenPagesThatASnapshotReadsBecomesAHole() throws {
    try withStore { store, path in
      try fill(store, 60_000)
      try store.write { transaction in
        try transaction.tree("t").removeRange(KeyRange(lower: .unbounded, upper: .excluding(key(45_000))))
      }
      try store.checkpoint()
      try store.checkpoint()
      let before = allocated(path)
      let snapshot = try store.snapshot()
      try store.compact()
      let ledger = try store.spaceLedger()
      // The last page stays where it is, and with it the file's size.
      #expect(ledger.totalBytes >= before * 9 / 10)
      #expect(ledger.pinnedBytes > 1 << 20)
      #expect(
        allocated(path) <= ledger.liveBytes + ledger.pinnedBytes + 1 << 20,
        "\(allocated(path)) \(ledger)"
      )
      #expect(try snapshot.tree("t").value(for: key(59_999)) == [UInt8](repeating: 7, count: 100))
      #expect(try store.verify() == [])
      // New pages get blocks again.
      try fill(store, 30_000)
      try store.checkpoint()
      #expect(try store.verify() == [])
      #expect(try snapshot.tree("t").count == 15_000)
      withExtendedLifetime(snapshot) {}
    }
  }

  @Test func compactingBesideWritersLosesNothing() throws {
    var options = StoreOptions()
    options.pageSize = 4_096
    let subject = StoreUnderTest(options: options, seed: 5)
    try subject.open()
    var generator = SeededGenerator()
    for round in 0..<6 {
      for _ in 0..<8 {
        let shape = generator.pick([StoreWorkload.Shape.growth, .growth, .range, .largeValue, .small])
        _ = try subject.commit(shape)
      }
      let store = try #require(subject.store)
      let seen = try store.snapshot()
      try store.compact { _ in
        _ = try subject.commit(generator.pick([.small, .growth]))
        return true
      }
      let model = subject.ledger.model
      var comparison = SnapshotComparison(seed: 1)
      #expect(try comparison.difference(of: seen, from: model.commits[Int(seen.commit)].state) == nil)
      try subject.check(seed: UInt64(round))
      if round % 2 == 0 { subject.loseThePower(.mixed, seed: UInt64(round)) } else { subject.die() }
      try subject.open()
      try subject.check(seed: UInt64(round))
    }
  }

  @Test func compactionCanBeCancelled() throws {
    try withStore { store, _ in
      try fill(store, 60_000)
      try store.write { transaction in
        try transaction.tree("t").removeRange(KeyRange(upper: .excluding(key(40_000))))
      }
      try store.checkpoint()
      var callCount = 0
      let result = try store.compact { _ in
        callCount += 1
        return false
      }
      #expect(callCount == 1)
      #expect(result.currentBytes <= result.startBytes)
      #expect(try store.verify() == [])
    }
  }

  @Test func removingMakesRoomOnAFullDisk() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    fixture.disk.setCapacity(2 << 20)
    var count = 0
    while code({ try store.put("k\(count)", String(repeating: "v", count: 1_000)) }) == nil { count += 1 }
    #expect(count > 300)
    for number in 0..<count / 2 { try store.write { try $0.tree("t").remove(bytes("k\(number)")) } }
    var again = 0
    while again < count / 4, code({ try store.put("n\(again)", String(repeating: "w", count: 1_000)) }) == nil
    { again += 1 }
    #expect(again == count / 4)
    #expect(try store.verify() == [])
  }

  @Test func theRecordOfPagesShrinksWithTheFile() throws {
    var options = StoreOptions()
    options.pageSize = 4_096
    options.durability = .none
    try withStore(options) { store, path in
      try store.write { try $0.tree("t").put([1], [UInt8](repeating: 1, count: 170 << 20)) }
      try store.write { try $0.tree("t").put([1], [2]) }
      try store.close()
      #expect(allocated(path) < 1 << 20)
      let again = try Store.open(at: path)
      #expect(try again.verify() == [])
      #expect(try again.snapshot().tree("t").value(for: [1]) == [2])
    }
  }

  /// With pages of 64 KiB a log extent is a single page, which looks like the header of an empty extent.
  @Test func aLogExtentOfOnePageIsNotCutOff() throws {
    var fixture = StoreFixture(pageSize: 65_536)
    fixture.options.initialLogByteCount = 64 << 10
    fixture.options.checkpointLogBytes = 64 << 10
    var store = try fixture.open()
    for round in 0..<12 {
      for number in 0..<40 { try store.put("k\(number)", String(repeating: "\(round % 10)", count: 1_000)) }
      if round % 3 == 0 { try store.compact() }
      store = try fixture.open(fixture.disk.afterProcessDeath())
      try store.compact()
      #expect(try store.verify() == [])
      #expect(try store.value("k7") == String(repeating: "\(round % 10)", count: 1_000))
      let later = StoreFixture(
        SimulatedDisk(fixture.disk.crashPoint.image(.allKept, seed: 0)),
        pageSize: 65_536
      )
      #expect(try later.open().value("k7") == String(repeating: "\(round % 10)", count: 1_000))
      store = try fixture.open()
    }
  }

  @Test func roomOfASnapshotThatWasLetGoIsUsedOnAFullDisk() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    fixture.disk.setCapacity(2 << 20)
    for number in 0..<150 { try store.put("k\(number)", String(repeating: "v", count: 3_000)) }
    try store.checkpoint()
    var snapshot: Snapshot? = try store.snapshot()
    var count = 0
    while code({ try store.put("k\(count % 150)", String(repeating: "w", count: 3_000)) }) == nil,
      count < 5_000
    {
      count += 1
    }
    #expect(snapshot != nil && count < 5_000)
    snapshot = nil
    #expect(code { try store.put("k1", String(repeating: "x", count: 3_000)) } == nil)
  }
}
