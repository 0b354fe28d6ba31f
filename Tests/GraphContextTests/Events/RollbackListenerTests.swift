import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Listeners that change something when they hear of a rollback.
struct RollbackListenerTests {
  private let context: ManagedObjectContext
  private let writer = Writer("a")
  private let other = Writer("b")

  init() async throws {
    context = try await Library.open().context()
    context.insert(writer)
    context.insert(other)
    try context.save()
  }

  /// The listener's change is no part of the rollback: it is unsaved afterwards.
  @Test func theirChangesAreThoseOfTheContext() throws {
    var origins: [ObjectChanges.Origin] = []
    let subscription = context.onObjectsDidChange { [unowned context, other] changes in
      origins.append(changes.origin)
      guard origins.count == 1 else { return }
      other.rank = 7
      context.processPendingChanges()
    }
    writer.rank = 1
    context.rollback()
    #expect(other.rank == 7 && context.hasChanges)
    #expect(origins == [.rollback, .context])
    withExtendedLifetime(subscription) {}
  }

  /// A list asks for changes that no event has told of before it shows a rollback.
  @Test func aListBehindSuchAListenerIsToldOfTheContext() throws {
    var isDone = false
    let subscription = context.onObjectsDidChange { [other] changes in
      if isDone { return }
      isDone = true
      other.rank = 7
    }
    let list = try FetchedResults(From<Writer>().orderBy(\.rank), in: context)
    var origins: [ObjectChanges.Origin] = []
    let ofList = list.onChange { origins.append($0.origin) }
    writer.rank = 1
    context.rollback()
    #expect(list.map(\.rank) == [0, 7])
    #expect(origins.last == .context)
    withExtendedLifetime((subscription, ofList)) {}
  }

  /// A rollback forgets what could be undone before it, and not what is changed after it.
  @Test func theirChangesCanBeUndone() throws {
    context.undoManager = ContextUndoManager()
    let subscription = context.onObjectsDidChange { [other] changes in
      if changes.origin == .rollback { other.rank = 7 }
    }
    writer.rank = 1
    context.processPendingChanges()
    context.rollback()
    context.processPendingChanges()
    #expect(other.rank == 7 && writer.rank == 0)
    #expect(context.undo())
    #expect(other.rank == 0)
    withExtendedLifetime(subscription) {}
  }
}
