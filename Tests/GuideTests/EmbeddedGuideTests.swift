import Cambium
import Testing

// Quoted in Docs/Models.md
@Embeddable struct Address: Hashable {
  var street: String
  var city: String
  @Attribute(.min(1)) var floor: Int?
}

@Model final class Client {
  #Index<Client>([\.home.city, \.name])
  var name: String
  @Embedded var home: Address
  @Embedded var work: Address?

  init(name: String, home: Address) {
    self.name = name
    self.home = home
  }
}
// End of quotation

// Quoted in Docs/Models.md
@Embeddable struct Position: Hashable {
  var latitude: Double
  var longitude: Double
}

@Embeddable struct Site: Hashable {
  var name: String
  @Embedded var position: Position
}
// End of quotation

@Model private final class Trail {
  @Embedded var site: Site
  init(site: Site) { self.site = site }
}

struct EmbeddedGuideTests {
  @Test func aSiteHasAPosition() async throws {
    let trails = try await PersistentContainer("Trails", models: Trail.self, at: .inMemory)
    try await trails.write { context in
      context.insert(Trail(site: Site(name: "Gate", position: Position(latitude: 35, longitude: 135.7))))
    }
    let names = try await trails.query {
      try $0.fetch(From<Trail>().where { $0.site.position.latitude > 34 }).map(\.site.name)
    }
    #expect(names == ["Gate"])
  }

  @Test func clientsAreFoundByTheirCity() async throws {
    let shop = try await PersistentContainer("Shop", models: Client.self, at: .inMemory)
    try await shop.write { context in
      for (number, city) in ["Kyoto", "Osaka", "Kyoto"].enumerated() {
        context.insert(Client(name: "\(number)", home: Address(street: "S\(9 - number)", city: city)))
      }
    }
    let context = try shop.newBackgroundContext()
    let names = try await update(shop, context)
    #expect(names == ["2", "0"])
    let cities = try await shop.query { try $0.fetch(From<Client>().orderBy(\.name).select(\.home.city)) }
    #expect(cities == ["Uji", "Osaka", "Uji"])
  }

  private func update(_ shop: PersistentContainer, _ background: BackgroundContext) async throws -> [String] {
    let (names, local) = try await background.perform { context in
      // Quoted in Docs/Models.md
      let local = From<Client>().where { $0.home.city == "Kyoto" && $0.work == nil }
      let inOrder = try context.fetch(local.orderBy(.ascending(\.home.street)))
      inOrder.first?.home.floor = 2
      // End of quotation
      try context.save()
      return (inOrder.map(\.name), local)
    }
    // Quoted in Docs/Models.md
    try await shop.batchUpdate(local, .set(\.home.city, to: "Uji"))
    // End of quotation
    return names
  }
}
