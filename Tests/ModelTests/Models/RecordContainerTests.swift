import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Containers whose objects are records, all or some.
struct RecordContainerTests {
  private func error(_ body: () async throws -> some Any) async -> ContextError? {
    do { _ = try await body() } catch { return error as? ContextError }
    return nil
  }

  private func url(_ folder: TemporaryFolder) -> URL { URL(fileURLWithPath: folder.file("museum.cambium")) }

  @Test func aStoreOpensWithTheEntitiesThatItHas() async throws {
    let folder = try TemporaryFolder()
    let made = try await Museum.open(at: folder.file("museum.cambium"), withClasses: true)
    let id = try await made.performBackgroundTask { context in
      let exhibit = Museum.Exhibit(owner: Museum.Owner())
      exhibit.text = "Vase"
      context.insert(exhibit)
      try context.save()
      return exhibit.objectID
    }
    try await made.close()
    let museum = try await PersistentContainer("Museum", at: url(folder))
    #expect(museum.schema == (try Museum.schema()))
    try await museum.performBackgroundTask { context in
      let exhibit = try context.existingObject(ManagedRecord.self, with: id)
      #expect(try exhibit.value("text", as: String.self) == "Vase")
      try exhibit.set("text", to: "Bowl")
      try exhibit.setObject("room", to: context.insert(entity: "Room"))
      try exhibit.object("room")?.set("number", to: 12)
      var rooms = DynamicQuery("Room")
      #expect(try context.fetch(rooms).count == 1)
      rooms.includesUnsavedChanges = false
      #expect(try context.fetch(rooms).isEmpty)
      try context.save()
      #expect(try context.fetch(rooms).count == 1)
    }
    try await museum.close()
    let again = try await Museum.open(at: folder.file("museum.cambium"), withClasses: true)
    try await again.performBackgroundTask { context in
      let exhibit = try context.existingObject(Museum.Exhibit.self, with: id)
      #expect(exhibit.text == "Bowl")
      #expect(exhibit.room?.number == 12)
    }
    #expect(try await again.verify().map(\.description) == [])
    try await again.close()
  }

  /// With no entity at all, the opening would remove every entity of the store.
  @Test func aContainerThatNamesNoEntityHasThoseOfTheStore() async throws {
    let folder = try TemporaryFolder()
    let schema = try Museum.schema()
    try await PersistentContainer("Museum", schema: schema, at: url(folder)).close()
    let located = try await PersistentContainer("Museum", at: .file(url(folder)))
    #expect(located.schema == schema)
    try await located.close()
    let noModels: [any ManagedObject.Type] = []
    let listed = try await PersistentContainer("Museum", models: noModels, at: url(folder))
    #expect(listed.schema == schema)
    try await listed.close()
    let described = try await PersistentContainer("Museum", entities: .described([]), at: url(folder))
    #expect(described.schema == schema)
    try await described.close()
    #expect(await error { try await PersistentContainer("Museum", at: .inMemory) }?.code == .schemaMismatch)
  }

  @Test func whereThereIsNoStoreNoneIsMade() async throws {
    let folder = try TemporaryFolder()
    #expect(await error { try await PersistentContainer("Museum", at: url(folder)) }?.code == .store)
    #expect(await error { try await PersistentContainer("Museum", at: .file(url(folder))) }?.code == .store)
    #expect(!FileManager.default.fileExists(atPath: url(folder).path))
    try await Store.open(at: url(folder).path).close()
    #expect(await error { try await PersistentContainer("Museum", at: url(folder)) }?.code == .schemaMismatch)
  }

