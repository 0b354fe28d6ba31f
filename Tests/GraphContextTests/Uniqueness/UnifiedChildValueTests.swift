import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// A new object that a save of the parent unifies with an existing one keeps its values in a child that has changed it,
/// as an object does that the parent deletes or rolls back: they are in no other place.
struct UnifiedChildValueTests {
  @Test func whatIsUnifiedKeepsItsValuesInAChildThatChangedIt() async throws {
    let store = try await Tracks.open()
    let context = try store.context()
    defer { context.end() }
    context.insert(UniqueTrack("A", "old", plays: 5, rating: 3))
    try context.save()
    let new = UniqueTrack("A", "new", plays: 7, rating: 2)
    context.insert(new)
    let child = context.makeChild()
    let copy = try child.object(UniqueTrack.self, with: new.objectID)
    copy.title = "child's"
    try context.save()
    let error = #expect(throws: ContextError.self) { try child.save() }
    #expect(error?.code == .conflict)
    #expect(copy.title == "child's" && copy.code == "A" && copy.plays == 7 && copy.rating == 2)
  }
}
