import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct DroppedTreeTests {
  @Test func aTreeThatChangesBeforeAndAfterAnotherIsDroppedIsReplayed() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.write { transaction in
      for name in ["a", "b"] { try transaction.tree(name).put(bytes("old"), bytes("1")) }
    }
    try store.write { transaction in
      let tree = try transaction.tree("b")
      try tree.put(bytes("before"), bytes("2"))
      try transaction.dropTree("a")
      try tree.put(bytes("after"), bytes("3"))
    }
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(reopened.lastCommit == 2)
    let tree = try reopened.snapshot().tree("b")
    #expect(try tree.value(for: bytes("before")) == bytes("2"))
    #expect(try tree.value(for: bytes("after")) == bytes("3"))
    #expect(try reopened.verify() == [])
  }

  @Test func aDroppedTreesHandleIsOfNoUse() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    try store.write { transaction in
      let tree = try transaction.tree("t")
      try transaction.dropTree("t")
      #expect(code { try tree.put(bytes("a"), bytes("2")) } == .transactionEnded)
      #expect(code { _ = try tree.count } == .transactionEnded)
      try transaction.tree("t").put(bytes("b"), bytes("3"))
    }
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.value("a") == nil)
    #expect(try reopened.value("b") == "3")
    #expect(try reopened.verify() == [])
  }

  @Test func namesThatOnlyLookAlikeAreNamesOfDifferentTrees() throws {
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.write { try $0.tree(composed).put(bytes("a"), bytes("1")) }
    try store.checkpoint()
    try store.write { transaction in
      #expect(try transaction.treeIfPresent(decomposed) == nil)
      try transaction.dropTree(composed)
      try transaction.tree(decomposed).put(bytes("b"), bytes("2"))
    }
    try store.checkpoint()
    let snapshot = try fixture.reopened(powerFailed: true).snapshot()
    #expect(try snapshot.treeNames.map { Array($0.utf8) } == [Array(decomposed.utf8)])
    #expect(try snapshot.tree(decomposed).value(for: bytes("b")) == bytes("2"))
    #expect(try snapshot.treeIfPresent(composed) == nil)
  }

  @Test func aDroppedTreesPlaceIsTakenByTheNext() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    for round in 0..<40 {
      try store.write { transaction in
        if round > 0 { try transaction.dropTree("tree \(round - 1)") }
        try transaction.tree("tree \(round)").put(bytes("round"), bytes("\(round)"))
      }
      if round % 3 == 0 { try store.checkpoint() }
      if round == 20 { try store.write { try $0.dropTree("t") } }
    }
    #expect(store.versions.latest.roots.count <= 3)
    for reopened in [store, try fixture.reopened(powerFailed: true)] {
      let snapshot = try reopened.snapshot()
      #expect(try snapshot.treeNames == ["tree 39"])
      #expect(try snapshot.tree("tree 39").value(for: bytes("round")) == bytes("39"))
      #expect(try reopened.verify() == [])
    }
  }

  /// Returns the processor time of this thread.
  private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  @Test func treesByTheThousandAreMadeInOneTransaction() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    let started = processorTime()
    try store.write { transaction in
      for index in 0..<20_000 { _ = try transaction.tree("tree \(index)") }
    }
    #expect(processorTime() - started < .seconds(20))
    #expect(try fixture.reopened(powerFailed: true).snapshot().treeNames.count == 20_000)
  }
}
