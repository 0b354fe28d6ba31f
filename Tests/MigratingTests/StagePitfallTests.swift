import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Schemas of one entity, `Item`, that the tests give their attributes.
private func items(_ attributes: AttributeDescription...) throws(SchemaError) -> Schema {
  try Schema(entities: [EntityDescription(name: "Item", properties: attributes.map { .attribute($0) })])
}

private enum Renamed {
  enum V1: VersionedSchema { static let version = Schema.Version(1) }
  enum V2: VersionedSchema {
    static let version = Schema.Version(2)
    static func schema() throws(SchemaError) -> Schema? {
      try items(
        AttributeDescription(name: "b", kind: .string, isOptional: true, originalName: "a")
      )
    }
  }
  enum V3: VersionedSchema {
    static let version = Schema.Version(3)
    static func schema() throws(SchemaError) -> Schema? {
      try items(
        AttributeDescription(name: "c", kind: .string, isOptional: true, originalName: "b")
      )
    }
  }
}

private enum Folded {
  enum V1: VersionedSchema {
    static let version = Schema.Version(1)
    static func schema() throws(SchemaError) -> Schema? {
      try items(AttributeDescription(name: "name", kind: .string, isOptional: true))
    }
  }
  enum V2: VersionedSchema {
    static let version = Schema.Version(2)
    static func schema() throws(SchemaError) -> Schema? {
      try items(
        AttributeDescription(name: "title", kind: .string),
        AttributeDescription(
          name: "sortTitle",
          kind: .string,
          derivation: "title[c]"
        )
      )
    }
  }
}

private enum Seats {
  enum V1: VersionedSchema {
    static let version = Schema.Version(1)
    static func schema() throws(SchemaError) -> Schema? {
      try items(
        AttributeDescription(name: "seats", kind: .int64, isOptional: true),
        AttributeDescription(name: "rows", kind: .int64, isOptional: true)
      )
    }
  }
  enum V2: VersionedSchema {
    static let version = Schema.Version(2)
    static func schema() throws(SchemaError) -> Schema? {
      try items(
        AttributeDescription(name: "seats", kind: .int16, isOptional: true, defaultValue: .int(4)),
        AttributeDescription(name: "rows", kind: .int16, defaultValue: .int(5))
      )
    }
  }
}

private enum HomeVersions {
  enum V1: VersionedSchema {
    static let version = Schema.Version(1)
    static var models: [any ManagedObject.Type] { [Person.self] }
    @Embeddable struct Home: Hashable {
      var number: String?
      var zone: String?
    }
    @Model final class Person {
      @Embedded var home: Home?
      init() {}
    }
  }
  enum V2: VersionedSchema {
    static let version = Schema.Version(2)
    static var models: [any ManagedObject.Type] { [Person.self] }
    @Embeddable struct Home: Hashable {
      var number: Int
      var zone: Int
    }
    @Model final class Person {
      @Embedded var home: Home?
      init() {}
    }
  }
}

