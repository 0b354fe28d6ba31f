import Glibc
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

/// The uses of a file's pages, compared with the ledger and with the bytes.
struct PageUsesTests {
  /// Compares the uses with the ledger and with themselves.
  @discardableResult
  private func checked(_ store: Store) throws -> PageUses {
    let (uses, ledger) = (try store.pageUses(), try store.spaceLedger())
    var counts: [PageUse: UInt64] = [:]
    var end: UInt64 = 0
    var last: PageUse?
    for run in uses {
      #expect(run.pages.lowerBound == end && !run.pages.isEmpty && run.use != last)
      #expect(uses.count(of: run.use, in: run.pages) == UInt64(run.pages.count))
      counts[run.use, default: 0] += UInt64(run.pages.count)
      (end, last) = (run.pages.upperBound, run.use)
    }
    #expect(end == uses.pageCount)
    #expect(ledger.totalBytes == end * UInt64(uses.pageSize), "\(ledger)")
    for use in PageUse.allCases {
      #expect(uses.count(of: use) == counts[use] ?? 0)
      #expect((counts[use] ?? 0) * UInt64(uses.pageSize) == ledger.byteCount(of: use), "\(use): \(ledger)")
    }
    return uses
  }

  private func fill(_ store: Store, _ numbers: Range<Int>, _ letter: Character) throws {
    let value = bytes(String(repeating: letter, count: 300))
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in numbers { try tree.put(bytes("k\(number)"), value) }
    }
  }

  @Test func whatOnlyASnapshotReachesIsPinnedUntilItIsLetGo() throws {
    let store = try StoreFixture().open()
    try fill(store, 0..<500, "a")
    try store.checkpoint()
    let whole = try checked(store).count(of: .live)
    #expect(whole >= 40)
    var snapshot: Snapshot? = try store.snapshot()
    try fill(store, 0..<500, "b")
    // The new pages are only in memory so far, and the checkpoint needs the old pages as well.
    #expect(try checked(store).count(of: .dead) >= 40)
    for round in 0..<3 {
      try store.put("k\(round)", "c")
      try store.checkpoint()
    }
    #expect(try checked(store).count(of: .pinned) >= 40)
    #expect(snapshot != nil)
    snapshot = nil
    let uses = try checked(store)
    #expect(uses.count(of: .pinned) == 0)
    #expect(uses.count(of: .live) < whole + 10)
    #expect(uses.count(of: .free) + uses.count(of: .reserved) >= 40)
  }

  /// The checkpoint has taken room by then, and releases parts of the log before it is done.
  @Test func everyPageHasAUseWhileACheckpointIsWritten() throws {
    let disk = SimulatedDisk()
    let fixture = StoreFixture(disk)
    let watched = Mutex<(store: Store?, sums: [[UInt64]])>((nil, []))
    var environment = fixture.environment
    environment.duringCheckpoint = {
      guard let store = watched.withLock({ $0.store }) else { return }
      guard let uses = try? store.pageUses(), let ledger = try? store.spaceLedger() else { return }
      let sums = [
        ledger.totalBytes, uses.reduce(0) { $0 + UInt64($1.pages.count) * 4_096 }, uses.pageCount * 4_096,
      ]
      watched.withLock { $0.sums.append(sums) }
    }
    var options = fixture.options
    options.checkpointLogBytes = 64 << 20
    let store = try Store.open(file: disk, path: "test", options: options, environment: environment)
    watched.withLock { $0.store = store }
    for round in 0..<6 {
      for part in 0..<20 { try fill(store, part * 100..<part * 100 + 100, Character("\(round)")) }
      try store.checkpointConcurrently()
      try checked(store)
    }
    watched.withLock { $0.store = nil }
    let sums = watched.withLock { $0.sums }
    #expect(sums.count == 24)
    for moment in sums { #expect(Set(moment).count == 1, "\(moment)") }
  }

  @Test func aStoreThatDiedIsMappedWithoutWriting() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try fill(store, 0..<400, "a")
    try store.checkpoint()
    try fill(store, 0..<200, "b")
    let before = try checked(store)
    let disk = fixture.disk.afterProcessDeath()
    let content = disk.content.bytes
    var options = fixture.options
    options.isReadOnly = true
    let reader = try Store.open(file: disk, path: "test", options: options, environment: fixture.environment)
    let uses = try checked(reader)
    #expect(uses.count(of: .live) == before.count(of: .live))
    #expect(uses.count(of: .dead) == before.count(of: .dead))
    #expect(uses.count(of: .log) == before.count(of: .log))
    #expect(content == disk.content.bytes)
    try store.close()
    #expect(code { _ = try store.pageUses() } == .closed)
  }

  /// The bytes of each page show its kind, without recovery, the space tree or the ledger.
  @Test(arguments: [4_096, 8_192, 65_536])
  func theBytesAreWhatTheyAreUsedFor(pageSize: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("store")
    var options = StoreOptions()
    options.pageSize = pageSize
    var store = try Store.open(at: path, options: options)
    for round in 0..<4 {
      try fill(store, 0..<3_000, Character("\(round)"))
      try store.write { try $0.tree("large").put(bytes("v"), [UInt8](repeating: 7, count: 200_000)) }
      try store.checkpoint()
    }
    try store.close()
    options.isReadOnly = true
    store = try Store.open(at: path, options: options)
    let uses = try checked(store)
    let inspector = try FileInspector(path: path)
    #expect(uses.pageCount == inspector.pageCount)
    let logPages = try inspector.extents().filter { $0.kind == "log" }.map(\.pageCount).reduce(0, +)
    #expect(uses.count(of: .log) == logPages)
    var kinds: Set<String> = []
    for run in uses {
      for page in run.pages {
        let summary = try inspector.page(page)
        switch run.use {
        case .headers: #expect(["header", "extent header"].contains(summary.kind) || page < 3, "\(page)")
        case .live where summary.treeID != nil:
          #expect(summary.isIntact != false, "\(page)")
          kinds.insert(summary.kind)
        // The later pages of an overflow's chunk have no header of their own.
        case .live: #expect(summary.kind == "unknown" && kinds.contains("overflow"), "\(page)")
        default: break
        }
      }
    }
    #expect(kinds.isSuperset(of: ["leaf", "branch", "overflow"]))
  }

  /// Closing makes the file short. If that fails, the store is closed all the same, and its headers describe the file
  /// as it was before.
  @Test(arguments: [DiskCall.read, .write])
  func aCutThatFailsWhileClosingLeavesNoHeaderThatReachesTooFar(call: DiskCall) throws {
    for position in 0..<80 {
      let fixture = StoreFixture()
      var store = try fixture.open()
      for round in 0..<4 { try fill(store, 0..<400, Character("\(round)")) }
      try store.checkpoint()
      try store.write { try $0.tree("t").removeRange(KeyRange(lower: .including(bytes("k2")))) }
      fixture.disk.inject(DiskFault(call, at: position, .error(EIO)))
      _ = try? store.close()
      fixture.disk.clearFaults()
      store = try fixture.reopened()
      for round in 0..<4 {
        try fill(store, 0..<300, Character("\(round)"))
        try store.checkpoint()
      }
      try checked(store)
      #expect(try store.verify() == [], "\(position)")
    }
  }

  @Test func aDamagedHeaderOfAnExtentIsAnErrorAndNoMore() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("store")
    var store = try Store.open(at: path)
    try fill(store, 0..<2_000, "a")
    try store.close()
    let extents = try FileInspector(path: path).extents()
    let extent = try #require(extents.last { $0.kind == "pages" })
    let file = try #require(fopen(path, "r+"))
    fseek(file, Int(extent.offset), SEEK_SET)
    let garbage = [UInt8](repeating: 0xA5, count: 4_096)
    #expect(fwrite(garbage, 1, garbage.count, file) == garbage.count)
    fclose(file)
    var options = StoreOptions()
    options.isReadOnly = true
    store = try Store.open(at: path, options: options)
    #expect(code { _ = try store.pageUses() } == .corrupt)
    #expect(try !store.verify().isEmpty)
    #expect(try store.value("k1999") == String(repeating: "a", count: 300))
  }
}
