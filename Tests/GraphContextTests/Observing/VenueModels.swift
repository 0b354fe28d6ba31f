import Cambium
import Foundation

@testable import GraphContext

// Every kind of property that can be observed.

@Embeddable struct VenuePlace {
  var street: String
  var city: String
}

@Model final class Venue {
  var name: String
  var size: Int = 0
  @Embedded var place: VenuePlace
  @Embedded var annex: VenuePlace?
  @Attribute(.derived("nights.@count")) var nightCount: Int
  @Relationship(.ordered, deleteRule: .cascade, inverse: \Night.venue) var nights: [Night] = []
  @Relationship var guests: Set<VenueGuest> = []

  /// A label that is computed from two stored properties; setting it sets both.
  var label: String {
    get { "\(name) \(size)" }
    set {
      let words = newValue.split(separator: " ")
      name = words.first.map(String.init) ?? ""
      size = words.last.flatMap { Int($0) } ?? 0
    }
  }

  init(_ name: String, city: String = "") {
    self.name = name
    self.place = VenuePlace(street: "", city: city)
  }
}

@Model final class Night {
  var title: String
  var price: Int
  @Attribute(.externalStorage) var poster: Data?
  @Relationship(.ordered) var venue: Venue?
  @Relationship(inverse: \NightContract.night) var contract: NightContract?

  init(_ title: String, price: Int = 0) {
    self.title = title
    self.price = price
  }
}

@Model final class NightContract {
  var fee: Int
  @Relationship var night: Night?

  init(_ fee: Int) { self.fee = fee }
}

@Model final class VenueGuest {
  var name: String
  @Relationship(inverse: \Venue.guests) var venues: ToMany<Venue> = []

  init(_ name: String) { self.name = name }
}

enum Town {
  static let models: [any ManagedObject.Type] = [Venue.self, Night.self, NightContract.self, VenueGuest.self]

  static func open() async throws -> PersistentContainer {
    try await PersistentContainer("Town", models: models, at: .inMemory)
  }
}
