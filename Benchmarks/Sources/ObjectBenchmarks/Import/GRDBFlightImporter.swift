import Foundation
import GRDB

/// The import of the flights example, through GRDB: the same rows, relationships as foreign keys, the same indexes, fast
/// statements, one durable transaction for each batch.
struct GRDBFlightImporter {
  var folder: FlightsFolder
  var batch: Int

  /// Makes the database, and closes it.
  func run(at path: String) throws -> Int {
    let pool = try GRDBDatabase.open(at: path)
    let rows = try run(into: pool)
    try pool.close()
    return rows
  }

  func run(into pool: DatabasePool) throws -> Int {
    try pool.write(createTables)
    var codes = Codes()
    var rows = try pool.write { try importCodes(&codes, $0) }
    let flights = try folder.flights()
    var isAtEnd = false
    while !isAtEnd {
      try pool.write { database in
        let insert = try Self.insertion("flight", columns: FlightRow.columns.count + 5, database)
        for _ in 0..<batch {
          guard let row = try flights.next() else {
            isAtEnd = true
            return
          }
          try insertFlight(row, codes, insert)
          rows += 1
        }
      }
    }
    return rows
  }

  /// Row IDs of the objects that flights refer to, by their codes.
  private struct Codes {
    var airlines: [String: Int64] = [:]
    var airports: [String: Int64] = [:]
    var planes: [String: Int64] = [:]
    var weather: [WeatherKey: Int64] = [:]
  }

  private func importCodes(_ codes: inout Codes, _ database: Database) throws -> Int {
    var rows = 0
    let airline = try Self.insertion("airline", columns: 2, database)
    for row in try folder.airlines().rest() {
      airline.setUncheckedArguments([row.carrier, row.name])
      codes.airlines[row.carrier] = try Self.execute(airline, database)
      rows += 1
    }
    let airport = try Self.insertion("airport", columns: 8, database)
    for row in try folder.airports().rest() {
      airport.setUncheckedArguments([
        row.faa, row.name, row.lat, row.lon, row.alt, row.tz, row.dst, row.tzone,
      ])
      codes.airports[row.faa] = try Self.execute(airport, database)
      rows += 1
    }
    let plane = try Self.insertion("plane", columns: 9, database)
    for row in try folder.planes().rest() {
      plane.setUncheckedArguments([
        row.tailnum, row.year, row.type, row.manufacturer, row.model, row.engines, row.seats, row.speed,
        row.engine,
      ])
      codes.planes[row.tailnum] = try Self.execute(plane, database)
      rows += 1
    }
    let weather = try Self.insertion("weatherHour", columns: 16, database)
    for row in try folder.weather().rest() {
      weather.setUncheckedArguments([
        row.originCode, row.year, row.month, row.day, row.hour, row.temp, row.dewp, row.humid, row.windDir,
        row.windSpeed, row.windGust, row.precip, row.pressure, row.visib,
        row.timeHour.timeIntervalSinceReferenceDate, codes.airports[row.originCode],
      ])
      let key = WeatherKey(originCode: row.originCode, timeHour: row.timeHour)
      codes.weather[key] = try Self.execute(weather, database)
      rows += 1
    }
    return rows
  }

  private func insertFlight(_ row: FlightRow, _ codes: Codes, _ insert: Statement) throws {
    let key = WeatherKey(originCode: row.originCode, timeHour: row.timeHour)
    insert.setUncheckedArguments([
      row.year, row.month, row.day, row.depTime, row.schedDepTime, row.depDelay, row.arrTime,
      row.schedArrTime,
      row.arrDelay, row.carrier, row.flight, row.tailnum, row.originCode, row.destCode, row.airTime,
      row.distance,
      row.hour, row.minute, row.timeHour.timeIntervalSinceReferenceDate, codes.airlines[row.carrier],
      row.tailnum.flatMap { codes.planes[$0] }, codes.airports[row.originCode], codes.airports[row.destCode],
      codes.weather[key],
    ])
    try insert.execute()
  }

