import Cambium
import Foundation
import Testing

@testable import GraphContext

/// What children delete when they undo and redo, while their parents change the same objects.
struct UndoFamilyTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let customs = Customs()

  init() async throws {
    store = try await Parcel.store()
    context = try store.context()
    context.insert(customs)
    context.insert(Gift())
    try context.save()
  }

  /// A child undoes the insertion of a parcel, and the parent makes it lead somewhere before the child is saved.
  @Test(arguments: [false, true]) func aChildsUndoFollowsWhatTheParentHasSetSince(isDenied: Bool) throws {
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let second = Parcel()
    child.insert(second)
    try child.save()
    try context.save()
    #expect(child.undo())
    let same = try context.existingObject(Parcel.self, with: second.objectID)
    if isDenied {
      same.customs = customs
      let error = #expect(throws: ContextError.self) { try child.save() }
      #expect(error?.code == .deletionDenied)
    } else {
      let part = Gift()
      context.insert(part)
      same.gift = part
      try child.save()
      try context.save()
      #expect(try context.count(From<Gift>()) == 1)
      #expect(try context.count(From<Parcel>()) == 0)
    }
  }

  /// The same with a context in between, which the grandchild's deletion has reached before.
  @Test(arguments: [false, true]) func aGrandchildsUndoFollowsWhatTheOutermostHasSetSince(
    isDenied: Bool
  ) throws {
    let child = context.makeChild()
    let grandchild = child.makeChild()
    grandchild.undoManager = ContextUndoManager()
    let second = Parcel()
    grandchild.insert(second)
    try grandchild.save()
    try child.save()
    try context.save()
    #expect(grandchild.undo())
    try grandchild.save()
    let same = try context.existingObject(Parcel.self, with: second.objectID)
    if isDenied {
      same.customs = customs
      let error = #expect(throws: ContextError.self) { try child.save() }
      #expect(error?.code == .deletionDenied)
    } else {
      let part = Gift()
      context.insert(part)
      same.gift = part
      try child.save()
      try context.save()
      #expect(try context.count(From<Gift>()) == 1)
    }
  }

  /// The child itself has changed the reference, which is no change of the parent.
  @Test func aChildsUndoIsNotDeniedForWhatTheChildHasSet() throws {
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let second = Parcel()
    child.insert(second)
    second.customs = try child.existingObject(Customs.self, with: customs.objectID)
    try child.save()
    second.customs = nil
    try child.save()
    #expect(child.undo())
    #expect(child.undo())
    try child.save()
    try context.save()
    #expect(try context.count(From<Parcel>()) == 0)
  }

  /// The child's link is the parent's by now, and leads to an object that others have deleted.
  @Test func aChildTakesBackALinkThatItHasHandedOver() throws {
    let (medal, winner) = (Medal(), Winner())
    context.insert(medal)
    context.insert(winner)
    try context.save()
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let same = try child.existingObject(Winner.self, with: winner.objectID)
    same.medals = [try child.existingObject(Medal.self, with: medal.objectID)]
    try child.save()
    let other = try store.context()
    defer { other.end() }
    other.delete(try other.existingObject(Medal.self, with: medal.objectID))
    try other.save()
    try context.refresh()
    #expect(child.undo())
    try child.save()
    try context.save()
    #expect(try context.fetch(From<Winner>()).first?.medals.isEmpty == true)
  }
}
