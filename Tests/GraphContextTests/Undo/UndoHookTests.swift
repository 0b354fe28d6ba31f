import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class StampedNote {
  var text: String
  var stamp: String = ""

  init(_ text: String) { self.text = text }

  func willSave() { stamp = text }
}

/// Undo of changes beside those that hooks make before a save.
struct UndoHookTests {
  private let context: ManagedObjectContext
  private let manager = ContextUndoManager()
  private let note = StampedNote("a")

  init() async throws {
    let container = try await PersistentContainer("Notes", models: [StampedNote.self], at: .inMemory)
    context = try container.context()
    context.undoManager = manager
    context.insert(note)
    try context.save()
    manager.removeAllActions()
  }

  @Test func aHookIsPartOfTheChangesThatAreSavedWithIt() throws {
    note.text = "b"
    try context.save()
    #expect(manager.undoCount == 1 && note.stamp == "b")
    #expect(context.undo())
    #expect(note.text == "a" && note.stamp == "a" && !manager.canUndo)
    #expect(context.redo())
    #expect(note.text == "b" && note.stamp == "b")
  }

  @Test func aHookAfterTheTurnIsNoGroup() throws {
    note.text = "b"
    context.processPendingChanges()
    try context.save()
    #expect(manager.undoCount == 1 && note.stamp == "b")
    #expect(context.undo())
    #expect(note.text == "a")
    try context.save()
    #expect(note.stamp == "a" && manager.canRedo && manager.undoCount == 0)
    #expect(context.redo())
    #expect(note.text == "b")
    note.stamp = "mine"
    context.processPendingChanges()
    #expect(manager.undoCount == 2, "a change by code is a group again")
  }

  /// Changes that a listener makes before a save, itself or by saving a child, don't follow from other changes.
  @Test(arguments: [false, true]) func whatAListenerChangesBeforeASaveIsAGroup(_ savesChild: Bool) throws {
    let other = StampedNote("x")
    context.insert(other)
    try context.save()
    manager.removeAllActions()
    let draft = context.makeChild()
    let copy = try draft.existingObject(StampedNote.self, with: other.objectID)
    note.text = "b"
    context.processPendingChanges()
    copy.text = "c"
    let subscription = context.onWillSave {
      if !savesChild { return other.text = "c" }
      #expect(throws: Never.self) { try draft.save() }
    }
    try context.save()
    #expect(other.text == "c" && other.stamp == "c" && manager.undoCount == 2)
    #expect(context.undo())
    #expect(other.text == "x" && note.text == "b")
    withExtendedLifetime(subscription) {}
  }

  @Test func theNameOfAnEmptyGroupNamesNoOther() throws {
    manager.setActionName("nothing")
    context.processPendingChanges()
    note.text = "b"
    context.processPendingChanges()
    #expect(manager.undoActionName == nil)
    manager.setActionName("Edit")
    manager.beginUndoGrouping()
    note.text = "c"
    manager.endUndoGrouping()
    #expect(manager.undoActionName == "Edit")
  }
}
