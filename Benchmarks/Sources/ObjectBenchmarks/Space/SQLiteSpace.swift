import BenchmarkHarness
import CSQLite
import Cambium
import Foundation
import PageStore

/// The measurement of space in SQLite.
struct SQLiteSpace {
  private let connection: SQLiteConnection
  private let folder: String
  private let watch: SizeWatch
  private var result: SpaceWorkload.Result

  static func run(objects: Int, folder: String, memory: Int?) throws -> SpaceWorkload.Result {
    var space = try SQLiteSpace(objects: objects, folder: folder, memory: memory)
    let watch = space.watch
    defer { watch.stop() }
    try space.load()
    try space.update()
    try space.finish()
    return space.result
  }

  private init(objects: Int, folder: String, memory: Int?) throws {
    connection = try SQLiteConnection(path: folder + "/space.sqlite", peer: SQLiteObjectPeer.name)
    self.folder = folder
    result = SpaceWorkload.Result(peer: SQLiteObjectPeer.name, objects: objects)
    let cacheKibibytes = (memory ?? StoreOptions().cacheBytes) >> 10
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -\(cacheKibibytes);
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
    watch = SizeWatch(folder)
  }

  private mutating func load() throws {
    for site in 0..<SensorData.siteCount {
      try connection.execute("INSERT INTO site VALUES (\(site + 1), 'site \(site)')")
    }
    let insert = try connection.prepare("INSERT INTO sensor VALUES (?, ?, ?, ?, ?, ?)")
    let start = ContinuousClock.now
    for first in stride(from: 0, to: result.objects, by: SpaceWorkload.saveCount) {
      try connection.execute("BEGIN IMMEDIATE")
      for number in first..<min(result.objects, first + SpaceWorkload.saveCount) {
        let data = SensorData(number: number)
        sqlite3_bind_int64(insert, 1, Int64(number + 1))
        sqlite3_bind_text(insert, 2, data.code, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        sqlite3_bind_int64(insert, 3, Int64(data.kind))
        sqlite3_bind_int64(insert, 4, Int64(data.rank))
        sqlite3_bind_double(insert, 5, data.reading)
        sqlite3_bind_int64(insert, 6, Int64(data.site + 1))
        try step(insert)
      }
      try connection.execute("COMMIT")
    }
    result.loadSeconds = (ContinuousClock.now - start) / .seconds(1)
    result.loadedBytes = try StoredBytes(of: folder).allocated
  }

  private mutating func update() throws {
    let update = try connection.prepare("UPDATE sensor SET reading = ? WHERE id = ?")
    var generator = SeededGenerator(seed: 7)
    let start = ContinuousClock.now
    for save in 0..<SpaceWorkload.updateSaves {
      try connection.execute("BEGIN IMMEDIATE")
      for index in 0..<SpaceWorkload.updatesPerSave {
        let reading = Double(save * SpaceWorkload.updatesPerSave + index) / 1_000_003
        sqlite3_bind_double(update, 1, reading)
        sqlite3_bind_int64(update, 2, Int64(Int.random(in: 0..<result.objects, using: &generator) + 1))
        try step(update)
      }
      try connection.execute("COMMIT")
    }
    result.updateSeconds = (ContinuousClock.now - start) / .seconds(1)
    result.updatedBytes = try StoredBytes(of: folder).allocated
  }

  private mutating func finish() throws {
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    result.closedBytes = try StoredBytes(of: folder).allocated
    result.liveBytes = result.closedBytes
    result.largestRatio = Double(watch.takeLargest()) / Double(result.closedBytes)
  }

  private func step(_ statement: OpaquePointer) throws {
    guard sqlite3_step(statement) == SQLITE_DONE else { throw connection.failure() }
    sqlite3_reset(statement)
  }
}
