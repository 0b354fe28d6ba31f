import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

struct EmbeddedTests {
  private func open(_ location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Tenants",
      models: Tenant.self,
      Landlord.self,
      Visit.self,
      at: location
    )
  }

  private static let kyoto = Address(street: "Sanjo", number: 3, zone: .south, keywords: ["river"])
  private static let osaka = Address(street: "Midosuji", city: "Osaka", isCentral: true, otherZone: .west)

  @Test func aValueIsStoredAndReadBack() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let ann = Tenant("Ann", home: Self.kyoto)
      ann.work = Self.osaka
      let ben = Tenant("Ben", home: Self.osaka)
      ann.landlord = Landlord()
      ann.visits = [Visit(1), Visit(2)]
      #expect(ann.home == Self.kyoto && ann.work == Self.osaka && ben.work == nil)
      context.insert(ann)
      context.insert(ben)
      #expect(ann.home == Self.kyoto && ann.work == Self.osaka && ben.work == nil)
      try context.save()
      #expect(ann.home == Self.kyoto && ann.work == Self.osaka && ben.work == nil)
    }
    try await container.performBackgroundTask { context in
      let tenants = try context.fetch(From<Tenant>().orderBy(.ascending(\.name)))
      #expect(tenants.map(\.home) == [Self.kyoto, Self.osaka])
      #expect(tenants.map(\.work) == [Self.osaka, nil])
      #expect(tenants[0].visits.count == 2 && tenants[0].landlord?.office.city == "Kyoto")
      #expect(!context.hasChanges)
    }
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func partsAreAskedFor() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let ann = Tenant("Ann", home: Self.kyoto)
      ann.work = Self.osaka
      ann.landlord = Landlord()
      context.insert(ann)
      context.insert(Tenant("Ben", home: Self.osaka))
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        func names(_ request: From<Tenant>) throws -> [String] {
          try context.fetch(request).map(\.name).sorted()
        }
        let all = From<Tenant>()
        #expect(try names(all.where { $0.home.city == "Osaka" }) == ["Ben"])
        #expect(try names(all.where { $0.work == nil }) == ["Ben"])
        #expect(try names(all.where { $0.work != nil }) == ["Ann"])
        #expect(try names(all.where { $0.work.city == "Osaka" }) == ["Ann"])
        #expect(try names(all.where { $0.home.isCentral }) == ["Ben"])
        #expect(try names(all.where { $0.home.zone == .south && $0.home.number > 2 }) == ["Ann"])
        #expect(try names(all.where { $0.home.keywords.contains("river") }) == ["Ann"])
        #expect(try names(all.where { $0.landlord.office.street == "Main" }) == ["Ann"])
        #expect(try names(all.where(\.home.city == "Kyoto")) == ["Ann"])
        #expect(try names(all.where(\.work?.city == "Osaka")) == ["Ann"])
        #expect(try names(all.where(format: "home.city == 'Kyoto' AND work.isCentral == YES")) == ["Ann"])
        #expect(try names(all.where(format: "landlord.office.city BEGINSWITH 'K'")) == ["Ann"])
        #expect(try names(all.where(#Predicate<Tenant> { $0.home.city == "Osaka" })) == ["Ben"])
        #expect(try names(all.where(#Predicate<Tenant> { $0.work?.city == "Osaka" })) == ["Ann"])
        let sorted = all.orderBy(.descending(\.home.city), .ascending(\.home.zone)).select(\.home.street)
        #expect(try context.fetch(sorted) == ["Midosuji", "Sanjo"])
        let landlords = From<Landlord>().where { $0.tenants.any { $0.home.city == "Kyoto" } }
        #expect(try context.count(landlords) == 1)
      }
      let plan = try context.explain(From<Tenant>().where { $0.home.city == "Osaka" }).description
      #expect(plan.contains("home.city"))
    }
  }

  @Test func everyKeyPathHasItsNames() throws {
    func names(_ keyPath: PartialKeyPath<Tenant>) throws -> [String] { try Tenant.predicatePath(of: keyPath) }
    #expect(try names(\.home.number!) == ["home", "number"])
    #expect(try names(\.home.street) == ["home", "street"])
    #expect(try names(\.home.number) == ["home", "number"])
    #expect(try names(\.home.isCentral) == ["home", "isCentral"])
    #expect(try names(\.home.isQuiet) == ["home", "isQuiet"])
    #expect(try names(\.home.zone) == ["home", "zone"])
    #expect(try names(\.home.otherZone) == ["home", "otherZone"])
    #expect(try names(\.home.keywords) == ["home", "keywords"])
    #expect(try names(\.work?.isQuiet) == ["work", "isQuiet"])
    #expect(try names(\.work) == ["work"])
    #expect(try names(\.home) == ["home"])
    #expect(try names(\.landlord?.office.zone) == ["landlord", "office", "zone"])
    #expect(throws: QueryError.self) { try names(\.home.street.count) }
    #expect(throws: QueryError.self) { try names(\.home.hashValue) }
  }

  @Test func changesOfPartsMerge() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let ann = Tenant("Ann", home: Self.kyoto)
      context.insert(ann)
      try context.save()
      let other = try container.newBackgroundContext()
      let id = ann.objectID
      try other.performAndWait { context in
        let ann = try context.object(Tenant.self, with: id)
        ann.home.city = "Nara"
        #expect(ann.changedValues.keys.sorted() == ["home.city"])
        try context.save()
      }
      ann.home.isQuiet = false
      ann.work = Self.osaka
      try context.save()
      #expect(ann.home.city == "Nara" && ann.home.isQuiet == false && ann.home.street == "Sanjo")
      ann.work = nil
      #expect(ann.work == nil)
      ann.home = Self.osaka
      context.rollback()
      #expect(ann.work == Self.osaka && ann.home.city == "Nara")
      ann.work = nil
      try context.save()
    }
    try await container.performBackgroundTask { context in
      let ann = try #require(try context.fetch(From<Tenant>()).first)
      #expect(ann.work == nil && ann.home.city == "Nara")
      let request = From<Tenant>().where { $0.work.city == nil }
      #expect(try context.count(request) == 1)
    }
    try await container.batchUpdate(From<Tenant>(), .set(\.home.city, to: "Uji"), .set(\.home.number, to: 9))
    let city = try await container.query { try $0.fetch(From<Tenant>().select(\.home.city)) }
    #expect(city == ["Uji"])
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func rulesOfPartsAreChecked() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let ann = Tenant("Ann", home: Address(street: "A", number: 0))
      context.insert(ann)
      context.insert(Tenant("Ben", home: Address(street: "B", number: 1)))
      context.insert(Tenant("Cem", home: Address(street: "B", number: 1)))
      do throws(ContextError) {
        try context.save()
        Issue.record("it was saved")
      } catch {
        let properties = Set(error.failures.flatMap(\.context.properties))
        #expect(properties == ["home.number", "home.street"])
      }
      context.rollback()
    }
  }

  @Test func undoingGivesPartsBack() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let undo = ContextUndoManager()
      context.undoManager = undo
      let ann = Tenant("Ann", home: Self.kyoto)
      context.insert(ann)
      try context.save()
      undo.removeAllActions()
      undo.beginUndoGrouping()
      ann.home.city = "Nara"
      ann.work = Self.osaka
      undo.endUndoGrouping()
      try context.save()
      context.undo()
      #expect(ann.home == Self.kyoto && ann.work == nil)
      context.redo()
      #expect(ann.home.city == "Nara" && ann.work == Self.osaka)
      try context.save()
    }
  }

  @Test func recordsHaveTheParts() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("tenants.cambium"))
    let container = try await open(.file(url))
    try await container.write { context in context.insert(Tenant("Ann", home: Self.kyoto)) }
    try await container.close()
    let plain = try await PersistentContainer("Tenants", at: url)
    try await plain.performBackgroundTask { context in
      let request = DynamicQuery("Tenant", where: try PredicateTree(format: "home.city == 'Kyoto'"))
      let ann = try #require(try context.fetch(request).first)
      #expect(try ann.value("home.street", as: String.self) == "Sanjo")
      try ann.set("home.street", to: "Shijo")
      try context.save()
    }
    try await plain.close()
    let again = try await open(.file(url))
    let street = try await again.query { try $0.fetch(From<Tenant>()).map(\.home.street) }
    #expect(street == ["Shijo"])
  }

  /// A key path ends at the value of a part, so each part of a checked type needs values that the type takes.
  @Test func partsThatAreAddressesHaveKeyPaths() async throws {
    #expect(try LinkedBand.predicatePath(of: \LinkedBand.links.blog) == ["links", "blog"])
    #expect(try LinkedBand.predicatePath(of: \LinkedBand.links.shop) == ["links", "shop"])
    #expect(try LinkedBand.predicatePath(of: \LinkedBand.links.mail) == ["links", "mail"])
    #expect(try LinkedBand.predicatePath(of: \LinkedBand.page) == ["page"])
    #expect(throws: QueryError.self) { try LinkedBand.predicatePath(of: \LinkedBand.page.standardized) }
    #expect(throws: QueryError.self) {
      try LinkedBand.predicatePath(of: \LinkedBand.page.standardizedFileURL)
    }
    let container = try await PersistentContainer("Bands", models: LinkedBand.self, at: .inMemory)
    try await container.write { context in
      for name in ["b", "a"] { context.insert(LinkedBand(name)) }
    }
    let shop = try #require(URL(string: "https://example.org/new"))
    #expect(try await container.batchUpdate(From<LinkedBand>(), .set(\.links.shop, to: shop)).count == 2)
    try await container.query { context in
      let bands = try context.fetch(From<LinkedBand>().orderBy(\.links.blog))
      #expect(bands.map(\.links.blog.lastPathComponent) == ["a", "b"] && bands[0].links.shop == shop)
    }
  }
}

/// A text with a rule of its own.
private struct MailAddress: RawRepresentable, AttributeType, Hashable {
  static var tracerValue: MailAddress? { MailAddress(rawValue: "a@b") }
  let rawValue: String
  init?(rawValue: String) {
    guard rawValue.contains("@"), rawValue.allSatisfy(\.isASCII) else { return nil }
    self.rawValue = rawValue
  }
}

@Embeddable private struct BandLinks: Hashable {
  var blog: URL
  var shop: URL
  var mail: MailAddress?
}

@Model private final class LinkedBand {
  var page: URL
  @Embedded var links: BandLinks

  init(_ name: String) {
    let page = URL(filePath: "/" + name)
    self.page = page
    links = BandLinks(blog: page, shop: page, mail: nil)
  }
}
