import Cambium

@testable import GraphContext

@Model final class Airline {
  var name: String
  var rank: Int
  @Relationship(inverse: \Departure.airline) var departures: [Departure] = []

  init(_ name: String, rank: Int = 0) {
    self.name = name
    self.rank = rank
  }
}

@Model final class Gate {
  var name: String
  @Relationship(inverse: \Departure.gates) var departures: [Departure] = []

  init(_ name: String) { self.name = name }
}

@Model final class Departure {
  #Index<Departure>([\.minute], [\.hour, \.minute], [\.status, \.minute])
  var hour: Int
  var minute: Int
  var status: String?
  var city: String
  @Relationship var airline: Airline?
  @Relationship var gates: [Gate] = []

  init(_ minute: Int, _ city: String, status: String? = nil) {
    hour = minute / 60
    self.minute = minute
    self.city = city
    self.status = status
  }
}

/// Stores of departures in memory.
enum Airport {
  static func open(_ location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer("Airport", models: [Departure.self, Airline.self, Gate.self], at: location)
  }

  /// A store of departures in the minutes from 1 on, to the cities `x1`, `x2` and so on.
  static func open(count: Int) async throws -> PersistentContainer {
    let container = try await open()
    let values = (1...count).map { Departure.Values(hour: $0 / 60, minute: $0, status: nil, city: "x\($0)") }
    try await container.batchInsert(values)
    return container
  }
}

extension PersistentContainer {
  /// A context that follows no other by itself.
  func context() throws -> ManagedObjectContext { try ManagedObjectContext(coordinator: coordinator) }
}
