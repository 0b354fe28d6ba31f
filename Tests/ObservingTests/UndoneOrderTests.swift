import Cambium
import Testing

@testable import GraphContext

/// The order of objects that an undo has brought back.
struct UndoneOrderTests {
  @Test func objectsThatComeBackAreInTheOrderOfTheirIDs() async throws {
    let container = try await Airport.open()
    let context = try container.context()
    context.undoManager = ContextUndoManager()
    let flights = (1...4).map { Departure($0, "Basel") }
    for flight in flights { context.insert(flight) }
    context.processPendingChanges()
    let child = context.makeChild()
    context.delete(flights[0])
    context.delete(flights[2])
    context.processPendingChanges()
    context.undo()
    #expect(try context.fetch(From<Departure>()).map(\.minute) == [1, 2, 3, 4])
    #expect(try child.fetch(From<Departure>()).map(\.minute) == [1, 2, 3, 4])
  }
}
