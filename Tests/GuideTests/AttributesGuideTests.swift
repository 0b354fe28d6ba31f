import Cambium
import Foundation
import Testing

// Quoted in Docs/Models.md
struct Opening: CodableAttribute, Hashable {
  var days: Set<Int>
  var note: String?
}

@Model final class Shop {
  @Attribute(.perInsert { UUID() }) var token: UUID
  var name: String
  var page: URL?
  var opening: Opening?
  @Transient var isSelected = false

  init(name: String) { self.name = name }
}
// End of quotation

struct AttributesGuideTests {
  @Test func aShopIsStored() async throws {
    let shops = try await PersistentContainer("Shops", models: Shop.self, at: .inMemory)
    let opening = Opening(days: [1, 2], note: nil)
    let token = try await shops.performBackgroundTask { context in
      let shop = Shop(name: "Bakery")
      shop.page = URL(string: "https://example.org/bakery")
      shop.opening = opening
      shop.isSelected = true
      context.insert(shop)
      try context.save()
      return shop.token
    }
    try await shops.performBackgroundTask { context in
      let open = try context.fetch(From<Shop>().where { $0.opening != nil })
      #expect(open.map(\.token) == [token])
      #expect(open.map(\.opening) == [opening])
      #expect(open.map(\.page?.host) == ["example.org"])
      #expect(!open[0].isSelected)
    }
  }
}
