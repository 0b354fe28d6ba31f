import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class PressureGauge {
  var value: Int = 0
  init() {}

  func validateForUpdate() throws {
    if value > 10 { throw ValidationError("too high", properties: ["value"]) }
  }
}

/// Listeners that change, save and roll back while a context reports changes to them.
struct ListenerTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let writer = Writer("a")
  private let other = Writer("b")

  init() async throws {
    let models = Library.models + [PressureGauge.self]
    library = try await PersistentContainer("Library", models: models, at: .inMemory)
    context = try library.context()
    context.insert(writer)
    context.insert(other)
    try context.save()
  }

  /// The ranks of writers in the store, by their names.
  private func stored() throws -> [Int] {
    let reader = try library.context()
    defer { reader.end() }
    return try reader.fetch(From<Writer>().orderBy(\.name)).map(\.rank)
  }

  // MARK: A child's save

  @Test func whatAChildsListenerChangesBeforeItsSaveIsSaved() throws {
    let child = context.makeChild()
    let copy = try child.existingObject(Writer.self, with: writer.objectID)
    let subscription = child.onObjectsDidChange { if $0.origin == .parent { copy.rank += 1 } }
    other.name = "c"
    copy.email = "a@"
    try child.save()
    #expect(copy.rank == 1 && !child.hasChanges && writer.rank == 1)
    try context.save()
    #expect(try stored() == [1, 0])
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [false, true])
  func whatAListenerChangesInAChildThatSavesIsUnsavedAfterwards(_ isParents: Bool) throws {
    let child = context.makeChild()
    let (copy, second) = (
      try child.existingObject(Writer.self, with: writer.objectID),
      try child.existingObject(Writer.self, with: other.objectID)
    )
    var isDone = false
    let subscription = (isParents ? context : child).onObjectsDidChange {
      if isDone || $0.origin != (isParents ? .child : .context) { return }
      isDone = true
      second.rank = 9
    }
    let saved = child.onDidSave { #expect(isParents ? $0.updated.count == 1 : $0.updated.count == 2) }
    copy.name = "A"
    try child.save()
    #expect(isDone && second.rank == 9 && child.hasChanges == isParents)
    withExtendedLifetime(saved) {}
    saved.cancel()
    try child.save()
    #expect(!child.hasChanges && other.rank == 9)
    withExtendedLifetime(subscription) {}
  }

  // MARK: The first event

  /// Before the listener subscribed, the undo manager has recorded only the object, and not each of its changed
  /// properties.
  @Test func aListenerHearsOfWhatChangesFromNowOn() throws {
    context.undoManager = ContextUndoManager()
    writer.rank = 5
    writer.email = "a@"
    var told: [ObjectChanges] = []
    let subscription = context.onObjectsDidChange { told.append($0) }
    context.processPendingChanges()
    #expect(told.isEmpty)
    writer.rank = 6
    writer.name = "A"
    context.processPendingChanges()
    #expect(told.map { $0.changedProperties[writer.objectID] } == [["name", "rank"]])
    withExtendedLifetime(subscription) {}
  }

  /// After a reset, no unsaved change keeps an object in the context.
  @Test func whatComesBackAfterAResetIsInserted() throws {
    let elsewhere = try library.context()
    defer { elsewhere.end() }
    elsewhere.undoManager = ContextUndoManager()
    let id = writer.objectID
    var told: [ObjectChanges] = []
    let subscription = context.onObjectsDidChange { told.append($0) }
    writer.rank = 5
    elsewhere.delete(try elsewhere.existingObject(Writer.self, with: id))
    try elsewhere.save()
    try context.refresh()
    context.reset()
    #expect(elsewhere.undo())
    try elsewhere.save()
    told = []
    try context.refresh()
    #expect(told.map(\.inserted) == [[id]] && told.map(\.refreshed) == [[]])
    withExtendedLifetime(subscription) {}
  }

  // MARK: The order of saves

  /// A save moves its context to another context's commit. A listener of this event saves as well. The first save is
  /// still reported first.
  @Test func savesAreToldInTheirOrder() throws {
    let elsewhere = try library.context()
    defer { elsewhere.end() }
    try elsewhere.existingObject(Writer.self, with: other.objectID).email = "b@"
    try elsewhere.save()
    var told: [[ManagedObjectID]] = []
    let saved = context.onDidSave { told.append($0.updated) }
    let subscription = context.onObjectsDidChange { [context, other] changes in
      guard changes.origin == .store else { return }
      other.rank = 1
      #expect(throws: Never.self) { try context.save() }
    }
    writer.rank = 5
    try context.save()
    #expect(told == [[writer.objectID], [other.objectID]])
    #expect(try stored() == [5, 1])
    withExtendedLifetime((saved, subscription)) {}
  }

  // MARK: Before a save

  @Test func whatAListenerChangesAfterTheHooksIsValidated() throws {
    let gauge = PressureGauge()
    context.insert(gauge)
    try context.save()
    var limit = 11
    let subscriptions = [
      context.onWillSave { [other] in other.rank = 1 },
      context.onObjectsDidChange { [other] changes in
        if changes.updated.contains(other.objectID), gauge.value != limit { gauge.value = limit }
      },
    ]
    writer.rank = 1
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .validationFailed && context.hasChanges)
    #expect(try stored() == [0, 0])
    limit = 10
    try context.save()
    #expect(gauge.value == 10 && !context.hasChanges)
    #expect(try stored() == [1, 1])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func aListenerThatGoesOnChangingObjectsFailsTheSave() throws {
    let subscription = context.onObjectsDidChange { [other] _ in other.rank += 1 }
    writer.rank = 1
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .endlessChanges && context.hasChanges)
    #expect(try stored() == [0, 0])
    subscription.cancel()
    try context.save()
    #expect(try stored()[0] == 1)
  }

  // MARK: Rolling back

  @Test func aListenerThatSavesDoesNotSaveWhatIsRolledBack() throws {
    let subscription = context.onObjectsDidChange { [context] _ in try? context.save() }
    writer.rank = 1
    context.rollback()
    #expect(writer.rank == 0 && !context.hasChanges)
    #expect(try stored() == [0, 0])
    withExtendedLifetime(subscription) {}
  }

  @Test func oneEventTellsOfARollbackAndOfWhatWasChanged() throws {
    var events: [ObjectChanges] = []
    let subscription = context.onObjectsDidChange { events.append($0) }
    writer.rank = 1
    context.processPendingChanges()
    writer.name = "x"
    context.delete(other)
    context.insert(Desk(1))
    context.rollback()
    #expect(events.map(\.origin) == [.context, .rollback])
    #expect(events.last?.refreshed == [writer.objectID, other.objectID])
    #expect(events.last?.inserted == [] && events.last?.updated == [] && events.last?.deleted == [])
    withExtendedLifetime(subscription) {}
  }

  // MARK: A parent that only reads

  @Test func aChildSavesNothingToAParentThatOnlyReads() throws {
    let child = context.makeChild()
    try child.existingObject(Writer.self, with: writer.objectID).rank = 1
    child.insert(Desk(1))
    child.delete(try child.existingObject(Writer.self, with: other.objectID))
    context.isReadOnly = true
    let error = #expect(throws: ContextError.self) { try child.save() }
    #expect(error?.code == .readOnlyContext && child.hasChanges && !context.hasChanges)
    #expect(try context.count(From<Writer>()) == 2)
    #expect(context.makeChild().isReadOnly)
    context.isReadOnly = false
    try child.save()
    try context.save()
    #expect(try stored() == [1])
  }
}