  private static func insertion(_ table: String, columns: Int, _ database: Database) throws -> Statement {
    let marks = Array(repeating: "?", count: columns).joined(separator: ", ")
    return try database.makeStatement(sql: "INSERT INTO \(table) VALUES (NULL, \(marks))")
  }

  private static func execute(_ insert: Statement, _ database: Database) throws -> Int64 {
    try insert.execute()
    return database.lastInsertedRowID
  }

  private func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE airline (id INTEGER PRIMARY KEY, carrier TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
        CREATE TABLE airport (
          id INTEGER PRIMARY KEY, faa TEXT NOT NULL UNIQUE, name TEXT NOT NULL, lat REAL NOT NULL, lon REAL NOT NULL,
          alt INTEGER NOT NULL, tz INTEGER NOT NULL, dst TEXT NOT NULL, tzone TEXT);
        CREATE INDEX airport_name ON airport (name);
        CREATE TABLE plane (
          id INTEGER PRIMARY KEY, tailnum TEXT NOT NULL UNIQUE, year INTEGER, type TEXT NOT NULL,
          manufacturer TEXT NOT NULL, model TEXT NOT NULL, engines INTEGER NOT NULL, seats INTEGER NOT NULL,
          speed INTEGER, engine TEXT NOT NULL);
        CREATE INDEX plane_manufacturer ON plane (manufacturer);
        CREATE TABLE weatherHour (
          id INTEGER PRIMARY KEY, originCode TEXT NOT NULL, year INTEGER NOT NULL, month INTEGER NOT NULL,
          day INTEGER NOT NULL, hour INTEGER NOT NULL, temp REAL, dewp REAL, humid REAL, windDir INTEGER,
          windSpeed REAL, windGust REAL, precip REAL NOT NULL, pressure REAL, visib REAL NOT NULL,
          timeHour REAL NOT NULL, originId INTEGER REFERENCES airport ON DELETE CASCADE,
          UNIQUE (originCode, timeHour));
        CREATE INDEX weatherHour_origin ON weatherHour (originId);
        CREATE TABLE flight (
          id INTEGER PRIMARY KEY, year INTEGER NOT NULL, month INTEGER NOT NULL, day INTEGER NOT NULL, depTime INTEGER,
          schedDepTime INTEGER NOT NULL, depDelay INTEGER, arrTime INTEGER, schedArrTime INTEGER NOT NULL,
          arrDelay INTEGER, carrier TEXT NOT NULL, flight INTEGER NOT NULL, tailnum TEXT, originCode TEXT NOT NULL,
          destCode TEXT NOT NULL, airTime INTEGER, distance INTEGER NOT NULL, hour INTEGER NOT NULL,
          minute INTEGER NOT NULL, timeHour REAL NOT NULL, airlineId INTEGER REFERENCES airline ON DELETE SET NULL,
          planeId INTEGER REFERENCES plane ON DELETE SET NULL, originId INTEGER REFERENCES airport ON DELETE SET NULL,
          destId INTEGER REFERENCES airport ON DELETE SET NULL,
          weatherId INTEGER REFERENCES weatherHour ON DELETE SET NULL);
        CREATE INDEX flight_month_day ON flight (month, day);
        CREATE INDEX flight_depTime ON flight (depTime);
        CREATE INDEX flight_depDelay ON flight (depDelay);
        CREATE INDEX flight_arrDelay ON flight (arrDelay);
        CREATE INDEX flight_destCode ON flight (destCode);
        CREATE INDEX flight_distance ON flight (distance);
        CREATE INDEX flight_timeHour ON flight (timeHour);
        CREATE INDEX flight_airline ON flight (airlineId);
        CREATE INDEX flight_plane ON flight (planeId);
        CREATE INDEX flight_origin ON flight (originId);
        CREATE INDEX flight_dest ON flight (destId);
        CREATE INDEX flight_weather ON flight (weatherId);
        """
    )
  }
}
