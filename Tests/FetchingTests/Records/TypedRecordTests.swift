import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Calls that take a type also take records, whose entity is that of the ID.
struct TypedRecordTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext

  init() async throws {
    let schema = try Schema(
      entities: [
        EntityDescription(
          name: "Note",
          properties: [.attribute("text", String?.self), .toOne("page", to: "Page", inverse: "notes")]
        ),
        EntityDescription(
          name: "Page",
          properties: [
            .attribute("title", String?.self), .attribute("foldedTitle", String?.self, derived: "title[c]"),
            .attribute("noteCount", Int.self, derived: "notes.@count"),
            .toMany("notes", to: "Note", inverse: "page"),
          ]
        ),
      ]
    )
    store = try await PersistentContainer("Notes", schema: schema, at: .inMemory)
    context = try store.context()
  }

  @Test func recordsAreFoundByTheirIDs() throws {
    let (note, page) = (try context.insert(entity: "Note"), try context.insert(entity: "Page"))
    try context.save()
    let ids = [page.objectID, note.objectID]
    #expect(try context.existingObjects(ManagedRecord.self, with: ids) == [page, note])
    #expect(try context.existingObject(ManagedRecord.self, with: note.objectID) === note)
    #expect(try context.object(ManagedRecord.self, with: note.objectID) === note)
    #expect(context.registeredObject(ManagedRecord.self, with: page.objectID) === page)
    #expect(try context.delete(ManagedRecord.self, with: ids) == 2)
    #expect(try context.existingObjects(ManagedRecord.self, with: ids) == [])
  }

  @Test func aRecordIsObserved() throws {
    let note = try context.insert(entity: "Note")
    try context.save()
    let observer = try ObjectObserver(note)
    var changes: [ObjectObserver<ManagedRecord>.Change] = []
    let subscription = observer.onChange { changes.append($0) }
    try note.set("text", to: "new")
    context.processPendingChanges()
    context.delete(note)
    context.processPendingChanges()
    #expect(changes == [.updated(["text"]), .deleted])
    withExtendedLifetime(subscription) {}
  }

  /// A container that takes its entities from the store also gives new records their empty derived values.
  @Test func aNewRecordShowsEmptyDerivedValues() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("notes.cambium")
    try await PersistentContainer("Notes", schema: store.schema, at: url).close()
    let stored = try await PersistentContainer("Notes", at: url)
    let context = try stored.context()
    defer { context.end() }
    let page = try context.insert(entity: "Page")
    #expect(try page["noteCount"] == .int(0) && page["foldedTitle"].isNull)
    #expect(try context.fetch(DynamicQuery("Page", where: PredicateTree(format: "noteCount == 0"))) == [page])
    let child = context.makeChild()
    let other = try child.insert(entity: "Page")
    try child.save()
    #expect(try context.object(ManagedRecord.self, with: other.objectID)["noteCount"] == .int(0))
    try context.save()
    #expect(try page["noteCount"] == .int(0))
  }
}
