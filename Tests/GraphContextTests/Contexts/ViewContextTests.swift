import Cambium
import Dispatch
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

@MainActor struct ViewContextTests {
  @Test func theViewContextFollowsBackgroundSaves() async throws {
    let library = try await Library.open()
    let id = try await library.performBackgroundTask { context in
      let writer = Writer("A", rank: 1)
      context.insert(writer)
      try context.save()
      return writer.objectID
    }
    let writer = try library.viewContext.existingObject(Writer.self, with: id)
    #expect(writer.rank == 1)
    for rank in 2...50 {
      try await library.performBackgroundTask { context in
        try context.existingObject(Writer.self, with: id).rank = rank
        try context.save()
      }
      #expect(writer.rank == rank)
    }
    try await library.performBackgroundTask { context in
      context.delete(try context.existingObject(Writer.self, with: id))
      try context.save()
    }
    #expect(writer.isDeleted)
  }

  @Test func aSaveThatMayNotBlockLetsTheMainActorGoOn() async throws {
    let library = try await Library.open()
    let context = library.viewContext
    context.saveTimeout = .milliseconds(20)
    let store = library.store
    try library.leaseNumbers()
    let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let other = Task.detached {
      try await store.write { _ in
        hasBegun.signal()
        mayEnd.wait()
      }
    }
    await Task.detached { _ = hasBegun.wait(timeout: .distantFuture) }.value
    let writer = Writer("A", rank: 1)
    context.insert(writer)
    let refusal = #expect(throws: ContextError.self) { try context.save() }
    #expect(refusal?.storeError?.code == .timedOut)
    #expect(context.hasChanges)
    context.saveTimeout = nil
    // While the save waits, the main actor is free: only this task on it lets the other transaction continue.
    let release = Task { @MainActor in _ = mayEnd.signal() }
    try await context.saveWithoutBlocking()
    await release.value
    try await other.value
    #expect(!context.hasChanges)
    let id = writer.objectID
    let rank = try await library.performBackgroundTask {
      try $0.existingObject(Writer.self, with: id).rank
    }
    #expect(rank == 1)
  }

  @Test func aSaveThatMayNotBlockOutlivesItsContainer() async throws {
    var library: PersistentContainer? = try await PersistentContainer(
      "Library",
      models: Library.models,
      at: .inMemory
    )
    let context = try #require(library?.viewContext)
    let coordinator = try #require(library?.coordinator)
    let store = try #require(coordinator.engine as? PageStoreEngine).store
    try library?.leaseNumbers()
    let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let other = Task.detached {
      try await store.write { _ in
        hasBegun.signal()
        mayEnd.wait()
      }
    }
    await Task.detached { _ = hasBegun.wait(timeout: .distantFuture) }.value
    context.saveTimeout = nil
    context.insert(Writer("A", rank: 1))
    let release = Task { @MainActor in
      library = nil
      mayEnd.signal()
    }
    try await context.saveWithoutBlocking()
    await release.value
    try await other.value
    let view = try #require(try coordinator.engine.newestSource() as? StoreView)
    #expect(try view.records(of: #require(coordinator.models.entity(of: Writer.self)))?.count == 1)
  }

  @Test func changesMadeWhileASaveIsWaitedForAreNotLost() async throws {
    let library = try await PersistentContainer("Library", models: Library.models, at: .inMemory)
    let context = library.viewContext
    // The other writer ends only when the main actor runs its job, and other tests delay this.
    context.saveTimeout = nil
    let store = library.store
    try library.leaseNumbers()
    let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let other = Task.detached {
      try await store.write { _ in
        hasBegun.signal()
        mayEnd.wait()
      }
    }
    await Task.detached { _ = hasBegun.wait(timeout: .distantFuture) }.value
    let first = Writer("A", rank: 1)
    context.insert(first)
    let saves = (0..<5).map { number in
      Task { @MainActor in
        context.insert(Writer("B\(number)", rank: number))
        first.rank += 1
        try await context.saveWithoutBlocking()
        first.rank += 1
      }
    }
    saves[2].cancel()
    let release = Task { @MainActor in _ = mayEnd.signal() }
    for save in saves { try await save.value }
    await release.value
    try await other.value
    #expect(first.rank == 11)
    try await context.saveWithoutBlocking()
    #expect(!context.hasChanges)
    let id = first.objectID
    let found = try await library.performBackgroundTask { context in
      (
        try context.existingObject(Writer.self, with: id).rank,
        try context.view.records(of: context.entity(of: Writer.self))?.count
      )
    }
    #expect(found.0 == 11)
    #expect(found.1 == 6)
  }

