import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Changes that are given up.
struct GivenUpStageTests {
  // MARK: Giving up

  /// The power fails while a failed stage is being given up. The next attempt has to succeed, and each copy must
  /// exist once.
  @Test func aPowerFailureWhileAStageIsGivenUp() throws {
    let simulated = SimulatedDisk()
    let store = try stagedStore(simulated)
    try Copying.fill(store)
    try store.close()
    let points = Mutex<[CrashPoint]>([])
    let failing = try stagedStore(simulated)
    let calls = Atomic(0)
    simulated.observe { _, point in points.withLock { $0.append(point) } }
    #expect(throws: (any Error).self) {
      try takeStage(
        failing,
        to: Copying.after(),
        .init(chunkByteCount: 500),
        .forEach("Item", inBatchesOf: 5) { batch in
          if calls.add(1, ordering: .relaxed).newValue == 5 { throw StopsStage() }
          try Copying.copy(batch)
        }
      )
    }
    simulated.observe(nil)
    try failing.close()
    var found: Set<String> = []
    for (place, point) in points.withLock(\.self).enumerated() {
      let damaged = try stagedStore(SimulatedDisk(point.image(.allCases[0], seed: UInt64(place))))
      do {
        try takeStage(
          damaged,
          to: Copying.after(),
          .init(chunkByteCount: 500),
          .forEach("Item", inBatchesOf: 5, Copying.copy)
        )
        found.formUnion(try Copying.problems(damaged).map { "at \(place): \($0)" })
      } catch {
        found.insert("at \(place): \(error)")
      }
      try damaged.close()
    }
    #expect(found.sorted() == [], "of \(points.withLock(\.count)) points")
  }

  @Test func noIDIsGivenAgainAfterAGivenUpStage() throws {
    let store = try Store.inMemory()
    try Copying.fill(store)
    let ids = Mutex<[ManagedObjectID]>([])
    #expect(throws: (any Error).self) {
      try takeStage(
        store,
        to: Copying.after(),
        .init(chunkByteCount: 500),
        .once { batch in
          let copy = try batch.new.insert(entity: "Copy")
          ids.withLock { $0.append(copy.objectID) }
          throw StopsStage()
        }
      )
    }
    try takeStage(store, to: Copying.after(), .init(chunkByteCount: 500), .forEach("Item", Copying.copy))
    let context = try openStaged(store, Copying.after()).context()
    defer { context.end() }
    let given = Set(try context.fetch(DynamicQuery("Copy")).map(\.objectID))
    #expect(ids.withLock { $0.filter(given.contains) } == [])
  }

  @Test func noIDOfAKnownEntityIsGivenAgainAfterACancelledHandover() throws {
    let store = try Store.inMemory()
    try Copying.fill(store)
    let old = try openStaged(store, Copying.before())
    let context = try old.context()
    for code in 0..<600 { try context.make("Item", ["code": .int(Int64(1000 + code))]) }
    try context.save()
    let ids = Mutex<[ManagedObjectID]>([])
    #expect(throws: (any Error).self) {
      _ = try old.engine.handOver(MigrationMonitor()) { () throws(ContextError) in
        do {
          try takeStage(
            store,
            to: Copying.before(),
            .init(chunkByteCount: 500),
            .once { batch in
              for _ in 0..<200 {
                let item = try batch.new.insert(entity: "Item")
                ids.withLock { $0.append(item.objectID) }
              }
              throw StopsStage()
            }
          )
        } catch { throw ContextError(any: error) }
        return OpenedStore(coordinator: old.coordinator, engine: old.engine)
      }
    }
    for _ in 0..<6_000 { try context.make("Item", ["code": .int(-1)]); try context.save() }
    let given = Set(try context.fetch(DynamicQuery("Item")).map(\.objectID))
    #expect(ids.withLock { $0.filter(given.contains).count } == 0)
    context.end()
  }

  /// Links between objects that the stage doesn't rebuild, by a stage that fails afterwards.
  @Test func aFailedStageLeavesTheLinksOfOtherEntities() throws {
    let before = try Schema(entities: [
      entity("Song", [attribute("code", .int64), link("tags", to: "Tag", .many, inverse: "songs")]),
      entity("Tag", [attribute("code", .int64), link("songs", to: "Song", .many, inverse: "tags")]),
      entity("Other", [attribute("code", .int64)]),
    ])
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, before).context()
      let song = try context.make("Song", ["code": .int(1)])
      try song.add(context.make("Tag", ["code": .int(2)]), to: "tags")
      try context.make("Other", ["code": .int(3)])
      try context.save()
      context.end()
    }
    let error = #expect(throws: ContextError.self) {
      try takeStage(
        store,
        to: before,
        rebuilding: ["Other"],
        .init(chunkByteCount: 500),
        .once { batch in
          let song = try #require(try batch.new.fetch(DynamicQuery("Song")).first)
          try song.remove(try #require(try batch.new.fetch(DynamicQuery("Tag")).first), from: "tags")
        },
        .once { _ in throw StopsStage() }
      )
    }
    #expect((error?.underlyingError as? ContextError)?.code == .saveNotAllowed)
    let context = try openStaged(store, before).context()
    #expect(try context.linked("Song", "tags", "code") == [[.int(2)]])
    context.end()
  }
}
