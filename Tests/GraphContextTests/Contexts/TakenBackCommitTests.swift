import Cambium
import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// A store whose sync fails takes relaxed commits back. A context that moves on shows the state that is left.
struct TakenBackCommitTests {
  private let disk = SimulatedDisk()
  private let library: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    let store = try Store.open(
      file: disk,
      path: "library",
      options: StoreOptions(),
      environment: .simulated(seed: 7)
    )
    library = try PersistentContainer("Library", models: Library.models, on: store)
    context = try library.context()
  }

  private func failSync() {
    for call in [DiskCall.writeDurably, .synchronize] {
      disk.inject(DiskFault(call, at: 0, .error(EIO), isSticky: true))
    }
    do {
      try library.store.makeDurable()
      Issue.record("the sync didn't fail")
    } catch {
      #expect(error.code == .outcomeUnknown)
    }
  }

  @Test func objectsOfTheseCommitsLeaveTheContextAndItsEventSaysSo() throws {
    let (kept, deleted) = (Writer("kept"), Writer("deleted"))
    context.insert(kept)
    context.insert(deleted)
    try context.save(durability: .full)
    let lost = Writer("lost")
    context.insert(lost)
    try context.save(durability: .relaxed)
    let (lostID, deletedID) = (lost.objectID, deleted.objectID)
    (kept.name, lost.rank) = ("changed", 1)
    context.delete(deleted)
    try context.save(durability: .relaxed)
    failSync()

    var events: [ObjectChanges] = []
    let subscription = context.onObjectsDidChange { events.append($0) }
    try context.refresh()
    withExtendedLifetime(subscription) {}
    #expect(lost.isDeleted)
    #expect(context.registeredObjects.allSatisfy { $0.objectID != lostID })
    #expect(kept.name == "kept")
    let names = try context.fetch(From<Writer>().orderBy(\.name).select(\.name))
    #expect(names == ["deleted", "kept"])
    #expect(events.count == 1)
    #expect(events.first?.deleted == [lostID])
    #expect(events.first?.inserted == [deletedID])
    #expect(events.first?.updated == [kept.objectID])
  }

  @Test(.timeLimit(.minutes(60))) func whatFollowsTheStoreMovesBackByItself() async throws {
    context.insert(Writer("kept"))
    try context.save(durability: .full)
    let updates = library.follow(From<Writer>().orderBy(\.name)) { $0.name }
    var iterator = updates.makeAsyncIterator()
    var names: [String] = []
    context.insert(Writer("lost"))
    try context.save(durability: .relaxed)
    try await iterator.next()?.apply(to: &names)
    #expect(names == ["kept", "lost"])
    failSync()
    try await iterator.next()?.apply(to: &names)
    #expect(names == ["kept"])
  }

  @Test func anUnsavedChangeKeepsItsObjectWithAllValues() throws {
    context.insert(Writer("before"))
    try context.save(durability: .full)
    let other = try library.context()
    other.insert(Writer("lost", rank: 3))
    try other.save(durability: .relaxed)
    try context.refresh()
    let lost = try #require(try context.fetchOne(From<Writer>().where { $0.name == "lost" }))
    lost.name = "changed"
    failSync()
    try context.refresh()
    #expect(!lost.isDeleted && lost.name == "changed" && lost.rank == 3)
  }
}
