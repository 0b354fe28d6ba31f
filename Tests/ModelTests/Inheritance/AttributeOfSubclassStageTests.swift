import Cambium
import Foundation
import TestSupport
import Testing

private enum CollarsV1: VersionedSchema {
  static let version = Schema.Version(1)
  static var models: [any ManagedObject.Type] { [Pet.self] }

  @Model(subclasses: ["Hound"])
  class Pet {
    var name: String
    var collar: String
    init(_ name: String, collar: String) {
      self.name = name
      self.collar = collar
    }
  }
  @Model(superclass: "Pet")
  final class Hound: Pet {
    override init(_ name: String, collar: String) { super.init(name, collar: collar) }
  }
}

private enum CollarsV2: VersionedSchema {
  static let version = Schema.Version(2)
  static var models: [any ManagedObject.Type] { [Pet.self] }

  @Model(subclasses: ["Hound"])
  class Pet {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Pet")
  final class Hound: Pet {
    var collar: Int
    init(_ name: String, collar: Int) {
      self.collar = collar
      super.init(name)
    }
  }
}

/// A stage that converts an attribute which only a subclass has from then on.
struct AttributeOfSubclassStageTests {
  @Test func objectsOfOtherClassesLoseTheirValues() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("collars.cambium"))
    do {
      let container = try await PersistentContainer("Collars", models: CollarsV1.Pet.self, at: url)
      try await container.write { context in
        context.insert(CollarsV1.Hound("Rex", collar: "7"))
        context.insert(CollarsV1.Pet("Nemo", collar: "9"))
      }
      try await container.close()
    }
    let plan = MigrationPlan(
      [CollarsV1.self, CollarsV2.self],
      stages: [
        .custom(from: CollarsV1.self, to: CollarsV2.self, .converting("collar", of: "Pet", .clamping))
      ]
    )
    let container = try await PersistentContainer("Collars", plan: plan, at: url)
    try await container.query { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetchOne(From<CollarsV2.Hound>())?.collar == 7)
      #expect(try context.fetch(From<CollarsV2.Pet>()).map(\.name).sorted() == ["Nemo", "Rex"])
    }
    #expect(try await container.verify() == [])
    try await container.close()
  }
}
