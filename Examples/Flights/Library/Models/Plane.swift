import Cambium

/// An aircraft, known by the number on its tail.
@Model
final class Plane {
  #Unique<Plane>([\.tailnum])
  #Index<Plane>([\.manufacturer])

  var tailnum: String
  /// When it was built.
  var year: Int?
  var type: String
  var manufacturer: String
  var model: String
  var engines: Int
  var seats: Int
  /// Average cruising speed in miles an hour.
  var speed: Int?
  var engine: String
  @Relationship(deleteRule: .nullify, inverse: \Flight.plane) var flights: ToMany<Flight> = []

  init(_ row: PlaneRow) {
    tailnum = row.tailnum
    year = row.year
    type = row.type
    manufacturer = row.manufacturer
    model = row.model
    engines = row.engines
    seats = row.seats
    speed = row.speed
    engine = row.engine
  }
}
