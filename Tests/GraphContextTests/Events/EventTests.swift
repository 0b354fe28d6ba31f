import Cambium
import Foundation
import GraphTestSupport
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

struct EventTests {
  /// The events of a context, in words.
  private final class Log {
    var lines: [String] = []
    var subscriptions: [ContextSubscription] = []

    init(_ context: ManagedObjectContext) {
      subscriptions = [
        context.onObjectsDidChange { [unowned self] in lines.append("changed" + Self.words($0)) },
        context.onWillSave { [unowned self] in lines.append("will save") },
        context.onDidSave { [unowned self] in lines.append("saved" + Self.words($0)) },
      ]
    }

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }

    private static func words(_ changes: ObjectChanges) -> String {
      let lists = [
        ("inserted", changes.inserted), ("updated", changes.updated), ("deleted", changes.deleted),
        ("refreshed", changes.refreshed),
      ]
      let words = lists.filter { !$0.1.isEmpty }.map { name, ids in
        " \(name) " + ids.map { "\($0.entityName)" }.joined(separator: " ")
      }
      return " by \(changes.origin)" + words.joined() + (changes.invalidatesAll ? " all" : "")
    }
  }

  @Test func changesOfATurnArriveTogether() async throws {
    let context = try await Library.open().context()
    let log = Log(context)
    let writer = Writer("a")
    context.insert(writer)
    writer.desk = Desk(1)
    writer.rank = 2
    #expect(log.take() == [])
    context.processPendingChanges()
    #expect(log.take() == ["changed by context inserted Desk Writer"])
    writer.rank = 3
    writer.rank = 4
    let passing = Reader("b")
    context.insert(passing)
    context.delete(passing)
    context.processPendingChanges()
    #expect(log.take() == ["changed by context updated Writer"])
    writer.rank = 5
    context.processPendingChanges()
    context.processPendingChanges()
    #expect(log.take() == ["changed by context updated Writer"])
  }

  @Test func aSaveTellsBeforeAndAfter() async throws {
    let context = try await Library.open().context()
    let writer = Writer("a")
    context.insert(writer)
    writer.books.append(Book("Orlando", publisher: Publisher("p")))
    let log = Log(context)
    try context.save()
    #expect(
      log.take() == ["will save", "saved by context inserted Book Publisher Writer"],
      "what came before the subscription is no event"
    )
    try context.save()
    #expect(log.take() == [], "there was nothing to save")
    writer.fans.append(Reader("b"))
    try context.save()
    #expect(
      log.take() == [
        "changed by context inserted Reader updated Writer", "will save",
        "saved by context inserted Reader updated Writer",
      ]
    )
    context.delete(writer)
    try context.save()
    #expect(
      log.take() == [
        "changed by context updated Reader deleted Book Writer", "will save",
        "saved by context updated Reader deleted Book Writer",
      ]
    )
  }

  @Test func whatAListenerChangesBeforeASaveIsSaved() async throws {
    let context = try await Library.open().context()
    let writer = Writer("a")
    context.insert(writer)
    let subscription = context.onWillSave { writer.rank = 7 }
    defer { withExtendedLifetime(subscription) {} }
    try context.save()
    #expect(!context.hasChanges)
    #expect(writer.committedValues["rank"] == .int(7))
  }

  @Test func rollbackAndResetAreEventsOfTheirOwn() async throws {
    let context = try await Library.open().context()
    let (writer, desk) = (Writer("a"), Desk(1))
    context.insert(writer)
    context.insert(desk)
    try context.save()
    let log = Log(context)
    writer.rank = 1
    context.delete(desk)
    context.insert(Reader("b"))
    context.processPendingChanges()
    context.rollback()
    #expect(
      log.take() == [
        "changed by context inserted Reader updated Writer deleted Desk",
        "changed by rollback inserted Desk deleted Reader refreshed Writer",
      ]
    )
    context.refresh(writer)
    context.processPendingChanges()
    #expect(log.take() == ["changed by context refreshed Writer"])
    context.reset()
    #expect(log.take() == ["changed by reset all"])
  }

  @Test func othersCommitsAndChildrenTellWhereTheyComeFrom() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let log = Log(context)
    let id = try await library.write { other in
      let writer = Writer("a")
      other.insert(writer)
      return writer.objectID
    }
    try context.refresh()
    #expect(log.take() == ["changed by store inserted Writer"])
    let child = context.makeChild()
    let childLog = Log(child)
    try child.existingObject(Writer.self, with: id).rank = 1
    context.processPendingChanges()
    #expect(childLog.take() == ["changed by context updated Writer"])
    try child.save()
    #expect(log.take() == ["changed by child updated Writer"])
    #expect(childLog.take() == ["will save", "saved by context updated Writer"])
    try context.existingObject(Writer.self, with: id).rank = 2
    context.processPendingChanges()
    #expect(childLog.take() == ["changed by parent updated Writer"])
    context.rollback()
    #expect(log.take() == ["changed by context updated Writer", "changed by rollback refreshed Writer"])
    #expect(childLog.take() == ["changed by parent refreshed Writer"])
    try await library.batchDelete(From<Writer>())
    try context.refresh()
    #expect(log.take() == ["changed by store deleted Writer"])
    #expect(childLog.take() == ["changed by store deleted Writer"])
  }

  @Test func aSubscriptionEndsWithItsToken() async throws {
    let context = try await Library.open().context()
    var count = 0
    var subscription: ContextSubscription? = context.onObjectsDidChange { _ in count += 1 }
    context.insert(Writer("a"))
    context.processPendingChanges()
    #expect(count == 1)
    withExtendedLifetime(subscription) {}
    subscription = nil
    context.insert(Writer("b"))
    context.processPendingChanges()
    #expect(count == 1)
  }

  @Test func aBackgroundContextTellsAtTheEndOfEachBlock() async throws {
    let library = try await Library.open()
    let background = try library.newBackgroundContext(name: "import")
    let stream = try await background.perform { $0.objectChanges() }
    let saves = try await background.perform { $0.saves() }
    try await background.perform { context in
      context.insert(Writer("a"))
      context.insert(Writer("b"))
    }
    try await background.perform { try $0.save() }
    var iterator = stream.makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(first.inserted.count == 2)
    #expect(first.contextName == "import")
    var saveIterator = saves.makeAsyncIterator()
    #expect(await saveIterator.next()?.inserted == first.inserted)
  }

  /// The sequence yields the changes of each kind that are about to be saved, also if the save then fails.
  @Test func aSequenceTellsOfSavesBeforeTheyBegin() async throws {
    let library = try await Library.open()
    let background = try library.newBackgroundContext(name: "editor")
    typealias IDs = (old: ManagedObjectID, gone: ManagedObjectID, fan: ManagedObjectID)
    let ids: IDs = try await background.perform { context in
      let (old, gone, fan) = (Writer("old", email: "o"), Writer("gone"), Reader("fan"))
      for object in [old, gone] { context.insert(object) }
      context.insert(fan)
      try context.save()
      return (old.objectID, gone.objectID, fan.objectID)
    }
    let (stream, saves) = try await background.perform { ($0.upcomingSaves(), $0.saves()) }
    let new = try await background.perform { context in
      let old = try context.existingObject(Writer.self, with: ids.old)
      old.rank = 7
      old.fans.append(try context.existingObject(Reader.self, with: ids.fan))
      context.delete(try context.existingObject(Writer.self, with: ids.gone))
      let new = Writer("new", email: "o")
      context.insert(new)
      #expect(throws: ContextError.self) { try context.save() }
      new.email = "n"
      try context.save()
      try context.save()
      return new.objectID
    }
    var (upcoming, stored) = (stream.makeAsyncIterator(), saves.makeAsyncIterator())
    for _ in 0..<2 {
      let changes = try #require(await upcoming.next())
      #expect(changes.inserted == [new] && changes.deleted == [ids.gone])
      #expect(changes.updated == [ids.fan, ids.old])
      #expect(changes.changedProperties == [ids.old: ["fans", "rank"], ids.fan: ["idols"]])
      #expect(changes.origin == .context && changes.contextName == "editor")
    }
    let saved = try #require(await stored.next())
    #expect(saved.inserted == [new] && saved.updated == [ids.fan, ids.old] && saved.deleted == [ids.gone])
    try await background.perform { context in
      context.insert(Desk(1))
      try context.save()
    }
    // Neither sequence reported the save without changes.
    #expect(await upcoming.next()?.inserted.map(\.entityName) == ["Desk"])
  }

  @Test func aSequenceEndsWithItsContext() async throws {
    let library = try await Library.open()
    let stream = try await library.performBackgroundTask { context in
      let stream = context.objectChanges()
      context.insert(Writer("a"))
      context.processPendingChanges()
      return stream
    }
    var events = 0
    for await changes in stream { events += changes.inserted.count }
    #expect(events == 1)
  }

  @MainActor @Test func theViewContextTellsBetweenTurns() async throws {
    let library = try await Library.open()
    let stream = library.viewContext.objectChanges()
    library.viewContext.insert(Writer("a"))
    library.viewContext.insert(Writer("b"))
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next()?.inserted.count == 2)
    try await library.write { $0.insert(Desk(1)) }
    let merged = await iterator.next()
    #expect(merged?.origin == .store)
    #expect(merged?.inserted.map(\.entityName) == ["Desk"])
  }
}
