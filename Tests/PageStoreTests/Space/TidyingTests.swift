import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// The work that a store does by itself if its file is much too long.
struct TidyingTests {
  private func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8]($0) } }

  private func options(_ change: (inout CompactionPolicy) -> Void) -> StoreOptions {
    var options = StoreOptions()
    options.durability = .none
    var policy = CompactionPolicy()
    policy.leastLooseBytes = 1 << 20
    policy.idleTime = .milliseconds(20)
    change(&policy)
    options.compaction = policy
    return options
  }

  private func withStore(_ options: StoreOptions, _ body: (Store, _ path: String) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    let store = try Store.open(at: path, options: options)
    try body(store, path)
  }

  private func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  private func fillAndEmpty(_ store: Store, _ path: String) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<60_000 { try tree.put(key(number), [UInt8](repeating: 7, count: 100)) }
    }
    try store.checkpoint()
    #expect(fileSize(path) > 6 << 20)
    try store.write { transaction in
      try transaction.tree("t").removeRange(KeyRange(lower: .including(key(1_000)), upper: .unbounded))
    }
  }

  private func becomesShort(_ path: String, _ limit: Int, within milliseconds: Int) -> Bool {
    for _ in 0..<milliseconds {
      if fileSize(path) <= limit { return true }
      usleep(1_000)
    }
    return false
  }

  @Test func anIdleStoreMakesItsFileShorter() throws {
    try withStore(options { _ in }) { store, path in
      try fillAndEmpty(store, path)
      #expect(becomesShort(path, 1 << 20, within: 600_000), "\(fileSize(path))")
      #expect(try store.snapshot().tree("t").count == 1_000)
      #expect(try store.verify() == [])
      // At most as many bytes were moved as have become free.
      #expect(try store.statistics.bytesCompacted <= 6 << 20)
    }
  }

  @Test func aBusyStoreMakesItsFileShorterIfAskedTo() throws {
    try withStore(options { $0.idleTime = .zero }) { store, path in
      try fillAndEmpty(store, path)
      var rounds = 0
      let end = ContinuousClock.now + .seconds(600)
      while fileSize(path) > 2 << 20, ContinuousClock.now < end {
        try store.write { transaction in try transaction.tree("t").put(key(rounds % 100), key(rounds)) }
        rounds += 1
      }
      #expect(fileSize(path) <= 2 << 20)
      #expect(try store.verify() == [])
    }
  }

  @Test(arguments: [true, false])
  func aStoreThatIsToldNotToKeepsItsFile(hasPolicy: Bool) throws {
    var options = options { $0.leastLooseBytes = 1 << 40 }
    if !hasPolicy { options.compaction = nil }
    try withStore(options) { store, path in
      try fillAndEmpty(store, path)
      #expect(!becomesShort(path, 4 << 20, within: 300))
    }
  }

  @Test func theLogOfAnIdleStoreShrinks() throws {
    var options = options { $0.leastLooseBytes = 1 << 40 }
    options.checkpointLogBytes = 15 << 20
    try withStore(options) { store, _ in
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for number in 0..<30_000 { try tree.put(key(number), [UInt8](repeating: 7, count: 100)) }
      }
      // Small changes of few pages fill the log many times. The length of the log depends on the duration of its
      // checkpoints.
      var (round, grown) = (0, UInt64(0))
      while grown <= 3 << 19, round < 30_000 {
        round += 1
        if round % 100 == 0 { grown = try store.spaceLedger().logBytes }
        try store.write { transaction in
          let tree = try transaction.tree("t")
          for number in 0..<20 {
            try tree.put(key(number), [UInt8](repeating: UInt8(round & 255), count: 100))
          }
        }
      }
      // A mebibyte and an extent are not long.
      let limit: UInt64 = 5 << 18
      var shrunk = grown
      for _ in 0..<600_000 where shrunk > limit {
        usleep(1_000)
        shrunk = try store.spaceLedger().logBytes
      }
      #expect(grown > limit && shrunk <= limit, "\(grown) then \(shrunk)")
      try store.write { transaction in try transaction.tree("t").put(key(1), []) }
      #expect(try store.verify() == [])
    }
  }
}
