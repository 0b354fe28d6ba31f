import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Undo managers and listeners in programs with unusual use.
struct UndoEdgeTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let manager = ContextUndoManager()

  init() async throws {
    library = try await Library.open()
    context = try library.context()
    context.undoManager = manager
  }

  private func stored(_ name: String, rank: Int = 0) throws -> Writer {
    let writer = Writer(name, rank: rank)
    context.insert(writer)
    try context.save()
    return writer
  }

  // MARK: Listeners

  @Test func aListenersChangeIsToldOnce() throws {
    let writer = try stored("A")
    var events: [ObjectChanges] = []
    let subscription = context.onObjectsDidChange { changes in
      events.append(changes)
      if writer.rank < 3 { writer.rank += 1 }
    }
    writer.rank = 1
    for _ in 0..<6 { context.processPendingChanges() }
    #expect(writer.rank == 3 && events.count == 3)
    #expect(events.allSatisfy { $0.updated == [writer.objectID] })
    subscription.cancel()
    while context.undo() {}
    #expect(writer.isDeleted && !manager.canUndo)
    while context.redo() {}
    #expect(!writer.isDeleted && writer.rank == 3)
  }

  @Test func aListenerMaySaveAndUndo() throws {
    let writer = try stored("A")
    var (saves, undoes) = (0, 0)
    let subscription = context.onObjectsDidChange { changes in
      if changes.origin == .undo {
        undoes += 1
        _ = context.undo()
      } else if saves < 3 {
        saves += 1
        #expect(throws: Never.self) { try context.save() }
      }
    }
    writer.rank = 5
    context.processPendingChanges()
    #expect(saves == 1 && !context.hasChanges)
    #expect(context.undo())
    #expect(writer.isDeleted && undoes > 0 && !manager.canUndo)
    withExtendedLifetime(subscription) {}
    context.rollback()
    #expect(writer.rank == 5 && !writer.isDeleted)
  }

  @Test func aListenerMayEndItselfAndAddOthers() throws {
    let writer = try stored("A")
    var subscriptions: [ContextSubscription] = []
    var calls = 0
    subscriptions.append(
      context.onObjectsDidChange { _ in
        calls += 1
        subscriptions.removeAll()
        if calls < 4 { subscriptions.append(context.onObjectsDidChange { _ in calls += 10 }) }
      }
    )
    writer.rank = 1
    context.processPendingChanges()
    #expect(calls == 1)
    writer.rank = 2
    context.processPendingChanges()
    #expect(calls == 11)
  }

  @Test func aListenerThatSavesBeforeASaveFails() throws {
    let writer = try stored("A")
    var error: ContextError?
    let subscription = context.onWillSave {
      do { try context.save() } catch let thrown as ContextError { error = thrown } catch {}
    }
    writer.rank = 1
    try context.save()
    #expect(error?.code == .saveNotAllowed && !context.hasChanges)
    withExtendedLifetime(subscription) {}
  }

  @Test func aListenerMaySaveAfterASave() throws {
    let writer = try stored("A")
    let subscription = context.onDidSave { _ in
      if writer.rank < 3 {
        writer.rank += 1
        #expect(throws: Never.self) { try context.save() }
      }
    }
    writer.rank = 1
    try context.save()
    #expect(writer.rank == 3 && !context.hasChanges)
    #expect(context.undo() && writer.rank == 2)
    #expect(context.undo() && writer.rank == 1)
    withExtendedLifetime(subscription) {}
  }

  // MARK: Failed saves

  @Test func aFailedSaveCostsNoGroup() throws {
    let writer = try stored("A")
    writer.rank = 1
    context.processPendingChanges()
    let book = Book("B", publisher: Publisher("P"))
    context.insert(book)
    context.delete(book.publisher)
    context.processPendingChanges()
    #expect(throws: ContextError.self) { try context.save() }
    #expect(context.undo() && book.context == nil && writer.rank == 1)
    #expect(context.undo() && writer.rank == 0)
    #expect(!context.hasChanges)
    #expect(context.redo() && context.redo() && book.context === context)
    #expect(throws: ContextError.self) { try context.save() }
    #expect(context.undo())
    try context.save()
    #expect(try library.verify().map(\.description) == [])
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ])
  func whatAPolicyStoredCanBeTakenBack(_ policy: MergePolicy) throws {
    let writer = try stored("A")
    let other = try library.context()
    defer { other.end() }
    try other.existingObject(Writer.self, with: writer.objectID).rank = 7
    try other.save()
    context.mergePolicy = policy
    context.mergesAutomatically = false
    writer.rank = 1
    try context.save()
    let saved = writer.rank
    #expect(saved == 7 || saved == 1)
    #expect(context.undo())
    // The group set the rank from 0 to 1, so the previous value comes back.
    #expect(writer.rank == 0 || writer.rank == 7)
    #expect(context.redo() && writer.rank == saved || saved == 7)
    try context.save()
    #expect(try library.verify().map(\.description) == [])
  }

  // MARK: Deleted objects

  /// Values that are set on a deleted object are dropped when the deletion is undone.
  @Test(arguments: [true, false]) func setsAfterADeletionAreGivenBackWithIt(inOneTurn: Bool) throws {
    let writer = try stored("A", rank: 1)
    let desk = Desk(1)
    writer.desk = desk
    try context.save()
    context.delete(writer)
    if !inOneTurn { context.processPendingChanges() }
    writer.rank = 9
    writer.name = "B"
    context.processPendingChanges()
    let count = manager.undoCount
    #expect(context.undo() && !writer.isDeleted)
    #expect(manager.undoCount == count - 1)
    #expect(writer.rank == 1 && writer.name == "A" && writer.desk === desk && desk.writer === writer)
    #expect(!context.hasChanges && writer.changedValues.isEmpty)
    #expect(context.redo() && writer.isDeleted && desk.writer == nil)
    try context.save()
    #expect(context.undo() && writer.rank == 1 && writer.name == "A" && desk.writer === writer)
    try context.save()
    #expect(try library.verify().map(\.description) == [])
  }

  /// The size of a group in bytes is that of the images that the group keeps.
  @Test func aGroupCountsWhatItKeeps() throws {
    let writers = try (0..<50).map { try stored("W\($0) " + String(repeating: "x", count: 1_000)) }
    for writer in writers { writer.rank = 5 }
    context.processPendingChanges()
    manager.removeAllActions()
    manager.byteLimit = 5_000
    // The values are set to equal ones.
    for writer in writers { writer.rank = 5 }
    writers[0].rank = 1
    context.processPendingChanges()
    #expect(manager.undoCount == 1)
    for writer in writers { writer.rank += 1 }
    context.processPendingChanges()
    #expect(manager.undoCount == 0, "more than the limit by itself")
    for (number, writer) in writers.enumerated() {
      writer.rank = 100 + number
      context.processPendingChanges()
      #expect(manager.undoCount <= 5)
    }
    #expect(manager.undoCount == 4)
  }

  // MARK: Managers

  @Test func limitsBelowZeroAreSane() throws {
    let writer = try stored("A")
    manager.levelsOfUndo = -3
    writer.rank = 1
    context.processPendingChanges()
    #expect(manager.undoCount == 2)
    manager.byteLimit = -1
    #expect(manager.undoCount == 0 && !context.undo() && writer.rank == 1)
    writer.rank = 2
    context.processPendingChanges()
    #expect(!manager.canUndo)
  }

  @Test func aManagerHasOneContext() throws {
    let writer = try stored("A")
    let other = try library.context()
    defer { other.end() }
    writer.rank = 1
    other.undoManager = manager
    #expect(context.undoManager == nil && other.undoManager === manager && !manager.canUndo)
    #expect(!context.undo() && writer.rank == 1)
    try other.existingObject(Writer.self, with: writer.objectID).rank = 2
    #expect(other.undo() && !other.hasChanges)
    manager.beginUndoGrouping()
    context.undoManager = ContextUndoManager()
    manager.endUndoGrouping()
    manager.endUndoGrouping()
    #expect(other.undoManager === manager)
    other.undoManager = manager
    #expect(other.undoManager === manager)
  }

  @Test func aGroupSurvivesNothingThatForgetsIt() throws {
    let writer = try stored("A")
    manager.beginUndoGrouping()
    writer.rank = 1
    context.rollback()
    writer.rank = 2
    manager.endUndoGrouping()
    context.processPendingChanges()
    #expect(context.undo() && writer.rank == 0)
    manager.beginUndoGrouping()
    writer.rank = 3
    context.reset()
    manager.endUndoGrouping()
    #expect(!context.undo() && !context.redo())
  }

  @Test func registrationMayStopAndGoOn() throws {
    let writer = try stored("A")
    writer.rank = 1
    manager.isRegistrationEnabled = false
    writer.name = "B"
    let silent = Writer("silent")
    context.insert(silent)
    context.processPendingChanges()
    manager.isRegistrationEnabled = true
    silent.rank = 4
    context.processPendingChanges()
    while context.undo() {}
    #expect(!silent.isDeleted && silent.rank == 0 && writer.isDeleted)
    while context.redo() {}
    #expect(silent.rank == 4 && !writer.isDeleted)
    try context.save()
    #expect(try library.verify().map(\.description) == [])
  }

  // MARK: Memory

  @Test func aContextWithGroupsAndListenersIsReleased() throws {
    weak var released: ManagedObjectContext?
    weak var object: Writer?
    do {
      let context = try library.context()
      let manager = ContextUndoManager()
      context.undoManager = manager
      released = context
      let writer = Writer("W")
      object = writer
      context.insert(writer)
      let book = Book("B", publisher: Publisher("P"))
      writer.books = [book]
      let child = context.makeChild()
      let subscriptions = [
        context.onObjectsDidChange { [weak context] _ in _ = context?.hasChanges },
        child.onDidSave { _ in },
      ]
      try context.save()
      writer.rank = 2
      context.delete(book)
      context.processPendingChanges()
      _ = context.undo()
      withExtendedLifetime((subscriptions, child)) {}
    }
    #expect(released == nil && object == nil)
  }

  // MARK: Objects that others have deleted

  /// One unsaved change keeps the object in this context. Only the undo group has the old value of the other change.
  @Test func takingAChangeBackKeepsTheValuesOfAnObjectThatOthersHaveDeleted() async throws {
    let writer = try stored("A", rank: 1)
    let id = writer.objectID
    let child = context.makeChild()
    let drafted = try child.existingObject(Writer.self, with: id)
    writer.rank = 2
    context.processPendingChanges()
    try await library.write { $0.delete(try $0.existingObject(Writer.self, with: id)) }
    try context.refresh()
    writer.name = "B"
    context.processPendingChanges()
    #expect(context.undo())
    #expect(writer.name == "A" && writer.rank == 2)
    #expect(drafted.name == "A" && drafted.rank == 2)
    #expect(try context.fetch(From<Writer>()).map(\.name) == ["A"])
    #expect(throws: Never.self) { try context.checkUsable() }
    #expect(context.undo())
    #expect(try context.fetch(From<Writer>()).isEmpty)
    #expect(throws: Never.self) { try context.checkUsable() }
  }

  /// Values that the deletion has not read are in no other place either.
  @Test func takingADeletionBackKeepsTheValuesOfAnObjectThatOthersHaveDeleted() async throws {
    let id = try stored("A", rank: 1).objectID
    let own = try library.context()
    own.undoManager = ContextUndoManager()
    let writer = try own.existingObject(Writer.self, with: id)
    writer.rank = 2
    own.processPendingChanges()
    own.delete(writer)
    own.processPendingChanges()
    try await library.write { $0.delete(try $0.existingObject(Writer.self, with: id)) }
    try own.refresh()
    #expect(own.undo())
    #expect(writer.name == "A" && writer.rank == 2)
    #expect(try own.fetch(From<Writer>()).map(\.name) == ["A"])
    #expect(throws: Never.self) { try own.checkUsable() }
  }
}
