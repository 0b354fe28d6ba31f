import Cambium

/// An airport, known by the code the FAA gave it.
@Model
final class Airport {
  #Unique<Airport>([\.faa])
  #Index<Airport>([\.name])

  var faa: String
  var name: String
  var lat: Double
  var lon: Double
  /// Feet above the sea.
  var alt: Int
  /// Hours from UTC.
  var tz: Int
  /// Kind of daylight saving time: `A` is that of the USA, `U` unknown, `N` none.
  var dst: String
  /// The IANA time zone.
  var tzone: String?
  @Relationship(deleteRule: .nullify, inverse: \Flight.origin) var departures: ToMany<Flight> = []
  @Relationship(deleteRule: .nullify, inverse: \Flight.dest) var arrivals: ToMany<Flight> = []
  @Relationship(deleteRule: .cascade, inverse: \WeatherHour.origin) var weather: ToMany<WeatherHour> = []

  init(_ row: AirportRow) {
    faa = row.faa
    name = row.name
    lat = row.lat
    lon = row.lon
    alt = row.alt
    tz = row.tz
    dst = row.dst
    tzone = row.tzone
  }
}
