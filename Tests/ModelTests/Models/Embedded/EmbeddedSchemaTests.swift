import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Embedded values in schemas: their storage, their migration and their text.
struct EmbeddedSchemaTests {
  private static let models: [any ManagedObject.Type] = [Tenant.self, Landlord.self, Visit.self]

  @Test func partsAreAttributesOfTheEntity() throws {
    let schema = try Schema(Self.models)
    let tenant = try #require(schema.entity(named: "Tenant"))
    let parts = ["street", "city", "number", "isCentral", "isQuiet", "zone", "otherZone", "keywords"]
    let names = parts.map { "home.\($0)" } + ["work"] + parts.map { "work.\($0)" }
    #expect(tenant.attributes.map(\.name) == ["name"] + names)
    let home = try #require(tenant.attributes.first { $0.name == "home.city" })
    let work = try #require(tenant.attributes.first { $0.name == "work.city" })
    #expect(!home.isOptional && home.defaultValue == .string("Kyoto"))
    #expect(work.isOptional && work.defaultValue == nil)
  }

  @Test func aDocumentKeepsThem() throws {
    let schema = try Schema(Self.models)
    let data = try JSONEncoder().encode(SchemaDocument(schema))
    #expect(try JSONDecoder().decode(SchemaDocument.self, from: data).schema() == schema)
  }

  @Test func theSourceHasStructs() throws {
    let text = try SwiftSource(Schema(Self.models)).description
    let lines = [
      "@Embeddable struct TenantHome {", "  var city: String = \"Kyoto\"",
      "  @Embedded var home: TenantHome\n",
      "  @Embedded var work: TenantWork?\n", "#Index<Tenant>([\\.home.city, \\.name])",
      "init(name: String, home: TenantHome) {", "@Embeddable struct LandlordOffice {",
    ]
    for line in lines {
      #expect(text.contains(line), "\(line)\n\(text)")
    }
  }

  @Test func theCompilerTakesTheSource() throws {
    let text = try SwiftSource(Schema(Self.models + [Inhabitant.self])).description
    let messages = try Compiler.messages(for: text, after: "")
    #expect(messages.isEmpty, "\(messages)\n\(text)")
  }

  @Test func aStructMayBeOfAnyAccessAndHaveAnyNames() throws {
    let source = """
      import Cambium
      @MainActor public final class Window {}
      @Embeddable nonisolated public struct Frame: Hashable, Codable {
        public var `in`: Int = 0
        var slot: Int
        private(set) var object: String = ""
        var value: Double?
        var part: Bool = true
        public var _parts: [Int] = []
        var area: Int { slot * slot }
        public init(slot: Int) { self.slot = slot }
      }
      @Model public final class Picture {
        @Embeddable nonisolated struct Inner: Sendable { var x: Int; var y: Int = 0 }
        public var name: String
        @Embedded public var frame: Frame = Frame(slot: 1)
        @Embedded private(set) var other: Frame?
        @Embedded var inner: Inner
        public init(name: String) { self.name = name; inner = Inner(x: 1) }
      }
      func ask(_ context: ManagedObjectContext) throws -> Int {
        try context.count(From<Picture>().where { $0.frame.in > 1 && $0.inner.x == 2 && $0.other != nil })
      }
      """
    for flags in [[], ["-default-isolation", "MainActor"]] {
      let messages = try Compiler.messages(for: source, after: "", flags: flags)
      #expect(messages.isEmpty, "\(flags) \(messages)")
    }
    let mistake = try Compiler.messages(
      for:
        "import Cambium\nstruct Plain { var x: Int }\n@Model final class A { @Embedded var plain: Plain; init(_ p: Plain) { plain = p } }",
      after: ""
    )
    let isNamed = mistake.map { $0.contains("'Plain'") && $0.contains("'EmbeddedProperty'") }
    #expect(isNamed.first == true, "\(mistake)")
    // The macro that would make the storage doesn't apply, so the compiler doesn't find the storage either.
    #expect(zip(mistake, isNamed).allSatisfy { $1 || $0.contains("cannot find '_plain'") }, "\(mistake)")
  }

  @Test func namesThatAreNoPartsAreRefused() throws {
    func problems(_ properties: [PropertyDescription]) -> [String] {
      do {
        _ = try Schema(entities: [EntityDescription(name: "Tenant", properties: properties)])
        return []
      } catch { return error.problems }
    }
    #expect(problems([.attribute("home.city", String.self)]) == [])
    #expect(problems([.attribute("home", Bool?.self), .attribute("home.city", String?.self)]) == [])
    #expect(
      problems([.attribute("home", Int.self), .attribute("home.city", String.self)])
        == ["Tenant.home.city is a part of home, which is not an embedded value"]
    )
    for name in ["home.", ".city", "home..city", "home.1", "a.b.c."] {
      #expect(problems([.attribute(name, String.self)]).count == 1)
    }
  }

  /// A store of an earlier version: without `work`, and with `home` under another name.
  private func makeEarlier(at url: URL) async throws {
    let address = [
      EmbeddedDescription("address", EarlierAddress.self)
    ]
    let earlier = ModelDescription(
      EntityDescription(
        name: "Inhabitant",
        properties: [.attribute("name", String.self)],
        indexes: [IndexDescription(["address.town"])]
      ),
      embedding: address
    )
    let schema = try Schema(entities: [earlier.entity])
    let container = try await PersistentContainer("People", schema: schema, at: .file(url))
    try await container.write { context in
      for number in 0..<50 {
        let person = try context.insert(entity: "Inhabitant")
        try person.set("name", to: "P\(number)")
        try person.set("address.street", to: "S\(number)")
        try person.set("address.town", to: number % 2 == 0 ? "Kyoto" : "Nara")
      }
    }
    try await container.close()
  }

  @Test func partsAreAddedAndRenamed() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("people.cambium"))
    try await makeEarlier(at: url)
    let container = try await PersistentContainer("People", models: Inhabitant.self, at: url)
    try await container.performBackgroundTask { context in
      let request = From<Inhabitant>().where { $0.home.city == "Nara" }
      let people = try context.fetch(request.orderBy(.ascending(\.name)))
      #expect(people.count == 25)
      #expect(people[0].home == InhabitantAddress(street: "S1", city: "Nara", country: "Japan"))
      #expect(people[0].work == nil)
      people[0].work = InhabitantAddress(street: "W", city: "Uji", country: "Japan")
      try context.save()
      let working = From<Inhabitant>().where { $0.work.city == "Uji" }
      #expect(try context.count(working) == 1)
    }
    #expect(try await container.verify().map(\.description) == [])
  }
}

@Embeddable private struct EarlierAddress: Hashable {
  var street: String
  var town: String
}

@Embeddable struct InhabitantAddress: Hashable {
  var street: String
  @Attribute(originalName: "town") var city: String
  var country: String = "Japan"
}

@Model final class Inhabitant {
  #Index<Inhabitant>([\.home.city], [\.work?.city])
  var name: String
  @Embedded(originalName: "address") var home: InhabitantAddress
  @Embedded var work: InhabitantAddress?

  init(_ name: String, home: InhabitantAddress) {
    self.name = name
    self.home = home
  }
}
