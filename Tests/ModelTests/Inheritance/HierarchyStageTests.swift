import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

private enum ScalesV1: VersionedSchema {
  static let version = Schema.Version(1)
  static var models: [any ManagedObject.Type] { [Animal.self] }

  @Model(subclasses: ["Dog", "Cat"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    var weight: String
    init(_ name: String, weight: String) {
      self.weight = weight
      super.init(name)
    }
  }
  @Model(superclass: "Animal")
  final class Cat: Animal {
    override init(_ name: String) { super.init(name) }
  }
}

private enum ScalesV2: VersionedSchema {
  static let version = Schema.Version(2)
  static var models: [any ManagedObject.Type] { [Animal.self] }

  @Model(subclasses: ["Dog", "Cat"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    var weight: Int
    init(_ name: String, weight: Int) {
      self.weight = weight
      super.init(name)
    }
  }
  @Model(superclass: "Animal")
  final class Cat: Animal {
    var motto: String
    init(_ name: String, motto: String) {
      self.motto = motto
      super.init(name)
    }
  }
}

/// Custom stages that give objects of subclasses what their classes require.
struct HierarchyStageTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("scales.cambium")) }

  init() async throws {
    folder = try TemporaryFolder()
    let container = try await PersistentContainer("Scales", models: ScalesV1.Animal.self, at: url)
    try await container.write { context in
      context.insert(ScalesV1.Dog("Rex", weight: "12"))
      context.insert(ScalesV1.Cat("Tom"))
      context.insert(ScalesV1.Animal("it"))
    }
    try await container.close()
  }

  private static func plan(givesMottos: Bool) -> MigrationPlan {
    MigrationPlan(
      [ScalesV1.self, ScalesV2.self],
      stages: [
        .custom(
          from: ScalesV1.self,
          to: ScalesV2.self,
          .converting("weight", of: "Animal", .clamping),
          .forEach("Animal") { batch in
            for animal in batch.objects where givesMottos && animal.objectID.entityName == "Cat" {
              try batch.successor(of: animal)?.set("motto", to: "miaow")
            }
          }
        )
      ]
    )
  }

  @Test func aStageGivesWhatASubclassRequires() async throws {
    let container = try await PersistentContainer("Scales", plan: Self.plan(givesMottos: true), at: url)
    try await container.query { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetchOne(From<ScalesV2.Dog>())?.weight == 12)
      #expect(try context.fetchOne(From<ScalesV2.Cat>())?.motto == "miaow")
      #expect(try context.count(From<ScalesV2.Animal>()) == 3)
    }
    #expect(try await container.verify() == [])
    try await container.write { context in context.insert(ScalesV2.Dog("new", weight: 3)) }
    // After the stage, the attribute is required again.
    let error = await #expect(throws: ContextError.self) {
      try await container.batchInsert(ScalesV2.Cat.self, from: ["c"], .set(\.name) { $0 })
    }
    #expect(error?.code == .missingValue)
  }

  @Test func whatIsMissingAfterTheStageIsNamed() async throws {
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Scales", plan: Self.plan(givesMottos: false), at: url)
    }
    #expect(error?.code == .missingValue && error?.context.properties == ["motto"])
    #expect(error?.refusal?.offenders.map(\.objectID.entityName) == ["Cat"])
    // The store still has version 1.
    let container = try await PersistentContainer("Scales", models: ScalesV1.Animal.self, at: url)
    let count = try await container.query { try $0.count(From<ScalesV1.Dog>()) }
    #expect(count == 1)
  }
}
