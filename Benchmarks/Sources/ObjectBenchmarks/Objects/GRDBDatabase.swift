import BenchmarkHarness
import Foundation
import GRDB

/// The schema and the settings, which both GRDB peers share.
enum GRDBDatabase {
  /// GRDB doesn't report its own version; the package asks for this one.
  static var version: String { "7.10 or later with SQLite \(SQLiteConnection.version)" }

  /// A pool, so that a write-ahead log is used; every commit synced, as Cambium does by default, and a page cache that
  /// holds everything.
  static func open(at path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -1048576")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    return pool
  }

  static func createPeople(_ pool: DatabasePool) throws {
    try pool.write { database in
      try database.create(table: "city") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("name", .text).notNull()
      }
      try database.create(table: "person") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("email", .text).notNull().unique()
        table.column("name", .text).notNull()
        table.column("age", .integer).notNull().indexed()
        table.column("score", .double).notNull()
        table.column("created", .datetime).notNull()
        table.column("bio", .text).notNull()
        table.column("cityId", .integer).indexed().references("city", onDelete: .setNull)
      }
    }
  }
}