  @Test func aSaveWithNothingToSaveNeedsNoStoreThatCanBeWritten() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    try await Library.open(at: path).close()
    var options = StoreOptions()
    options.isReadOnly = true
    let location = StoreLocation.file(URL(fileURLWithPath: path))
    let library = try await PersistentContainer(
      "Library",
      models: Library.models,
      at: location,
      options: options
    )
    try library.viewContext.save()
    try await library.viewContext.saveWithoutBlocking()
    try await library.close()
  }

  @Test func theViewContextStaysPutWhenItIsToldTo() async throws {
    let library = try await Library.open()
    let context = library.viewContext
    context.automaticallyMergesChangesFromParent = false
    try library.leaseNumbers()
    try context.refresh()
    let before = context.view.commit
    try await library.performBackgroundTask { context in
      context.insert(Writer("A"))
      try context.save()
    }
    #expect(context.view.commit == before)
    try context.refresh()
    #expect(context.view.commit == before + 1)
  }

  @Test func unsavedChangesSurviveAMergeAndConflictWhenSaved() async throws {
    let library = try await Library.open()
    let context = library.viewContext
    let (mine, theirs) = (Writer("A", rank: 1), Writer("B", rank: 1))
    context.insert(mine)
    context.insert(theirs)
    try context.save()
    let (first, second) = (mine.objectID, theirs.objectID)
    mine.rank = 10
    try await library.performBackgroundTask { context in
      let same = try context.existingObject(Writer.self, with: first)
      (same.name, same.rank) = ("changed", 9)
      try context.existingObject(Writer.self, with: second).name = "changed too"
      try context.save()
    }
    #expect(mine.rank == 10)
    #expect(mine.name == "changed")
    #expect(theirs.name == "changed too")
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict)
    #expect(error?.context.objectID == first)
    #expect(mine.rank == 10)
    context.rollback()
    #expect(mine.rank == 9)
    mine.rank = 11
    try context.save()
    #expect(mine.rank == 11)
  }

  @Test func theViewContextSavesOnTheMainActor() async throws {
    let library = try await Library.open()
    let context = library.viewContext
    context.insert(Writer("A", email: "a"))
    try context.save()
    let count = try await library.performBackgroundTask { context in
      try context.view.records(of: context.entity(of: Writer.self))?.count
    }
    #expect(count == 1)
  }

  @Test func aBackgroundContextKeepsWhatItHasNotSaved() async throws {
    let library = try await Library.open()
    let background = try library.newBackgroundContext(name: "import")
    let id = try await background.perform { context in
      let writer = Writer("A", rank: 1)
      context.insert(writer)
      return writer.objectID
    }
    #expect(try await background.perform { $0.hasChanges })
    try await background.perform { try $0.save() }
    #expect(try library.viewContext.existingObject(Writer.self, with: id).rank == 1)
    try await library.performBackgroundTask { context in
      try context.existingObject(Writer.self, with: id).rank = 5
      try context.save()
    }
    let rank = try await background.perform { try $0.existingObject(Writer.self, with: id).rank }
    #expect(rank == 5)
  }

  /// The view context merges the changes that another context saves. Its own changes are not saved with them.
  @MainActor @Test func aSaveInTheBackgroundSavesNoEditOfTheViewContext() async throws {
    let library = try await Library.open()
    let view = library.viewContext
    let edited = Writer("A", rank: 1)
    view.insert(edited)
    try view.save()
    edited.rank = 7
    view.insert(Writer("unfinished"))
    try await library.performBackgroundTask { context in
      context.insert(Writer("B"))
      try context.save()
    }
    try view.refresh()
    #expect(view.hasChanges && edited.rank == 7)
    #expect(try view.count(From<Writer>()) == 3)
    let other = try library.context()
    let stored = try other.fetch(From<Writer>()).map { "\($0.name) \($0.rank)" }
    #expect(stored.sorted() == ["A 1", "B 0"])
  }

  @Test func whatIsNotSavedInATaskIsDropped() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context in context.insert(Writer("A")) }
    let count = try await library.performBackgroundTask { context in
      try context.view.records(of: context.entity(of: Writer.self))?.count ?? 0
    }
    #expect(count == 0)
  }
}
