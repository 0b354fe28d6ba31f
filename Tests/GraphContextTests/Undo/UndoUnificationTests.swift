import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Undo after a save has unified a new object with a stored one that has its unique value. The undo doesn't delete
/// the stored object.
struct UndoUnificationTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let stored = WaxSeal("lion")

  init() async throws {
    store = try await PersistentContainer("Seals", models: WaxSeal.self, Charter.self, at: .inMemory)
    context = try store.context()
    context.insert(stored)
    try context.save()
  }

  /// - Parameter isOpen: whether the save falls into the group of the charter.
  @Test(arguments: [false, true]) func undoLeavesWhatASaveHasUnifiedWith(isOpen: Bool) throws {
    context.undoManager = ContextUndoManager()
    let twin = WaxSeal("lion")
    context.insert(twin)
    context.processPendingChanges()
    if isOpen { context.undoManager?.beginUndoGrouping() }
    let charter = Charter()
    context.insert(charter)
    charter.seal = twin
    if !isOpen { context.processPendingChanges() }
    try context.save()
    if isOpen { context.undoManager?.endUndoGrouping() }
    #expect(charter.seal === stored)
    #expect(context.undo())
    #expect(!stored.isDeleted)
    try context.save()
    #expect(try context.count(From<WaxSeal>()) == 1)
    #expect(try context.count(From<Charter>()) == 0)
  }

  /// - Parameter isUndone: whether the child has undone its insertion before its parent is saved.
  @Test(arguments: [false, true]) func aChildsUndoLeavesWhatTheParentHasUnifiedWith(isUndone: Bool) throws {
    let twin = WaxSeal("lion")
    context.insert(twin)
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let charter = Charter()
    child.insert(charter)
    charter.seal = try child.existingObject(WaxSeal.self, with: twin.objectID)
    try child.save()
    if isUndone { #expect(child.undo()) }
    try context.save()
    if !isUndone { #expect(child.undo()) }
    try child.save()
    try context.save()
    #expect(!stored.isDeleted)
    #expect(try context.count(From<WaxSeal>()) == 1)
    #expect(try context.count(From<Charter>()) == 0)
  }

  /// A deletion that the program makes follows the reference that the parent has.
  @Test func aChildsDeletionTakesAlongWhatTheParentHasUnifiedWith() throws {
    let twin = WaxSeal("lion")
    context.insert(twin)
    let child = context.makeChild()
    let charter = Charter()
    child.insert(charter)
    charter.seal = try child.existingObject(WaxSeal.self, with: twin.objectID)
    try child.save()
    child.delete(charter)
    try context.save()
    try child.save()
    try context.save()
    #expect(try context.count(From<Charter>()) == 0)
    #expect(try context.count(From<WaxSeal>()) == 0)
  }
}

@Model private final class WaxSeal {
  @Attribute(.unique(ifExists: .keep)) var crest: String

  init(_ crest: String) { self.crest = crest }
}

@Model private final class Charter {
  @Relationship(deleteRule: .cascade) var seal: WaxSeal?

  init() {}
}