  @Test func aSchemaMustGoTogetherWithTheStore() async throws {
    let folder = try TemporaryFolder()
    var entities = try Museum.schema().entities
    let museum = try await PersistentContainer("Museum", schema: Schema(entities: entities), at: url(folder))
    try await museum.performBackgroundTask { context in
      let room = try context.insert(entity: "Room")
      try room.set("number", to: 5)
      try context.save()
    }
    try await museum.close()
    // A schema with another order of the properties reads the same records.
    let place = try #require(entities.firstIndex { $0.name == "Exhibit" })
    entities[place].properties.reverse()
    let reordered = try await PersistentContainer(
      "Museum",
      schema: Schema(entities: entities),
      at: url(folder)
    )
    try await reordered.performBackgroundTask { context in
      let exhibit = try context.insert(entity: "Exhibit")
      for attribute in exhibit.entity.attributes where !attribute.isOptional {
        try? exhibit.set(attribute.name, to: AttributeValue.int(3))
      }
      try exhibit.set("flag", to: true)
      try exhibit.set("single", to: 1.5 as Float)
      try exhibit.set("double", to: 2.5)
      try exhibit.set("moment", to: Date(timeIntervalSinceReferenceDate: 4))
      try exhibit.set("text", to: "Vase")
      let owner = try context.insert(entity: "Owner")
      try owner.set("number", to: 6)
      try exhibit.setObject("owner", to: owner)
      try exhibit.setObject("room", to: context.fetch(DynamicQuery("Room")).first)
      try context.save()
      context.reset()
      let again = try #require(try context.fetch(DynamicQuery("Exhibit")).first)
      #expect(try again["text"] == .string("Vase"))
      #expect(try again["long"] == .int(3))
      #expect(try again.object("room")?.value("number", as: Int.self) == 5)
    }
    #expect(try await reordered.verify().map(\.description) == [])
    try await reordered.close()
    entities[place].properties.append(.attribute("colour", String.self))
    let refused = await error {
      try await PersistentContainer("Museum", schema: Schema(entities: entities), at: url(folder))
    }
    #expect(refused?.code == .schemaMismatch)
    #expect(refused?.message.contains("Exhibit.colour") == true)
  }

  @Test func containersWithoutClassesShareAStoreAmongThemselves() async throws {
    let folder = try TemporaryFolder()
    let schema = try Museum.schema()
    let first = try await PersistentContainer("Museum", schema: schema, at: url(folder))
    let second = try await PersistentContainer("Museum", at: url(folder))
    let third = try await PersistentContainer("Museum", schema: schema, at: url(folder))
    #expect(first.coordinator === second.coordinator && first.coordinator === third.coordinator)
    let larger = try Schema(Museum.models + Library.models)
    #expect(
      await error { try await PersistentContainer("Museum", schema: larger, at: url(folder)) }?.code
        == .schemaMismatch
    )
    #expect(
      await error { try await PersistentContainer("Museum", models: Museum.models, at: .file(url(folder))) }?
        .code == .schemaMismatch
    )
    for container in [first, second, third] { try await container.close() }
    let typed = try await PersistentContainer("Museum", models: Museum.models, at: .file(url(folder)))
    #expect(await error { try await PersistentContainer("Museum", at: url(folder)) }?.code == .schemaMismatch)
    try await typed.close()
  }

  // MARK: Some with classes

  @Model final class Visitor {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Test func someEntitiesHaveClassesAndTheOthersRecords() async throws {
    let ticket = EntityDescription(
      name: "Ticket",
      properties: [
        .attribute("number", Int.self), .toOne("visitor", Visitor.self),
      ]
    )
    let visitor = Visitor._$model.entity
    let models = ContainerModels(
      classes: [Visitor.self],
      others: .schema(try Schema(entities: [ticket, visitor]))
    )
    let store = try Store.inMemory(options: StoreOptions())
    let container = try PersistentContainer("Tickets", models, on: store)
    let context = try container.context()
    let ada = Visitor("Ada")
    context.insert(ada)
    let record = try context.insert(entity: "Ticket")
    try record.set("number", to: 1)
    try record.setObject("visitor", to: ada)
    try context.save()
    #expect(try record.object("visitor", as: Visitor.self) === ada)
    #expect(await error { try record.object("visitor") }?.code == .wrongDestination)
    #expect(await error { try context.fetch(DynamicQuery("Visitor")) }?.code == .unknownEntity)
    #expect(await error { try context.insert(entity: "Visitor") }?.code == .unknownEntity)
    #expect(
      await error { try context.object(ManagedRecord.self, with: ada.objectID) }?.code == .unknownEntity
    )
    let named = try PredicateTree(format: "visitor.name == 'Ada'")
    #expect(try context.fetch(DynamicQuery("Ticket", where: named)) == [record])
    context.delete(ada)
    try context.save()
    #expect(try record.object("visitor", as: Visitor.self) == nil)
    #expect(try await container.verify().map(\.description) == [])
    // The rest of the store's entities, whatever they are.
    let rest = try PersistentContainer("Tickets", .init(classes: [Visitor.self], others: .stored), on: store)
    #expect(rest.coordinator === container.coordinator)
    context.end()
  }
}
