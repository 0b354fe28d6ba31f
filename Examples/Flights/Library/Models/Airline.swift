import Cambium

/// A carrier, such as United.
@Model
final class Airline {
  #Unique<Airline>([\.carrier])

  var carrier: String
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Flight.airline) var flights: ToMany<Flight> = []

  init(carrier: String, name: String) {
    self.carrier = carrier
    self.name = name
  }
}

extension Airline {
  convenience init(_ row: AirlineRow) { self.init(carrier: row.carrier, name: row.name) }
}
