import Cambium
import Foundation

/// Makes a store as the first version of the app did, from a folder of nycflights13. The objects are records: the
/// classes of that version no longer exist.
struct EarlyStore: Sendable {
  var folder: FlightsFolder
  /// Rows of each file at most; nil for all.
  var rowLimit: Int?
  private static let flightsInOneSave = 10_000

  func make(at url: URL, progress: @escaping @Sendable (Double) -> Void = { _ in }) async throws {
    let container = try await PersistentContainer("Flights", plan: MigrationPlan([EarlyApp.self]), at: url)
    let store = self
    try await container.performBackgroundTask { context in try store.fill(context, progress) }
    try await container.close()
  }

  private typealias Records = [String: ManagedRecord]

  private func fill(_ context: ManagedObjectContext, _ progress: (Double) -> Void) throws {
    let airlines = try airlines(context)
    let airports = try airports(context)
    let planes = try planes(context)
    var count = 0
    let byteCount = Double(max(try folder.flightsByteCount(), 1))
    let table = try folder.flights()
    try forEachRow(of: table) { row in
      let flight = try context.insert(row)
      try flight.setObject("airline", to: airlines[row.carrier])
      try flight.setObject("plane", to: row.tailnum.flatMap { planes[$0] })
      try flight.setObject("origin", to: airports[row.originCode])
      try flight.setObject("dest", to: airports[row.destCode])
      count += 1
      if count % Self.flightsInOneSave == 0 { try context.save() }
      if count % 1_000 == 0 { progress(Double(table.compressedOffset) / byteCount) }
    }
    try context.save()
  }

  private func airlines(_ context: ManagedObjectContext) throws -> Records {
    var records: Records = [:]
    try forEachRow(of: folder.airlines()) { row in
      let airline = try context.insert(entity: "Airline")
      try airline.set("carrier", to: row.carrier)
      try airline.set("name", to: row.name)
      records[row.carrier] = airline
    }
    return records
  }

  private func airports(_ context: ManagedObjectContext) throws -> Records {
    var records: Records = [:]
    try forEachRow(of: folder.airports()) { row in
      let airport = try context.insert(entity: "Airport")
      try airport.set("faa", to: row.faa)
      try airport.set("name", to: row.name)
      records[row.faa] = airport
    }
    return records
  }

  private func planes(_ context: ManagedObjectContext) throws -> Records {
    var records: Records = [:]
    try forEachRow(of: folder.planes()) { row in records[row.tailnum] = try context.insert(row) }
    return records
  }

  private func forEachRow<Row>(of table: CSVTable<Row>, _ body: (Row) throws -> Void) throws {
    var count = 0
    while count < rowLimit ?? .max, let row = try table.next() {
      try body(row)
      count += 1
    }
  }
}

extension ManagedObjectContext {
  fileprivate func insert(_ row: PlaneRow) throws -> ManagedRecord {
    let plane = try insert(entity: "Plane")
    try plane.set("tailnum", to: row.tailnum)
    try plane.set("year", to: row.year)
    try plane.set("manufacturer", to: row.manufacturer)
    try plane.set("model", to: row.model)
    try plane.set("engine", to: row.engine)
    try plane.set("engines", to: row.engines)
    try plane.set("seats", to: row.seats)
    return plane
  }

  fileprivate func insert(_ row: FlightRow) throws -> ManagedRecord {
    let flight = try insert(entity: "Flight")
    try flight.set("month", to: row.month)
    try flight.set("day", to: row.day)
    try flight.set("flight", to: row.flight)
    try flight.set("arrDelay", to: row.arrDelay)
    try flight.set("distance", to: row.distance)
    return flight
  }
}
