import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

@Embeddable struct Position: Hashable {
  var latitude: Double
  var longitude: Double
  var note: String?
}

@Embeddable struct Site: Hashable {
  @Embedded var entrance: Position
  var name: String
  @Embedded var exit: Position
  var isOpen: Bool = true
}

/// A value whose only parts are embedded values.
@Embeddable struct Leg: Hashable {
  @Embedded var start: Site
  @Embedded var end: Site
}

@Model final class Trek {
  #Index<Trek>([\.site.entrance.latitude, \.name], [\.shelter?.exit.note])
  @Attribute(.unique) var name: String
  @Embedded var site: Site
  @Embedded var shelter: Site?
  @Embedded var leg: Leg?

  init(_ name: String, site: Site) {
    self.name = name
    self.site = site
  }
}

enum EarlierTreks {
  @Embeddable struct Point: Hashable {
    var lat: Double
  }
  @Embeddable struct Site: Hashable {
    var name: String
    @Embedded var gate: Point
  }
  @Model final class Trek {
    @Embedded var place: Site
    init(_ site: Site) { place = site }
  }
}

enum RenamedTreks {
  @Embeddable struct Point: Hashable {
    @Attribute(originalName: "lat") var latitude: Double
    var height: Int = 7
  }
  @Embeddable struct Site: Hashable {
    var name: String
    @Embedded(originalName: "gate") var entrance: Point
  }
  @Model final class Trek {
    #Index<Trek>([\.site.entrance.latitude])
    @Embedded(originalName: "place") var site: Site
    init(_ site: Site) { self.site = site }
  }
}

/// Embedded values in embedded values.
struct NestedEmbeddedTests {
  private static let kyoto = Site(
    entrance: Position(latitude: 35, longitude: 135.7, note: "gate"),
    name: "Kyoto",
    exit: Position(latitude: 35.1, longitude: 135.8)
  )
  private static let nara = Site(
    entrance: Position(latitude: 34.6, longitude: 135.8),
    name: "Nara",
    exit: Position(latitude: 34.7, longitude: 135.9, note: "deer"),
    isOpen: false
  )

  private func open() async throws -> PersistentContainer {
    try await PersistentContainer("Treks", models: Trek.self, at: .inMemory)
  }

  @Test func partsAreAttributesOfTheEntity() throws {
    let trek = try #require(try Schema([Trek.self]).entity(named: "Trek"))
    let site = [
      "site.name", "site.isOpen", "site.entrance.latitude", "site.entrance.longitude", "site.entrance.note",
      "site.exit.latitude", "site.exit.longitude", "site.exit.note",
    ]
    #expect(trek.attributes.prefix(9).map(\.name) == ["name"] + site)
    #expect(Site._Parts.count == 8 && Leg._Parts.count == 16 && Site._Parts.attributes.count == 8)
    #expect(trek.attributes.count == 1 + 8 + 9 + 17)
  }

