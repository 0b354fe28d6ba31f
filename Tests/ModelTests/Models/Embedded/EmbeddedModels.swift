import Cambium
import Foundation

enum Zone: String, AttributeType, CaseIterable {
  case north, south, west
}

@Embeddable struct Address: Hashable {
  var street: String
  var city: String = "Kyoto"
  @Attribute(.min(1)) var number: Int?
  var isCentral: Bool = false
  var isQuiet: Bool = true
  var zone: Zone = .north
  var otherZone: Zone?
  var keywords: [String] = ["old", "it's \"new\""]
}

@Model final class Tenant {
  #Index<Tenant>([\.home.city, \.name])
  #Unique<Tenant>([\.home.street, \.home.number])
  var name: String
  @Embedded var home: Address
  @Relationship var landlord: Landlord?
  @Embedded var work: Address?
  @Relationship var visits: [Visit] = []

  init(_ name: String, home: Address) {
    self.name = name
    self.home = home
  }
}

@Model final class Landlord {
  @Embedded var office: Address = Address(street: "Main")
  @Relationship(inverse: \Tenant.landlord) var tenants: [Tenant] = []

  init() {}
}

@Model final class Visit {
  var day: Int
  @Relationship(inverse: \Tenant.visits) var tenant: Tenant?

  init(_ day: Int) { self.day = day }
}
