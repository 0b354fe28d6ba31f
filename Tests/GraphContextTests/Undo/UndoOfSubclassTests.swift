import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Changes of an object of a subclass can be undone after others have deleted it, while earlier changes keep it here.
struct UndoOfSubclassTests {
  private let container: PersistentContainer

  init() async throws {
    container = try await PersistentContainer("Zoo", models: Animal.self, Keeper.self, at: .inMemory)
    try await container.write { $0.insert(Dog("Rex", age: 3, breed: "Pug")) }
  }

  private func deleteElsewhere() throws {
    let other = try container.context()
    defer { other.end() }
    for dog in try other.fetch(From<Dog>()) { other.delete(dog) }
    try other.save()
  }

  /// As `UndoEdgeTests.takingAChangeBackKeepsTheValuesOfAnObjectThatOthersHaveDeleted`, for a class of a hierarchy.
  @Test func aChangeAfterTheDeletionByOthersIsAGroup() throws {
    let context = try container.context()
    defer { context.end() }
    let manager = ContextUndoManager()
    context.undoManager = manager
    let rex = try #require(try context.fetch(From<Dog>()).first)
    rex.age = 4
    context.processPendingChanges()
    try deleteElsewhere()
    try context.refresh()
    rex.breed = "Collie"
    context.processPendingChanges()
    #expect(manager.undoCount == 2)
    #expect(context.undo())
    #expect(rex.breed == "Pug" && rex.age == 4)
    #expect(context.redo())
    #expect(rex.breed == "Collie" && rex.age == 4)
  }

  /// The same where a parent deletes what its child has changed.
  @Test func soIsOneAfterTheDeletionByTheParent() throws {
    let context = try container.context()
    defer { context.end() }
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let rex = try #require(try child.fetch(From<Dog>()).first)
    rex.age = 4
    child.processPendingChanges()
    for dog in try context.fetch(From<Dog>()) { context.delete(dog) }
    rex.breed = "Collie"
    child.processPendingChanges()
    #expect(child.undo())
    #expect(rex.breed == "Pug" && rex.age == 4)
  }
}
