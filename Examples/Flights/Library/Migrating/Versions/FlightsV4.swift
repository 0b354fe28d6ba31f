import Cambium

/// Aircraft models are objects of their own. The newest version has the classes that the app works with.
enum FlightsV4: VersionedSchema {
  static let version = Schema.Version(4)
  static var models: [any ManagedObject.Type] {
    [Airline.self, Airport.self, AircraftModel.self, Plane.self, Flight.self]
  }

  @Model final class Airline {
    @Attribute(.unique) var carrier: String
    var name: String
    @Relationship(inverse: \Flight.airline) var flights: ToMany<Flight> = []

    init(carrier: String, name: String) {
      self.carrier = carrier
      self.name = name
    }
  }

  @Model final class Airport {
    @Attribute(.unique) var faa: String
    var name: String
    @Relationship(inverse: \Flight.origin) var departures: ToMany<Flight> = []
    @Relationship(inverse: \Flight.destination) var arrivals: ToMany<Flight> = []

    init(faa: String, name: String) {
      self.faa = faa
      self.name = name
    }
  }

  /// The properties that planes of the same model have in common.
  @Model final class AircraftModel {
    #Unique<AircraftModel>([\.manufacturer, \.name, \.engine, \.engines, \.seats])

    var manufacturer: String
    var name: String
    /// Kind of engine, such as `Turbo-fan`.
    var engine: String
    var engines: Int
    var seats: Int
    @Relationship(deleteRule: .deny, inverse: \Plane.model) var planes: ToMany<Plane> = []

    init(manufacturer: String, name: String, engine: String, engines: Int, seats: Int) {
      self.manufacturer = manufacturer
      self.name = name
      self.engine = engine
      self.engines = engines
      self.seats = seats
    }
  }

  @Model final class Plane {
    @Attribute(.unique) var tailnum: String
    /// The year in which it was built; 0 if that is not known.
    var year: Int = 0
    @Relationship var model: AircraftModel
    @Relationship(inverse: \Flight.plane) var flights: ToMany<Flight> = []

    init(tailnum: String, model: AircraftModel) {
      self.tailnum = tailnum
      self.model = model
    }
  }

  @Model final class Flight {
    #Index<Flight>([\.month, \.day], [\.arrivalDelay])

    var month: Int
    var day: Int
    var flight: Int
    /// Minutes.
    var arrivalDelay: Int?
    /// Miles.
    var distance: Int
    @Relationship var airline: Airline?
    @Relationship var plane: Plane?
    @Relationship var origin: Airport?
    @Relationship var destination: Airport?

    init(month: Int, day: Int, flight: Int, distance: Int) {
      self.month = month
      self.day = day
      self.flight = flight
      self.distance = distance
    }
  }
}