  @Test func aValueIsStoredAndReadBack() async throws {
    let container = try await open()
    let leg = Leg(start: Self.kyoto, end: Self.nara)
    try await container.write { context in
      let trek = Trek("a", site: Self.kyoto)
      trek.leg = leg
      #expect(trek.site == Self.kyoto && trek.shelter == nil && trek.leg == leg)
      context.insert(trek)
      context.insert(Trek("b", site: Self.nara))
      #expect(trek.site == Self.kyoto && trek.leg == leg)
    }
    try await container.write { (context: ManagedObjectContext) throws -> Void in
      let trails = try context.fetch(From<Trek>().orderBy(\.name))
      #expect(trails.map(\.site) == [Self.kyoto, Self.nara])
      #expect(trails.map(\.leg) == [leg, nil])
      trails[0].site.entrance.note = nil
      trails[0].leg?.end.exit.latitude = 1
      trails[1].shelter = Self.kyoto
      #expect(try trails[0].value(forKeyPath: "leg.end.exit.latitude") == .double(1))
      #expect(throws: ContextError.self) { try trails[0].value(forKeyPath: "leg.end.exit") }
      let changed = Set(trails[0].changedValues.keys)
      #expect(changed == ["site.entrance.note", "leg.end.exit.latitude"])
    }
    try await container.query { (context: ManagedObjectContext) throws -> Void in
      let trails = try context.fetch(From<Trek>().orderBy(\.name))
      #expect(trails[0].site.entrance == Position(latitude: 35, longitude: 135.7))
      #expect(trails[0].leg?.end.exit == Position(latitude: 1, longitude: 135.9, note: "deer"))
      #expect(trails[1].shelter == Self.kyoto && trails[1].site == Self.nara)
    }
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func partsAreAskedFor() async throws {
    let container = try await open()
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    for (name, site) in [("a", Self.kyoto), ("b", Self.nara), ("c", Self.kyoto)] {
      context.insert(Trek(name, site: site))
    }
    let all = From<Trek>()
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      func names(_ request: From<Trek>) throws -> [String] {
        try context.fetch(request).map(\.name).sorted()
      }
      #expect(try names(all.where { $0.site.entrance.latitude > 34.9 }) == ["a", "c"])
      #expect(try names(all.where { $0.site.exit.note == "deer" && $0.shelter == nil }) == ["b"])
      #expect(try names(all.where(\.site.entrance.note == nil)) == ["b"])
      #expect(try names(all.where(#Predicate<Trek> { $0.site.exit.latitude < 35 })) == ["b"])
      #expect(try names(all.where(format: "site.entrance.latitude == 35 && leg == nil")) == ["a", "c"])
      let sorted = try context.fetch(all.orderBy(.descending(\.site.exit.longitude), .descending(\.name)))
      #expect(sorted.map(\.name) == ["b", "c", "a"])
      #expect(try context.fetch(all.orderBy(\.name).select(\.site.exit.latitude)) == [35.1, 34.7, 35.1])
    }
    let plan = try context.explain(all.where { $0.site.entrance.latitude == 35 }).description
    #expect(plan.contains("site.entrance.latitude"))
    try await container.batchUpdate(all.where { $0.name == "c" }, .set(\.site.exit.note, to: "left"))
    try context.refresh()
    #expect(try context.count(all.where { $0.site.exit.note == "left" }) == 1)
    #expect(throws: ContextError.self) { try context.count(all.where(format: "site.entrance == nil")) }
  }

  @Test func everyKeyPathHasItsNames() throws {
    func names(_ keyPath: PartialKeyPath<Trek>) throws -> [String] { try Trek.predicatePath(of: keyPath) }
    #expect(try names(\.site.entrance.latitude) == ["site", "entrance", "latitude"])
    #expect(try names(\.site.exit.latitude) == ["site", "exit", "latitude"])
    #expect(try names(\.site.exit.note) == ["site", "exit", "note"])
    #expect(try names(\.site.isOpen) == ["site", "isOpen"])
    #expect(try names(\.shelter?.entrance.note) == ["shelter", "entrance", "note"])
    #expect(try names(\.leg?.end.entrance.longitude) == ["leg", "end", "entrance", "longitude"])
    #expect(throws: QueryError.self) { try names(\.site.exit) }
  }

  @Test func changesOfPartsMerge() async throws {
    let container = try await open()
    let (mine, theirs) = (
      try ManagedObjectContext(coordinator: container.coordinator),
      try ManagedObjectContext(coordinator: container.coordinator)
    )
    mine.mergePolicy = .mergeByPropertyObjectTrump
    let trek = Trek("a", site: Self.kyoto)
    mine.insert(trek)
    try mine.save()
    try theirs.refresh()
    let other = try theirs.existingObject(Trek.self, with: trek.objectID)
    trek.site.exit.latitude = 1
    other.site.exit.longitude = 2
    other.site.entrance.note = "theirs"
    try theirs.save()
    try mine.save()
    #expect(trek.site.exit == Position(latitude: 1, longitude: 2))
    #expect(trek.site.entrance.note == "theirs")
  }

  @Test func aPolicyResolvesAPart() async throws {
    let container = try await open()
    let (mine, theirs) = (
      try ManagedObjectContext(coordinator: container.coordinator),
      try ManagedObjectContext(coordinator: container.coordinator)
    )
    mine.mergePolicy = .custom { conflict in
      conflict.resolve(\Trek.site.exit.latitude) { base, mine, theirs in mine + theirs - (base ?? 0) }
    }
    let trek = Trek("a", site: Self.kyoto)
    mine.insert(trek)
    try mine.save()
    try theirs.refresh()
    trek.site.exit.latitude += 1
    try theirs.existingObject(Trek.self, with: trek.objectID).site.exit.latitude += 2
    try theirs.save()
    try mine.save()
    #expect(abs(trek.site.exit.latitude - 38.1) < 1e-9)
  }

