import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Undo of a link to an object that another context deletes meanwhile. A link to a deleted object can't be saved.
struct UndoLinkTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let medal = Medal()
  private let winner = Winner()

  init() async throws {
    store = try await Parcel.store()
    context = try store.context()
    context.insert(medal)
    context.insert(winner)
    try context.save()
  }

  private func deleteMedalInAnotherContext() throws {
    let other = try store.context()
    defer { other.end() }
    other.delete(try other.existingObject(Medal.self, with: medal.objectID))
    try other.save()
    try context.refresh()
  }

  private func expectNoMedal() throws {
    try context.save()
    #expect(try context.fetch(From<Winner>()).first?.medals.isEmpty == true)
  }

  @Test func anUnsavedLinkIsTakenBack() throws {
    context.undoManager = ContextUndoManager()
    winner.medals = [medal]
    context.processPendingChanges()
    try deleteMedalInAnotherContext()
    #expect(context.undo())
    #expect(!context.hasChanges)
    try expectNoMedal()
  }

  /// The link was removed with the medal. The undo changes nothing, and no event reports a change.
  @Test func aSavedLinkIsGoneAlready() throws {
    context.undoManager = ContextUndoManager()
    winner.medals = [medal]
    context.processPendingChanges()
    try context.save()
    try deleteMedalInAnotherContext()
    var updated: [ManagedObjectID] = []
    let subscription = context.onObjectsDidChange { updated += $0.updated }
    defer { subscription.cancel() }
    #expect(context.undo())
    context.processPendingChanges()
    #expect(updated.isEmpty)
    #expect(context.undoManager?.canRedo == false)
    try expectNoMedal()
  }

  /// The child has saved the link to its parent, which hasn't saved it.
  @Test func aChildTakesBackALinkOfItsParent() throws {
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let same = try child.existingObject(Winner.self, with: winner.objectID)
    same.medals = [try child.existingObject(Medal.self, with: medal.objectID)]
    try child.save()
    try deleteMedalInAnotherContext()
    #expect(child.undo())
    try child.save()
    try expectNoMedal()
  }
}
