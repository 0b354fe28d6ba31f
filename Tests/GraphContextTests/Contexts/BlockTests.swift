import Cambium
import Dispatch
import Foundation
import GraphTestSupport
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// The ways to run a block with a context.
struct BlockTests {
  private let library: PersistentContainer

  init() async throws { library = try await Library.open() }

  private func names() async throws -> [String] {
    try await library.query { try $0.fetch(From<Writer>().orderBy(\.name)).map(\.name) }
  }

  // MARK: Writers

  @Test func writersRunOneAfterTheOtherAndSave() async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<100 {
        group.addTask { [library] in
          try await library.write { context in
            let writer = try context.fetchOne(From<Writer>()) ?? Writer("counter")
            context.insert(writer)
            writer.rank += 1
          }
        }
      }
      try await group.waitForAll()
    }
    let counts = try await library.query { try $0.fetch(From<Writer>()).map(\.rank) }
    #expect(counts == [100])
  }

  @Test func aWriterCanSaveNothing() async throws {
    struct Refusal: Error {}
    let shown = try await library.write { context, shouldSave in
      context.insert(Writer("dropped"))
      shouldSave = false
      return try context.count(From<Writer>())
    }
    #expect(shown == 1)
    await #expect(throws: Refusal.self) {
      try await library.write { context in
        context.insert(Writer("thrown"))
        throw Refusal()
      }
    }
    let id = try await library.write { context in
      let writer = Writer("kept")
      context.insert(writer)
      return writer.objectID
    }
    let known = try await library.query { try $0.existingObject(Writer.self, with: id).name }
    #expect(known == "kept")
    #expect(try await names() == ["kept"])
  }

  @Test func aHundredWritesInAProgramWithoutARunLoop() async throws {
    let failure: (any Error)? = await withCheckedContinuation { continuation in
      // This thread waits without a run loop, like the main thread of a command-line tool.
      Thread.detachNewThread { [library] in
        let isDone = DispatchSemaphore(value: 0)
        let failure = FirstFailure()
        Task.detached {
          do {
            for number in 0..<100 { try await library.write { $0.insert(Writer("\(number)")) } }
          } catch { failure.note(error) }
          isDone.signal()
        }
        isDone.wait()
        continuation.resume(returning: failure.error)
      }
    }
    #expect(failure == nil)
    #expect(try await names().count == 100)
  }

  // MARK: Queries

  /// Each of the two queries continues only once the other one has begun.
  @Test func queriesRunSideBySide() async throws {
    let begun = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    let met = try await withThrowingTaskGroup { group in
      for place in 0..<2 {
        group.addTask { [library] in
          try await library.query { context in
            begun[place].signal()
            let isMet = begun[1 - place].wait(timeout: .now() + 60) == .success
            return try context.count(From<Writer>()) == 0 && isMet
          }
        }
      }
      var met: [Bool] = []
      for try await isMet in group { met.append(isMet) }
      return met
    }
    #expect(met == [true, true])
  }

  @Test func aQueryThatChangesSomethingThrows() async throws {
    try await library.write { context in
      let writer = Writer("A")
      writer.fans = [Reader("r")]
      context.insert(writer)
    }
    let changes: [@Sendable (ManagedObjectContext) throws -> Void] = [
      { $0.insert(Writer("B")) },
      { try $0.fetchOne(From<Writer>())?.rank = 1 },
      { try $0.fetchOne(From<Writer>())?.fans = [] },
      { try $0.fetchOne(From<Writer>())?.books.append(Book("b", publisher: Publisher("p"))) },
      { context in try context.fetch(From<Reader>()).forEach { context.delete($0) } },
      { try $0.save() },
      { context in
        let child = context.makeChild()
        child.insert(Writer("C"))
        try child.save()
      },
      { try $0.makeChild().save() },
      { context in
        let child = context.makeChild()
        try child.fetchOne(From<Writer>())?.rank = 2
      },
      { context in
        try context.fetchOne(From<Writer>())?.rank = 3
        context.rollback()
      },
      { context in
        context.isReadOnly = false
        context.insert(Writer("D"))
        try context.save()
      },
      { context in
        let child = context.makeChild()
        child.isReadOnly = false
        child.insert(Writer("E"))
        try child.save()
      },
    ]
    for (number, change) in changes.enumerated() {
      let error = await #expect(throws: ContextError.self) { try await library.query(change) }
      #expect(error?.code == .readOnlyContext, "\(number)")
    }
    #expect(try await names() == ["A"])
    let fans = try await library.query { try $0.fetchOne(From<Writer>())?.fans.count }
    #expect(fans == 1)
  }

  @Test func queriesRunWhileAWriterDoes() async throws {
    let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    async let write: Void = library.write { context in
      context.insert(Writer("late"))
      hasBegun.signal()
      mayEnd.wait()
    }
    let shown = try await library.query { context in
      hasBegun.wait()
      return try context.count(From<Writer>())
    }
    #expect(shown == 0)
    mayEnd.signal()
    try await write
    #expect(try await names() == ["late"])
  }

  @Test func aContextThatOnlyReadsFromNowOnRefusesTheNextChange() throws {
    let context = try library.context()
    defer { context.end() }
    let writer = Writer("A", rank: 1)
    context.insert(writer)
    try context.save()
    writer.rank = 2
    context.isReadOnly = true
    #expect(!context.hasRefusedChange)
    writer.rank = 3
    #expect(context.hasRefusedChange)
    let error = #expect(throws: ContextError.self) { try context.fetch(From<Writer>()) }
    #expect(error?.code == .readOnlyContext)
  }

  @Test func aContextThatOnlyReadsMayReadAnew() throws {
    let context = try library.context()
    defer { context.end() }
    let writer = Writer("A", rank: 1)
    context.insert(writer)
    try context.save()
    writer.rank = 2
    context.isReadOnly = true
    context.refreshAllObjects()
    context.refresh(writer)
    let reader = try library.context()
    defer { reader.end() }
    reader.isReadOnly = true
    reader.refresh(try reader.existingObject(Writer.self, with: writer.objectID), mergeChanges: false)
    #expect(!reader.hasRefusedChange)
    #expect(try context.fetch(From<Writer>()).map(\.rank) == [2])
    context.refresh(writer, mergeChanges: false)
    #expect(writer.rank == 2 && context.hasRefusedChange)
  }

  @Test func listenersHearOfTheLastChangesOfABlock() async throws {
    let inserted = Mutex(0)
    let subscription = try await library.performBackgroundTask { context in
      let subscription = context.onObjectsDidChange { changes in
        inserted.withLock { $0 += changes.inserted.count }
      }
      context.insert(Writer("A"))
      return subscription
    }
    #expect(inserted.withLock { $0 } == 1)
    withExtendedLifetime(subscription) {}
  }

  /// After the commit a listener hears of a change that another one has made, changes more itself, and reads an object
  /// that doesn't exist.
  @Test func whatFailsInAListenerAfterTheCommitFailsNoBlock() async throws {
    let missing = try await library.write { context in
      let writer = Writer("missing")
      context.insert(writer)
      return writer.objectID
    }
    try await library.write { context in
      context.delete(try context.existingObject(Writer.self, with: missing))
    }
    var subscriptions: [ContextSubscription] = []
    var readCount = 0
    try library.writeAndWait { context in
      let writer = Writer("kept")
      context.insert(writer)
      subscriptions = [
        context.onDidSave { _ in writer.rank = 1 },
        context.onObjectsDidChange { [unowned context] _ in
          guard writer.rank > 0, let object = try? context.object(Writer.self, with: missing) else { return }
          _ = object.name
          readCount += 1
          writer.rank += 1
        },
      ]
    }
    withExtendedLifetime(subscriptions) {}
    #expect(readCount > 0)
    #expect(try await names() == ["kept"])
  }

  // MARK: The view context

  @Test @MainActor func theViewContextShowsWhatWasSavedBeforeItIsWaitedFor() async throws {
    let view = library.viewContext
    for number in 1...20 {
      try await library.write { $0.insert(Writer("\(number)")) }
      try library.waitForViewContext()
      #expect(try view.count(From<Writer>()) == number)
    }
    view.automaticallyMergesChangesFromParent = false
    try await library.write { $0.insert(Writer("unseen")) }
    try library.waitForViewContext()
    #expect(try view.count(From<Writer>()) == 20)
  }

  // MARK: Background contexts

  @Test func aThreadCanWaitForABlockAndABlockForItself() throws {
    let context = try library.newBackgroundContext(name: "import")
    let other = try library.newBackgroundContext()
    let shown = try context.performAndWait { outer in
      outer.insert(Writer("A"))
      try other.performAndWait { inner in
        inner.insert(Writer("B"))
        try inner.save()
      }
      return try other.performAndWait { _ in
        // A part of the outermost block: the same context, which hasn't moved on, and its unsaved changes.
        try context.performAndWait { same in
          try same.fetch(From<Writer>()).map(\.name) + [same.name ?? ""]
        }
      }
    }
    #expect(shown == ["A", "import"])
    struct Refusal: Error {}
    #expect(throws: Refusal.self) { try context.performAndWait { _ in throw Refusal() } }
    #expect(try context.performAndWait { try $0.count(From<Writer>()) } == 2)
  }

  @Test func aBlockThatWasAwaitedCanWaitForItself() async throws {
    let context = try library.newBackgroundContext()
    let count = try await context.perform { outer in
      outer.insert(Writer("A"))
      return try context.performAndWait { try $0.count(From<Writer>()) }
    }
    #expect(count == 1)
  }

  @Test func blocksRunOnTheQueueThatIsGiven() async throws {
    let queue = DispatchQueue(label: "mine", attributes: .concurrent)
    let key = DispatchSpecificKey<String>()
    queue.setSpecific(key: key, value: "mine")
    let context = try library.newBackgroundContext(queue: queue)
    let running = RunningBlocks()
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask {
          let block: @Sendable (ManagedObjectContext) throws -> Void = { context in
            #expect(DispatchQueue.getSpecific(key: key) == "mine")
            #expect(running.begin() == 1)
            context.insert(Writer("\(number)"))
            try context.save()
            running.end()
          }
          if number.isMultiple(of: 2) {
            try await context.perform(block)
          } else {
            try context.performAndWait(block)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await names().count == 20)
  }
}

/// How many blocks run at once.
private final class RunningBlocks: Sendable {
  private let count = Mutex(0)

  func begin() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }

  func end() { count.withLock { $0 -= 1 } }
}

private final class FirstFailure: Sendable {
  private let known = Mutex<(any Error)?>(nil)
  var error: (any Error)? { known.withLock { $0 } }

  func note(_ error: any Error) { known.withLock { $0 = $0 ?? error } }
}
