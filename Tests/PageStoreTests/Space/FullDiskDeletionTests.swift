@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Transactions on a full disk that remove entries and put others, as the deletion of an object does that is
/// recorded in a history, and compaction there.
struct FullDiskDeletionTests {
  private static let objectCount = 4_000

  private func key(_ number: Int) -> [UInt8] {
    let digits = "\(number)"
    return bytes(String(repeating: "0", count: 6 - digits.count) + digits)
  }

  /// A store with the trees `object`, `index` and `owner`, on a disk without more room for entries.
  private func fullStore(_ fixture: StoreFixture) throws -> Store {
    let store = try fixture.open()
    try store.write { transaction in
      for number in 0..<Self.objectCount {
        try transaction.tree("object").put(key(number), [UInt8](repeating: 1, count: 400))
        try transaction.tree("index").put(key(number * 7_919 % Self.objectCount), key(number))
        try transaction.tree("owner").put(key(number), bytes("owned \(number)"))
      }
      try transaction.tree("history").put(key(0), bytes("the objects were made"))
    }
    try store.put("zzz", "1")
    fill(fixture, store)
    return store
  }

  /// Adds entries until several in turn are refused: the room that one has freed may be enough for the next.
  private func fill(_ fixture: StoreFixture, _ store: Store) {
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    var refusals = 0
    for number in 0..<2_000 where refusals < 4 {
      let isRefused =
        code { try store.put("filler \(number)", String(repeating: "f", count: 500)) } == .diskFull
      refusals = isRefused ? refusals + 1 : 0
    }
    #expect(refusals == 4)
  }

  /// Deletes an object, nullifies a reference to it, and records both, in a record of `byteCount` bytes.
  private func delete(_ number: Int, recording byteCount: Int, in store: Store) throws {
    _ = try store.write { transaction in
      transaction.markAsDeletion()
      try transaction.tree("object").remove(key(number))
      try transaction.tree("index").remove(key(number * 7_919 % Self.objectCount))
      try transaction.tree("owner").put(key(number), bytes("no object \(number)"))
      try transaction.tree("history").put(key(number + 1), [UInt8](repeating: 2, count: byteCount))
    }
  }

  @Test func recordedDeletionsSucceedOneByOne() throws {
    let fixture = StoreFixture()
    let store = try fullStore(fixture)
    for number in 0..<1_000 {
      let failure = code { try delete(number, recording: 60, in: store) }
      try #require(failure == nil, "deletion \(number)")
    }
    #expect(try store.snapshot().tree("object").count == Self.objectCount - 1_000)
    #expect(try store.verify() == [])
  }

  /// What such transactions may use is not all: those that only remove succeed afterwards.
  @Test func deletionsWithLongRecordsLeaveRoomForRemovals() throws {
    let store = try fullStore(StoreFixture())
    var count = 0
    while count < 1_000, code({ try delete(count, recording: 4_000, in: store) }) == nil { count += 1 }
    #expect((4..<1_000).contains(count))
    for number in count..<count + 300 {
      let failure = code { _ = try store.write { try $0.tree("object").remove(key(number)) } }
      try #require(failure == nil, "removal \(number)")
    }
    #expect(try store.verify() == [])
  }

  /// Updates would use up what is kept for deletions, so they may not have it, even if they move entries of indexes.
  @Test(arguments: [false, true]) func updatesAreRefused(isIndexed: Bool) throws {
    let store = try fullStore(StoreFixture())
    var codes: [StoreError.Code?] = []
    for number in 0..<200 {
      codes.append(
        code {
          _ = try store.write { transaction in
            try transaction.tree("owner").put(key(number), [UInt8](repeating: 3, count: 600))
            guard isIndexed else { return }
            try transaction.tree("index").remove(key((number + 100) * 7_919 % Self.objectCount))
            try transaction.tree("index").put(key(Self.objectCount + number), key(number + 100))
          }
        }
      )
    }
    #expect(codes.last == .diskFull)
    for number in 0..<100 { try delete(number, recording: 60, in: store) }
  }

  /// The reserve follows the number of trees and their heights.
  @Test func anEntryOfEachOfManyTreesIsRemoved() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    let names = (0..<40).map { "tree \($0)" }
    try store.write { transaction in
      for name in names {
        for number in 0..<200 {
          try transaction.tree(name).put(key(number), [UInt8](repeating: 1, count: 100))
        }
      }
    }
    try store.put("zzz", "1")
    fill(fixture, store)
    for number in 0..<50 {
      let failure = code {
        _ = try store.write { transaction in
          for name in names { try transaction.tree(name).remove(key(number)) }
        }
      }
      try #require(failure == nil, "removal \(number)")
    }
    #expect(try store.verify() == [])
  }

  /// Removes entries so that no leaf is less than half full.
  private func thinOut(_ store: Store, keeping keptCount: Int) throws {
    for first in stride(from: 0, to: Self.objectCount, by: 40) {
      try store.write { transaction in
        for number in first..<first + 40 where number % 20 >= keptCount {
          try transaction.tree("object").remove(key(number))
        }
      }
    }
  }

  /// Leaves are packed a few at a time: the room that these free is needed for the next ones.
  @Test(arguments: [4_096, 8_192, 16_384], [11, 15])
  func leavesArePacked(pageSize: Int, keptCount: Int) throws {
    let fixture = StoreFixture(pageSize: pageSize)
    let store = try fullStore(fixture)
    try thinOut(store, keeping: keptCount)
    let (before, checkpointCount) = (fixture.disk.content.byteCount, try store.statistics.checkpoints)
    #expect(code { try store.compact() } == nil)
    #expect(try store.statistics.checkpoints > checkpointCount + 3)
    #expect(fixture.disk.content.byteCount < before / 20 * UInt64(keptCount + 5))
    #expect(try store.snapshot().tree("object").count == Self.objectCount / 20 * keptCount)
    #expect(try store.verify() == [])
  }

  /// A snapshot holds the pages that are replaced, so the compaction may find no room. It leaves some for removals.
  @Test func compactionBesideASnapshotLeavesRoomForRemovals() throws {
    let store = try fullStore(StoreFixture(pageSize: 8_192))
    try thinOut(store, keeping: 11)
    let early = try store.snapshot()
    _ = code { try store.compact() }
    let failure = code { _ = try store.write { try $0.tree("object").remove(key(0)) } }
    #expect(failure == nil)
    #expect(try early.tree("object").count == Self.objectCount / 20 * 11)
    #expect(try store.verify() == [])
  }
}
