import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Links of objects that come and go in several commits of another context.
struct LinksOfSeveralCommitsTests {
  /// The object comes back without its links. An event that tells of both commits has to name the relationship.
  @Test func linksThatAnObjectHasLostAreNamed() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let (writer, reader) = (Writer("a"), Reader("b"))
    context.insert(writer)
    context.insert(reader)
    reader.idols = [writer]
    try context.save()
    let other = try library.context()
    other.undoManager = ContextUndoManager()
    let same = try other.existingObject(Reader.self, with: reader.objectID)
    other.delete(same)
    try other.save()
    #expect(other.undo())
    let back = try other.existingObject(Reader.self, with: reader.objectID)
    #expect(back.idols.count == 1)
    back.idols = []
    try other.save()

    let (id, ofWriter) = (reader.objectID, writer.objectID)
    var events: [ObjectChanges] = []
    let subscription = context.onObjectsDidChange { events.append($0) }
    #expect(reader.idols == [writer])
    try context.refresh()
    #expect(reader.idols.isEmpty)
    #expect(events.count == 1 && events.first?.updated.contains(id) == true)
    #expect(events.first?.changedProperties[ofWriter]?.contains("fans") == true)
    #expect(events.first?.changedProperties[id]?.contains("idols") == true)
    withExtendedLifetime(subscription) {}
  }

  /// An object that came and went between two events is in no list, and its links are those of the other end alone.
  @Test func linksOfAnObjectThatCameAndWentAreNotToldOf() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let writer = Writer("a")
    context.insert(writer)
    try context.save()
    let other = try library.context()
    let reader = Reader("b")
    other.insert(reader)
    reader.idols = [try other.existingObject(Writer.self, with: writer.objectID)]
    try other.save()
    other.delete(reader)
    try other.save()

    var events: [ObjectChanges] = []
    let subscription = context.onObjectsDidChange { events.append($0) }
    try context.refresh()
    #expect(events.map(\.updated) == [[writer.objectID]])
    #expect(events.allSatisfy { $0.inserted.isEmpty && $0.deleted.isEmpty })
    withExtendedLifetime(subscription) {}
  }
}
