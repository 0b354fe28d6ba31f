import Cambium
import Foundation
import TestSupport
import Testing

@testable import FlightsExample

@Suite("Importing the sample")
struct ImportTests {
  private static func imported(_ path: String) async throws -> PersistentContainer {
    let sample = try await ImportedSample.shared.value
    #expect(
      sample.counts
        == ImportCounts(airlines: 16, airports: 1_458, planes: 3_322, weather: 2_226, flights: 27_004)
    )
    return try await sample.open(at: path)
  }

  /// `--store` may name a folder by mistake.
  @Test func aStoreThatIsReplacedIsAFile() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let file = folder.file("flights.cambium")
    try Data([1]).write(to: URL(fileURLWithPath: file))
    #expect(throws: DataError.self) { try FileManager.default.removeStore(atPath: folder.path) }
    #expect(FileManager.default.fileExists(atPath: file))
    try FileManager.default.removeStore(atPath: file)
    #expect(!FileManager.default.fileExists(atPath: file))
    try FileManager.default.removeStore(atPath: file)
  }

  @Test func everyRowArrivesAndFindsWhatItRefersTo() async throws {
    let folder = try TemporaryFolder()
    let container = try await Self.imported(folder.file("flights.cambium"))
    let counts = try await container.performBackgroundTask { context in
      [
        "all": try context.count(From<Flight>()),
        "1 January": try context.count(From<Flight>().where { $0.month == 1 && $0.day == 1 }),
        "cancelled": try context.count(From<Flight>().where { $0.depTime == nil }),
        "no plane": try context.count(From<Flight>().where { $0.plane == nil }),
        "no weather": try context.count(From<Flight>().where { $0.weather == nil }),
        "no destination": try context.count(From<Flight>().where { $0.dest == nil }),
        "no airline": try context.count(From<Flight>().where { $0.airline == nil }),
      ]
    }
    // Counted in the CSV files by other means.
    #expect(
      counts == [
        "all": 27_004, "1 January": 842, "cancelled": 521, "no plane": 4_479, "no weather": 52,
        "no destination": 680, "no airline": 0,
      ]
    )
    try await container.close()
  }

  @Test func aPredicateAndItsOppositePartitionTheFlights() async throws {
    let folder = try TemporaryFolder()
    let container = try await Self.imported(folder.file("flights.cambium"))
    let counts = try await container.performBackgroundTask { context in
      [
        try context.count(From<Flight>().where { $0.arrDelay > 120 || $0.depDelay > 120 }),
        try context.count(From<Flight>().where(format: "NOT (arrDelay > 120 OR depDelay > 120)")),
      ]
    }
    #expect(counts[0] > 0 && counts[0] + counts[1] == 27_004)
    try await container.close()
  }
}
