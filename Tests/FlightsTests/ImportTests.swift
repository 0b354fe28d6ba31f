import Cambium
import Foundation
import TestSupport
import Testing

@testable import FlightsExample

@Suite("Importing the sample")
struct ImportTests {
  private static func imported(_ path: String) async throws -> PersistentContainer {
    let container = try await PersistentContainer.flights(at: path)
    let importer = FlightImporter(
      folder: FlightsFolder(path: Sample.folder),
      container: container,
      batch: 5_000
    )
    let counts = try await importer.run()
    #expect(
      counts == ImportCounts(airlines: 16, airports: 1_458, planes: 3_322, weather: 2_226, flights: 27_004)
    )
    return container
  }

  @Test func everyRowArrivesAndFindsWhatItRefersTo() async throws {
    let folder = try TemporaryFolder()
    let container = try await Self.imported(folder.file("flights.cambium"))
    try await container.performBackgroundTask { context in
      // Counted in the CSV files by other means.
      #expect(try context.count(From<Flight>()) == 27_004)
      #expect(try context.count(From<Flight>().where { $0.month == 1 && $0.day == 1 }) == 842)
      #expect(try context.count(From<Flight>().where { $0.depTime == nil }) == 521)
      #expect(try context.count(From<Flight>().where { $0.plane == nil }) == 4_479)
      #expect(try context.count(From<Flight>().where { $0.weather == nil }) == 52)
      #expect(try context.count(From<Flight>().where { $0.dest == nil }) == 680)
      #expect(try context.count(From<Flight>().where { $0.airline == nil }) == 0)
    }
    try container.close()
  }

  @Test func aPredicateAndItsOppositePartitionTheFlights() async throws {
    let folder = try TemporaryFolder()
    let container = try await Self.imported(folder.file("flights.cambium"))
    try await container.performBackgroundTask { context in
      let late = try context.count(From<Flight>().where { $0.arrDelay > 120 || $0.depDelay > 120 })
      let others = try context.count(From<Flight>().where(format: "NOT (arrDelay > 120 OR depDelay > 120)"))
      #expect(late + others == 27_004)
    }
    try container.close()
  }
}
