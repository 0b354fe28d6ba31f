import BenchmarkHarness
import CSQLite
import Cambium
import Foundation
import PageStore

/// The size of a store while it grows and changes: objects inserted in saves of 50,000, then 100 saves that each change
/// 1,000 objects at random. Runs in a process of its own, so that the bytes that it writes can be counted.
enum SpaceWorkload {
  static let peers = [ObjectReport.ownName, "SQLite, C"]
  static let saveCount = 50_000
  static let updateSaves = 100
  static let updatesPerSave = 1_000

  struct Result: Codable {
    var peer: String
    var objects: Int
    var loadSeconds: Double
    var updateSeconds: Double
    var loadedBytes: Int
    var updatedBytes: Int
    var closedBytes: Int
    /// Pages that the newest commit reaches, at the end.
    var liveBytes: Int
    /// The largest size of the file at any moment, as a multiple of the live bytes at the save after it.
    var largestRatio: Double
    var largestLoadRatio: Double
    /// Bytes that the process has handed to the system to be written.
    var writtenBytes: Int
  }

  static func run(peer: String, objects: Int, folder: String, memory: Int?) async throws -> Result {
    let before = try writtenBytes()
    var result =
      peer == ObjectReport.ownName
      ? try await cambium(objects, folder, memory) : try sqlite(objects, folder, memory)
    result.writtenBytes = try writtenBytes() - before
    return result
  }

  private static func empty(_ peer: String, _ objects: Int) -> Result {
    Result(
      peer: peer,
      objects: objects,
      loadSeconds: 0,
      updateSeconds: 0,
      loadedBytes: 0,
      updatedBytes: 0,
      closedBytes: 0,
      liveBytes: 0,
      largestRatio: 0,
      largestLoadRatio: 0,
      writtenBytes: 0
    )
  }

  // MARK: Cambium

  private static func cambium(_ objects: Int, _ folder: String, _ memory: Int?) async throws -> Result {
    var options = StoreOptions()
    if let memory {
      options.cacheBytes = memory
      options.dirtyMemoryBytes = memory
    }
    let container = try await PersistentContainer(
      "Space",
      models: Sensor.self,
      Site.self,
      at: URL(fileURLWithPath: folder + "/space.cambium"),
      options: options
    )
    let watch = SizeWatch(folder)
    defer { watch.stop() }
    var result = empty(ObjectReport.ownName, objects)
    let siteIDs = try await container.performBackgroundTask { context in
      let sites = (0..<SensorData.siteCount).map { Site(name: "site \($0)") }
      for site in sites { context.insert(site) }
      try context.save()
      return sites.map(\.objectID)
    }
    var sensorIDs: [ManagedObjectID] = []
    sensorIDs.reserveCapacity(objects)
    let clock = ContinuousClock()
    var start = clock.now
    for first in stride(from: 0, to: objects, by: saveCount) {
      let numbers = first..<min(objects, first + saveCount)
      sensorIDs += try await container.performBackgroundTask { context in
        let sites = try siteIDs.map { try context.object(Site.self, with: $0) }
        let sensors = numbers.map { number in
          let data = SensorData(number: number)
          let sensor = Sensor(data, site: sites[data.site])
          context.insert(sensor)
          return sensor
        }
        try context.save()
        return sensors.map(\.objectID)
      }
      let live = try liveBytes(container)
      result.largestLoadRatio = max(result.largestLoadRatio, Double(watch.takeLargest()) / live)
    }
    result.loadSeconds = (clock.now - start) / .seconds(1)
    result.loadedBytes = try StoredBytes(of: folder).allocated
    result.largestRatio = result.largestLoadRatio
    var generator = SeededGenerator(seed: 7)
    start = clock.now
    for save in 0..<updateSaves {
      let changed = (0..<updatesPerSave).map { _ in sensorIDs[Int.random(in: 0..<objects, using: &generator)]
      }
      try await container.performBackgroundTask { context in
        for (index, id) in changed.enumerated() {
          let sensor = try context.object(Sensor.self, with: id)
          sensor.reading = Double(save * updatesPerSave + index) / 1_000_003
        }
        try context.save()
      }
      let live = try liveBytes(container)
      result.largestRatio = max(result.largestRatio, Double(watch.takeLargest()) / live)
    }
    result.updateSeconds = (clock.now - start) / .seconds(1)
    result.updatedBytes = try StoredBytes(of: folder).allocated
    try await container.checkpoint()
    result.liveBytes = Int(try container.spaceLedger().liveBytes)
    try await container.close()
    result.closedBytes = try StoredBytes(of: folder).allocated
    return result
  }