/// Stages and plans for which the first and the last schema alone don't determine the result.
struct StagePitfallTests {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("items.cambium"))
  }

  /// Makes a store of one version, and closes it.
  private func make(
    _ version: any VersionedSchema.Type,
    _ fill: (ManagedObjectContext) throws -> Void
  ) async throws {
    let container = try await PersistentContainer("Items", plan: MigrationPlan([version]), at: url)
    let context = try container.context()
    try fill(context)
    try context.save()
    context.end()
    try await container.close()
  }

  private func item(_ plan: MigrationPlan, _ names: String...) async throws -> [AttributeValue] {
    let container = try await PersistentContainer("Items", plan: plan, at: url)
    let context = try container.context()
    let record = try #require(try context.fetch(DynamicQuery("Item")).first)
    let values = try names.map { try record[$0] }
    context.end()
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    return values
  }

  /// The newest version doesn't mention the first name, and a store without a version doesn't say that it has this name.
  @Test func aStoreOfNoVersionIsNotTakenPastTwoRenames() async throws {
    let first = try items(AttributeDescription(name: "a", kind: .string, isOptional: true))
    let container = try await PersistentContainer("Items", schema: first, at: url)
    let context = try container.context()
    try context.insert(entity: "Item").set("a", to: "kept")
    try context.save()
    context.end()
    try await container.close()
    let before = try Data(contentsOf: url)
    let plan = MigrationPlan([Renamed.V1.self, Renamed.V2.self, Renamed.V3.self])
    let error = await #expect(throws: ContextError.self) { _ = try await item(plan, "c") }
    #expect(error?.code == .schemaMismatch)
    #expect(try Data(contentsOf: url) == before)
    // A plan with only the version that mentions the name works.
    #expect(try await item(MigrationPlan([Renamed.V2.self]), "b") == [.string("kept")])
    #expect(try await item(plan, "c") == [.string("kept")])
  }

  @Test func aStageFillsTheSourceOfAFoldedCopy() async throws {
    try await make(Folded.V1.self) { try $0.insert(entity: "Item").set("name", to: "Blue") }
    let plan = MigrationPlan(
      [Folded.V1.self, Folded.V2.self],
      stages: [
        .custom(
          from: Folded.V1.self,
          to: Folded.V2.self,
          .forEach("Item") { batch in
            for item in batch.objects {
              let name: String? = try item.value("name")
              try batch.successor(of: item)?.set("title", to: name ?? "")
            }
          }
        )
      ]
    )
    #expect(try plan.forecasts(at: url).allSatisfy(\.isPossible))
    #expect(try await item(plan, "title", "sortTitle") == [.string("Blue"), .string("blue")])
  }

  @Test func aNilThatIsConvertedStaysOneWhereItCan() async throws {
    try await make(Seats.V1.self) { _ = try $0.insert(entity: "Item") }
    let plan = MigrationPlan(
      [Seats.V1.self, Seats.V2.self],
      stages: [
        .custom(
          from: Seats.V1.self,
          to: Seats.V2.self,
          .converting("seats", of: "Item", .orNil),
          .converting("rows", of: "Item", .orNil)
        )
      ]
    )
    #expect(try await item(plan, "seats", "rows") == [.null, .int(5)])
  }

  @Test func twoPassesFillAnEmbeddedValue() async throws {
    try await make(HomeVersions.V1.self) { context in
      let person = HomeVersions.V1.Person()
      person.home = HomeVersions.V1.Home(number: "1", zone: "2")
      context.insert(person)
    }
    let plan = MigrationPlan(
      [HomeVersions.V1.self, HomeVersions.V2.self],
      stages: [
        .custom(
          from: HomeVersions.V1.self,
          to: HomeVersions.V2.self,
          .converting("home.number", of: "Person", .clamping),
          .converting("home.zone", of: "Person", .clamping)
        )
      ]
    )
    let container = try await PersistentContainer("Items", plan: plan, at: url)
    let context = try container.context()
    #expect(
      try context.fetch(From<HomeVersions.V2.Person>()).map(\.home) == [
        HomeVersions.V2.Home(number: 1, zone: 2)
      ]
    )
    context.end()
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
  }

  @Test func aNilPartBecomesTheDefaultWhereItMustNotBeNil() async throws {
    try await make(DefaultHomes.V1.self) { context in
      let person = DefaultHomes.V1.Person()
      person.home = DefaultHomes.V1.Home(number: nil)
      context.insert(person)
    }
    let plan = MigrationPlan(
      [DefaultHomes.V1.self, DefaultHomes.V2.self],
      stages: [
        .custom(
          from: DefaultHomes.V1.self,
          to: DefaultHomes.V2.self,
          .converting("home.number", of: "Person", .clamping)
        )
      ]
    )
    let container = try await PersistentContainer("Items", plan: plan, at: url)
    let context = try container.context()
    #expect(try context.fetch(From<DefaultHomes.V2.Person>()).map(\.home?.number) == [4])
    context.end()
    try await container.close()
  }

  @Test func aDocumentSaysWhichPartsAreRequired() throws {
    for isRequired in [false, true] {
      let data = try JSONEncoder().encode(SchemaDocument(LackedParts.schema(isRequired: isRequired)))
      let schema = try JSONDecoder().decode(SchemaDocument.self, from: data).schema()
      #expect(schema.entity(named: "Item")?.attribute(named: "home.city")?.isRequiredPart == isRequired)
    }
  }

  /// A program never sets the flag that says whether an embedded value is there.
  @Test func anEmbeddedValueDoesNotContinueTrueOrFalse() async throws {
    let store = try ChangingStore()
    let plain = EntityDescription(
      name: "Item",
      properties: [.attribute(AttributeDescription(name: "work", kind: .bool, isOptional: true))]
    )
    try await store.open(plain) { try $0.insert(entity: "Item").set("work", to: false) }
    let embedded = EntityDescription(
      name: "Item",
      properties: [
        .attribute(AttributeDescription(name: "work", kind: .bool, isOptional: true)),
        .attribute(AttributeDescription(name: "work.city", kind: .string, isOptional: true)),
      ]
    )
    let error = try await store.refusal(of: embedded)
    #expect(error.code == .schemaMismatch && error.refusal?.obstacles.map(\.property) == ["work"])
  }
}

enum DefaultHomes {
  enum V1: VersionedSchema {
    static let version = Schema.Version(1)
    static var models: [any ManagedObject.Type] { [Person.self] }
    @Embeddable struct Home: Hashable {
      var number: String?
    }
    @Model final class Person {
      @Embedded var home: Home?
      init() {}
    }
  }
  enum V2: VersionedSchema {
    static let version = Schema.Version(2)
    static var models: [any ManagedObject.Type] { [Person.self] }
    @Embeddable struct Home: Hashable {
      var number: Int = 4
    }
    @Model final class Person {
      @Embedded var home: Home?
      init() {}
    }
  }
}

private enum LackedParts {
  static func schema(isRequired: Bool) throws(SchemaError) -> Schema {
    var part = AttributeDescription(name: "home.city", kind: .string, isOptional: true)
    part.isRequiredPart = isRequired
    return try items(
      AttributeDescription(name: "home", kind: .bool, isOptional: true),
      part
    )
  }
}
