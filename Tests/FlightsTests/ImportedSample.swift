import Cambium
import Foundation
import TestSupport

@testable import FlightsExample

/// The whole sample, which is imported once for all tests.
struct ImportedSample {
  static let shared = Task { try await ImportedSample() }

  /// What the import says that it has stored.
  let counts: ImportCounts
  /// The file of the closed store.
  private let file: Data

  private init() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("flights.cambium")
    let container = try await PersistentContainer.flights(at: path)
    let importer = FlightImporter(
      folder: FlightsFolder(path: Sample.folder),
      container: container,
      batch: 5_000
    )
    counts = try await importer.run()
    try await container.close()
    file = try Data(contentsOf: URL(fileURLWithPath: path))
  }

  /// Opens a copy of the store at the path.
  func open(at path: String) async throws -> PersistentContainer {
    try file.write(to: URL(fileURLWithPath: path))
    return try await PersistentContainer.flights(at: path)
  }
}