  /// Returns the bytes of the newest commit's pages, in the file or only in memory.
  private static func liveBytes(_ container: PersistentContainer) throws -> Double {
    let ledger = try container.spaceLedger()
    return Double(ledger.liveBytes + ledger.unwrittenBytes)
  }

  // MARK: SQLite

  private static func sqlite(_ objects: Int, _ folder: String, _ memory: Int?) throws -> Result {
    let connection = try SQLiteConnection(path: folder + "/space.sqlite", peer: "SQLite, C")
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -\((memory ?? StoreOptions().cacheBytes) >> 10);
      CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE sensor (
        id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, kind INTEGER NOT NULL, rank INTEGER NOT NULL,
        reading DOUBLE NOT NULL, siteId INTEGER REFERENCES site(id)
      );
      CREATE INDEX sensor_on_kind ON sensor(kind, rank);
      CREATE INDEX sensor_on_reading ON sensor(reading);
      CREATE INDEX sensor_on_site ON sensor(siteId);
      """
    )
    let watch = SizeWatch(folder)
    defer { watch.stop() }
    var result = empty("SQLite, C", objects)
    for site in 0..<SensorData.siteCount {
      try connection.execute("INSERT INTO site VALUES (\(site + 1), 'site \(site)')")
    }
    let insert = try connection.prepare("INSERT INTO sensor VALUES (?, ?, ?, ?, ?, ?)")
    let clock = ContinuousClock()
    var start = clock.now
    for first in stride(from: 0, to: objects, by: saveCount) {
      try connection.execute("BEGIN IMMEDIATE")
      for number in first..<min(objects, first + saveCount) {
        let data = SensorData(number: number)
        sqlite3_bind_int64(insert, 1, Int64(number + 1))
        sqlite3_bind_text(insert, 2, data.code, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        sqlite3_bind_int64(insert, 3, Int64(data.kind))
        sqlite3_bind_int64(insert, 4, Int64(data.rank))
        sqlite3_bind_double(insert, 5, data.reading)
        sqlite3_bind_int64(insert, 6, Int64(data.site + 1))
        guard sqlite3_step(insert) == SQLITE_DONE else { throw connection.failure() }
        sqlite3_reset(insert)
      }
      try connection.execute("COMMIT")
    }
    result.loadSeconds = (clock.now - start) / .seconds(1)
    result.loadedBytes = try StoredBytes(of: folder).allocated
    let update = try connection.prepare("UPDATE sensor SET reading = ? WHERE id = ?")
    var generator = SeededGenerator(seed: 7)
    start = clock.now
    for save in 0..<updateSaves {
      try connection.execute("BEGIN IMMEDIATE")
      for index in 0..<updatesPerSave {
        sqlite3_bind_double(update, 1, Double(save * updatesPerSave + index) / 1_000_003)
        sqlite3_bind_int64(update, 2, Int64(Int.random(in: 0..<objects, using: &generator) + 1))
        guard sqlite3_step(update) == SQLITE_DONE else { throw connection.failure() }
        sqlite3_reset(update)
      }
      try connection.execute("COMMIT")
    }
    result.updateSeconds = (clock.now - start) / .seconds(1)
    result.updatedBytes = try StoredBytes(of: folder).allocated
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    result.closedBytes = try StoredBytes(of: folder).allocated
    result.liveBytes = result.closedBytes
    result.largestRatio = Double(watch.takeLargest()) / Double(result.closedBytes)
    return result
  }

  /// Bytes that this process has passed to calls that write. The kernel's own count (`write_bytes`) is of no use here.
  /// If a part of a large folio of the page cache is written, it counts the whole folio, although the device gets the
  /// part alone.
  private static func writtenBytes() throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("wchar:") }
    return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
  }
}
