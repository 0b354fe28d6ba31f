import Cambium
import Foundation
import TestSupport
import Testing

@testable import FlightsExample

/// The walk through four versions, on the first rows of each file of the sample.
@Suite("Migrating the sample")
struct MigrationWalkTests {
  private static let rowLimit = 600
  private static let planesInBatch = 50
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.file("flights.cambium")
  }

  private var data: FlightsFolder { FlightsFolder(path: Sample.folder) }

  /// Counted in the CSV files by other means.
  private func check(_ facts: FleetFacts) {
    #expect(facts.flightCount == 600 && facts.planeCount == 600)
    #expect(facts.planesByModel.count == 25)
    #expect(facts.yearsByPlane.count == 600 && facts.yearsByPlane.count { $0.value == 0 } == 11)
    #expect(facts.flightsByAirline[[.string("UA"), .string("United Air Lines Inc.")]] == 123)
    #expect(facts.flightsByDestination.count == 28)
    #expect(facts.delayMinutes == .int(5205))
  }

  /// Cancels the migration in this process: the batch at hand is saved still.
  @Sendable private static func cancelled(
    _ store: String,
    _ planesInBatch: Int,
    _ batch: Int
  ) async throws -> (begun: [String], savedCount: Int) {
    let (log, monitor) = (BatchLog(), MigrationMonitor())
    let plan = FlightsPlan.splitting(inBatchesOf: planesInBatch) { objects in
      try log.note(objects)
      if log.batches.count == batch { monitor.cancel() }
    }
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer.flights(at: store, plan, monitor).close()
    }
    #expect(error?.code == .cancelled && log.batches.count == batch)
    return (log.batches, batch)
  }

  /// The walk itself throws where a forecast, a refusal, a batch that was done twice or a lost value is not as it says.
  @Test func theWalkLosesNothing() async throws {
    let walk = MigrationWalk(
      data: data,
      store: store,
      rowLimit: Self.rowLimit,
      planesInBatch: Self.planesInBatch,
      interruption: Self.cancelled
    )
    check(try await walk.run())
    #expect(try StoreMetadata(at: URL(fileURLWithPath: store)).schemaVersion == FlightsV4.version)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["flights.cambium"])
  }

  @Test func aStageMayLeadPastAVersionWithoutASchema() async throws {
    let url = URL(fileURLWithPath: store)
    try await EarlyStore(folder: data, rowLimit: Self.rowLimit).make(at: url)
    let plan = FlightsPlan.shorter(inBatchesOf: Self.planesInBatch)
    #expect(try plan.forecasts(at: url).map(\.version) == [FlightsV3.version, FlightsV4.version])
    try await PersistentContainer.flights(at: store, plan).close()
    check(try FleetFacts(of: store, .version4))
  }
}
