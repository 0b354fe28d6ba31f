import Predicates
import TestSupport
import Testing

@testable import GraphContext

struct FindOrInsertTests {
  private func context() async throws -> ManagedObjectContext {
    let entity = EntityDescription(
      name: "Author",
      properties: [
        .attribute(.init(name: "name", kind: .string)),
        .attribute(.init(name: "born", kind: .int16, isOptional: true)),
      ],
      indexes: [IndexDescription(["name"], isUnique: true)]
    )
    let schema = try Schema(entities: [entity])
    let container = try await PersistentContainer("Authors", schema: schema, at: .inMemory)
    return try ManagedObjectContext(coordinator: container.coordinator)
  }

  @Test func aRecordIsInsertedOnce() async throws {
    let context = try await context()
    let first = try context.findOrInsert(
      entity: "Author",
      with: ["name": .string("Austen"), "born": .int(1775)]
    )
    #expect(try first["born"] == .int(1775))
    #expect(try context.findOrInsert(entity: "Author", with: ["name": .string("Austen")]) === first)
    try context.save()
    #expect(try context.findOrInsert(entity: "Author", with: ["born": .int(1775)]) === first)
    let second = try context.findOrInsert(entity: "Author", with: ["name": .string("Brontë"), "born": .null])
    #expect(second !== first)
    #expect(try context.findOrInsert(entity: "Author", with: ["born": .null]) === second)
    #expect(try context.count(DynamicQuery("Author")) == 2)
  }

  @Test func aMistakeInsertsNothing() async throws {
    let context = try await context()
    #expect(throws: (any Error).self) { try context.findOrInsert(entity: "Writer", with: [:]) }
    #expect(throws: (any Error).self) {
      try context.findOrInsert(entity: "Author", with: ["title": .string("Emma")])
    }
    #expect(throws: (any Error).self) {
      try context.findOrInsert(entity: "Author", with: ["born": .string("1775")])
    }
    #expect(throws: ContextError.self) {
      try context.findOrInsert(entity: "Author", with: ["born": .int(100_000)])
    }
    #expect(!context.hasChanges)
    #expect(try context.count(DynamicQuery("Author")) == 0)
  }
}