  @Test func undoingGivesPartsBack() async throws {
    let container = try await open()
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    context.undoManager = ContextUndoManager()
    let trek = Trek("a", site: Self.kyoto)
    context.insert(trek)
    context.processPendingChanges()
    trek.site.entrance = Self.nara.entrance
    trek.shelter = Self.nara
    context.undo()
    #expect(trek.site == Self.kyoto && trek.shelter == nil)
    context.redo()
    #expect(trek.site.entrance == Self.nara.entrance && trek.shelter == Self.nara)
  }

  @Test func valuesAreJSONObjectsInObjects() async throws {
    let container = try await open()
    let trek = Trek("a", site: Self.kyoto)
    trek.leg = Leg(start: Self.nara, end: Self.kyoto)
    let values = trek.values
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let json = String(decoding: try encoder.encode(values), as: UTF8.self)
    let exit = #""exit":{"latitude":35.1,"longitude":135.8},"isOpen":true,"name":"Kyoto"}"#
    #expect(json.contains(#""site":{"entrance":{"latitude":35,"longitude":135.7,"note":"gate"},"# + exit))
    #expect(!json.contains("shelter"))
    let decoded = try JSONDecoder().decode(Trek.Values.self, from: Data(json.utf8))
    #expect(decoded == values)
    let lacking = json.replacing(#""exit":{"latitude":35.1,"longitude":135.8},"#, with: "")
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Trek.Values.self, from: Data(lacking.utf8))
    }
    let id = try await container.write { context in try context.insert(decoded).objectID }
    try await container.query { (context: ManagedObjectContext) throws -> Void in
      let stored = try context.existingObject(Trek.self, with: id)
      #expect(stored.site == Self.kyoto && stored.leg == values.leg)
      #expect(try context.fetch(From<Trek>().values(Trek.Values.self)).map(\.site) == [Self.kyoto])
    }
  }

  @Test func theCompilerTakesTheSource() throws {
    let text = try SwiftSource(Schema([Trek.self])).description
    let expected = [
      "@Embeddable struct TrekSite {", "  @Embedded var entrance: TrekSiteEntrance\n",
      "  @Embedded var end: TrekLegEnd\n", "@Embeddable struct TrekLegEndExit {",
      "#Index<Trek>([\\.site.entrance.latitude, \\.name])", "#Index<Trek>([\\.shelter?.exit.note])",
      "  var latitude: Double\n",
    ]
    for line in expected { #expect(text.contains(line), "\(line)\n\(text)") }
    let messages = try Compiler.messages(for: text, after: "")
    #expect(messages.isEmpty, "\(messages)\n\(text)")
  }

  @Test func partsAreRenamedAtEveryDepth() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("trails.cambium"))
    let earlier = try await PersistentContainer("Treks", models: EarlierTreks.Trek.self, at: url)
    try await earlier.write { context in
      for number in 0..<9 {
        let point = EarlierTreks.Point(lat: Double(number))
        context.insert(EarlierTreks.Trek(.init(name: "\(number)", gate: point)))
      }
    }
    try await earlier.close()
    let container = try await PersistentContainer("Treks", models: RenamedTreks.Trek.self, at: url)
    try await container.query { (context: ManagedObjectContext) throws -> Void in
      let found = try context.fetch(From<RenamedTreks.Trek>().where { $0.site.entrance.latitude == 4 })
      #expect(found.map(\.site) == [.init(name: "4", entrance: .init(latitude: 4))])
    }
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func anAttributeIsNoEmbeddedValueAsWell() {
    let entity = EntityDescription(
      name: "Thing",
      properties: [
        .attribute("a", Bool?.self), .attribute("a.b", Bool?.self), .attribute("a.b.c", Int?.self),
      ]
    )
    #expect(throws: SchemaError.self) { try Schema(entities: [entity]) }
  }
}
