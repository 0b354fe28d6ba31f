import Cambium
import Foundation

/// The counts of an import.
struct ImportCounts: Sendable, Hashable {
  var airlines = 0
  var airports = 0
  var planes = 0
  var weather = 0
  var flights = 0

  var total: Int { airlines + airports + planes + weather + flights }
}

/// Imports a folder of nycflights13 into a store, and links the rows.
///
/// The small tables are imported first and kept in memory, so that a flight finds the objects that it refers to by
/// their codes. Flights are saved in batches: memory doesn't grow with the file, and each batch is saved as a whole or
/// not at all.
struct FlightImporter: Sendable {
  var folder: FlightsFolder
  var container: PersistentContainer
  /// Flights in one save. More cost memory; fewer rewrite the pages of the indexes more often.
  var batch = 100_000

  /// - Parameter progress: called now and then with the share of the flights' file that has been read, from 0 to 1.
  func run(progress: @escaping @Sendable (Double) -> Void = { _ in }) async throws -> ImportCounts {
    let importer = self
    return try await container.performBackgroundTask { context in
      let codes = try importer.importCodes(into: context)
      return try importer.importFlights(codes, into: context, progress: progress)
    }
  }

  /// The objects that flights refer to, by their codes.
  private struct Codes {
    var airlines: [String: Airline] = [:]
    var airports: [String: Airport] = [:]
    var planes: [String: Plane] = [:]
    var weather: [WeatherKey: WeatherHour] = [:]
    var counts = ImportCounts()
  }

  private func importCodes(into context: ManagedObjectContext) throws -> Codes {
    var codes = Codes()
    for row in try folder.airlines().rest() {
      codes.airlines[row.carrier] = inserted(Airline(row), into: context)
      codes.counts.airlines += 1
    }
    for row in try folder.airports().rest() {
      codes.airports[row.faa] = inserted(Airport(row), into: context)
      codes.counts.airports += 1
    }
    for row in try folder.planes().rest() {
      codes.planes[row.tailnum] = inserted(Plane(row), into: context)
      codes.counts.planes += 1
    }
    let weather = try folder.weather()
    while let row = try weather.next() {
      let hour = inserted(WeatherHour(row), into: context)
      hour.origin = codes.airports[row.originCode]
      codes.weather[WeatherKey(originCode: row.originCode, timeHour: row.timeHour)] = hour
      codes.counts.weather += 1
    }
    try context.save()
    return codes
  }

  private func importFlights(
    _ codes: Codes,
    into context: ManagedObjectContext,
    progress: (Double) -> Void
  ) throws -> ImportCounts {
    var counts = codes.counts
    let byteCount = try folder.flightsByteCount()
    let rows = try folder.flights()
    while let row = try rows.next() {
      let flight = inserted(Flight(row), into: context)
      flight.airline = codes.airlines[row.carrier]
      flight.plane = row.tailnum.flatMap { codes.planes[$0] }
      flight.origin = codes.airports[row.originCode]
      flight.dest = codes.airports[row.destCode]
      flight.weather = codes.weather[WeatherKey(originCode: row.originCode, timeHour: row.timeHour)]
      counts.flights += 1
      if counts.flights % batch == 0 { try context.save() }
      if counts.flights % 1_000 == 0 { progress(Double(rows.compressedOffset) / Double(max(byteCount, 1))) }
    }
    try context.save()
    progress(1)
    return counts
  }

  private func inserted<Object: ManagedObject>(_ object: Object, into context: ManagedObjectContext) -> Object
  {
    context.insert(object)
    return object
  }
}
