import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

final class UndoneDirector: StoredObject {
  @Stored var name: String
  @Stored var rank: Int = 0
}

/// In a model without the macro, a required property lacks its value again once its first value is undone.
struct UndoOfFirstValueTests {
  @Test func theFirstValueIsTakenBack() async throws {
    let container = try await PersistentContainer("Directors", models: UndoneDirector.self, at: .inMemory)
    let context = try container.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let director = UndoneDirector()
    context.insert(director)
    context.processPendingChanges()
    director.name = "Tati"
    context.processPendingChanges()
    #expect(context.undo())
    #expect(director.changedValues["name"] == .null)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .missingValue)
    #expect(context.redo())
    #expect(director.name == "Tati")
  }
}
