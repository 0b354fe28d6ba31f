import Dispatch
import Glibc
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

struct TransactionTests {
  private struct Refusal: Error {}

  @Test func aTransactionThatThrowsLeavesNoTrace() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    let before = fixture.disk.content.bytes
    #expect(throws: Refusal.self) {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        try tree.put(bytes("a"), bytes("2"))
        try transaction.tree("other").put(bytes("b"), bytes("3"))
        throw Refusal()
      }
    }
    #expect(fixture.disk.content.bytes == before)
    #expect(store.lastCommit == 1)
    #expect(try store.value("a") == "1")
    #expect(try store.snapshot().treeNames == ["t"])
    #expect(try store.verify() == [])
  }

  @Test func aTransactionWithoutChangesIsNoCommit() throws {
    let store = try StoreFixture().open()
    try store.put("a", "1")
    let count = try store.write { try $0.tree("t").count }
    #expect(count == 1)
    #expect(store.lastCommit == 1)
  }

  @Test func aHandleIsOfNoUseAfterItsTransaction() throws {
    let store = try StoreFixture().open()
    let tree = try store.write { transaction in
      let tree = try transaction.tree("t")
      try tree.put(bytes("a"), bytes("1"))
      return tree
    }
    #expect(code { try tree.put(bytes("a"), bytes("2")) } == .transactionEnded)
    #expect(code { _ = try tree.value(for: bytes("a")) } == .transactionEnded)
  }

  @Test func aTransactionInsideAnotherIsRefused() throws {
    let store = try StoreFixture().open()
    try store.write { transaction in
      try transaction.tree("t").put(bytes("a"), bytes("1"))
      #expect(code { try store.put("b", "2") } == .nestedWrite)
    }
    #expect(try store.value("a") == "1")
    #expect(try store.value("b") == nil)
  }

  @Test func snapshotsStayAsTheyWere() throws {
    let store = try StoreFixture().open()
    var snapshots: [Snapshot] = [try store.snapshot()]
    for index in 1...60 {
      try store.put("k", "\(index)")
      snapshots.append(try store.snapshot())
      if index % 7 == 0 { try store.checkpoint() }
    }
    #expect(try store.statistics.snapshots == 61)
    for (index, snapshot) in snapshots.enumerated() {
      #expect(snapshot.commit == UInt64(index))
      let value = try snapshot.treeIfPresent("t")?.value(for: bytes("k"))
      #expect(value == (index == 0 ? nil : bytes("\(index)")))
    }
  }

  @Test func memoryIsGivenBackWhenSnapshotsGo() throws {
    let store = try StoreFixture().open()
    for index in 0..<200 { try store.put("k\(index)", "v") }
    for index in 0..<200 { try store.put("k\(index)", "w") }
    let before = try store.statistics.residentBytes
    for _ in 0..<20 {
      for index in 0..<200 { try store.put("k\(index)", "x") }
    }
    #expect(try store.statistics.residentBytes <= before + 64 << 10)
  }

  @Test func treesAreMadeAndDropped() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for round in 0..<6 {
      try store.write { transaction in
        for name in ["a", "b", "c"] { try transaction.tree(name).put(bytes("round"), bytes("\(round)")) }
      }
      if round % 2 == 0 { try store.checkpoint() }
      try store.write { transaction in
        try transaction.dropTree("b")
        #expect(try transaction.treeIfPresent("b") == nil)
        if round % 3 == 0 { try transaction.tree("b").put(bytes("again"), bytes("\(round)")) }
      }
    }
    for reopened in [store, try fixture.reopened(powerFailed: true)] {
      let snapshot = try reopened.snapshot()
      #expect(try snapshot.treeNames == ["a", "c"])
      #expect(try snapshot.tree("a").value(for: bytes("round")) == bytes("5"))
      #expect(code { _ = try snapshot.tree("b") } == .noSuchTree)
      #expect(try reopened.verify() == [])
    }
    #expect(code { try store.write { try $0.dropTree("none") } } == .noSuchTree)
  }

  @Test func aTreesNameHas1To1024Bytes() throws {
    let store = try StoreFixture().open()
    let longest = String(repeating: "ä", count: 512)
    for name in ["", longest + "a"] {
      #expect(code { try store.write { _ = try $0.tree(name) } } == .invalidTreeName)
    }
    try store.write { _ = try $0.tree(longest) }
    #expect(try store.snapshot().treeNames == [longest])
  }

  @Test func timestampsNeverGoBack() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    fixture.clock.milliseconds.store(500, ordering: .relaxed)
    try store.put("a", "2")
    #expect(try store.snapshot().timestamp == 1_000)
    fixture.clock.milliseconds.store(2_000, ordering: .relaxed)
    try store.put("a", "3")
    #expect(try store.snapshot().timestamp == 2_000)
    #expect(try fixture.reopened().snapshot().timestamp == 2_000)
  }

  @Test func threadsThatCommitAtOnceShareSyncs() throws {
    let folder = try TemporaryFolder()
    let store = try Store.open(at: folder.file("store"))
    try store.put("a", "1")
    let before = try store.statistics.syncs
    let failures = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for index in 0..<50 {
        let failed = code {
          try store.put("\(thread) \(index)", "v", durability: index % 3 == 0 ? .relaxed : .full)
        }
        if failed != nil { failures.wrappingAdd(1, ordering: .relaxed) }
      }
    }
    #expect(failures.load(ordering: .relaxed) == 0)
    #expect(store.lastCommit == 401)
    #expect(try store.statistics.syncs - before < 400)
    for thread in 0..<8 {
      for index in 0..<50 { #expect(try store.value("\(thread) \(index)") == "v") }
    }
    #expect(try store.verify() == [])
    try store.close()
  }

  @Test func readersSeeWholeCommitsWhileOthersWrite() throws {
    let store = try Store.inMemory()
    try store.write { transaction in
      for index in 0..<50 { try transaction.tree("t").put([UInt8(index)], [0]) }
    }
    let isDone = Atomic(false)
    let problems = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      if thread == 0 {
        for round in 1...200 {
          let failed = code {
            try store.write { transaction in
              let tree = try transaction.tree("t")
              for index in 0..<50 { try tree.put([UInt8(index)], [UInt8(round)]) }
            }
            if round % 40 == 0 { try store.checkpoint() }
          }
          if failed != nil { problems.wrappingAdd(1, ordering: .relaxed) }
        }
        isDone.store(true, ordering: .releasing)
      }
      while !isDone.load(ordering: .acquiring) {
        let failed = code {
          try store.read { snapshot in
            let tree = try snapshot.tree("t")
            let first = try tree.value(for: [0])
            for index in 0..<50 where try tree.value(for: [UInt8(index)]) != first {
              problems.wrappingAdd(1, ordering: .relaxed)
            }
          }
        }
        if failed != nil { problems.wrappingAdd(1, ordering: .relaxed) }
      }
    }
    #expect(problems.load(ordering: .relaxed) == 0)
    #expect(try store.verify() == [])
  }
}
