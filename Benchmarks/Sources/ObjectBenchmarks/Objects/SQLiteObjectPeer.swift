import BenchmarkHarness
import CSQLite
import Foundation

/// SQLite through its C interface, with the tables, the indexes and the settings of the GRDB peers: statements prepared once, columns
/// read as bytes and numbers, no objects made.
final class SQLiteObjectPeer: ObjectPeer {
  static let name = "SQLite, C"
  static var version: String { SQLiteConnection.version }

  private let connection: SQLiteConnection

  init(folder: String) throws {
    connection = try SQLiteConnection(path: folder + "/people.sqlite", peer: Self.name)
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -1048576; PRAGMA foreign_keys = ON;
      CREATE TABLE city (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
      CREATE TABLE person (
        id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, age INTEGER NOT NULL,
        score DOUBLE NOT NULL, created DATETIME NOT NULL, bio TEXT NOT NULL,
        cityId INTEGER REFERENCES city(id) ON DELETE SET NULL
      );
      CREATE INDEX person_on_age ON person(age);
      CREATE INDEX person_on_cityId ON person(cityId);
      """
    )
  }

  // MARK: Workloads

  func insert(_ people: People) throws {
    try connection.execute("BEGIN IMMEDIATE")
    for (index, name) in people.cities.enumerated() {
      try run("INSERT INTO city (id, name) VALUES (?, ?)", [.integer(index + 1), .text(name)])
    }
    for person in people.persons {
      try run(
        "INSERT INTO person (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
          .text(person.email), .text(person.name), .integer(person.age), .real(person.score),
          .real(person.created.timeIntervalSinceReferenceDate), .text(person.bio), .integer(person.city),
        ]
      )
    }
    try connection.execute("COMMIT")
  }

  func fetchByEmail(_ people: People, _ numbers: ArraySlice<Int>) throws -> Checksum {
    try reading { sum in
      for number in numbers {
        let count = try addPersons("WHERE email = ?", [.text(people.persons[number].email)], to: &sum)
        guard count == 1 else { throw PeerError(peer: Self.name, message: "a person is missing") }
      }
    }
  }

  func fetchByAge(_ ages: ClosedRange<Int>) throws -> Checksum {
    let bounds: [Value] = [.integer(ages.lowerBound), .integer(ages.upperBound)]
    return try reading { sum in
      try addPersons("WHERE age BETWEEN ? AND ? ORDER BY age, id", bounds, to: &sum)
    }
  }

  func fetchByScore(above score: Double) throws -> Checksum {
    try reading { sum in try addPersons("WHERE score > ? ORDER BY id", [.real(score)], to: &sum) }
  }

  func count(ageAtLeast ages: [Int]) throws -> Checksum {
    try reading { sum in
      for age in ages {
        try run("SELECT COUNT(*) FROM person WHERE age >= ?", [.integer(age)]) { row in
          sum.add(Self.integer(row, 0))
        }
      }
    }
  }

  func fetchPages(_ pages: [Page]) throws -> Checksum {
    try reading { sum in
      for page in pages {
        let bounds: [Value] = [.integer(page.limit), .integer(page.offset)]
        try addPersons("ORDER BY age, id LIMIT ? OFFSET ?", bounds, to: &sum)
      }
    }
  }

  func sumScores() throws -> Checksum {
    try reading { sum in
      var cities: [Int] = []
      try run("SELECT id FROM city ORDER BY id") { cities.append(Self.integer($0, 0)) }
      for city in cities {
        var score = 0.0
        try run("SELECT score FROM person WHERE cityId = ? ORDER BY id", [.integer(city)]) { row in
          score += sqlite3_column_double(row, 0)
        }
        sum.add(score)
      }
    }
  }

  func averageScores() throws -> Checksum {
    try reading { sum in
      try run("SELECT cityId, AVG(score), COUNT(*) FROM person GROUP BY cityId ORDER BY cityId") { row in
        sum.add(
          city: Self.integer(row, 0),
          averageScore: sqlite3_column_double(row, 1),
          persons: Self.integer(row, 2)
        )
      }
    }
  }

  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) throws {
    for number in numbers {
      try run(
        "UPDATE person SET score = score + 1 WHERE email = ?",
        [.text(people.persons[number].email)]
      )
    }
  }

  func changeAll(_ change: MassChange, _ way: MassChange.Way) throws {
    try connection.execute("BEGIN IMMEDIATE")
    let (sql, values): (String, [Value]) =
      switch change {
      case .score(let difference): ("UPDATE person SET score = score + ?", [.real(difference)])
      case .age(let difference): ("UPDATE person SET age = age + ?", [.integer(difference)])
      case .deletion: ("DELETE FROM person", [])
      }
    switch way {
    case .byBatch: try run(sql, values)
    case .byObjects:
      var persons: [Int] = []
      try run("SELECT id FROM person") { persons.append(Self.integer($0, 0)) }
      for person in persons { try run(sql + " WHERE id = ?", values + [.integer(person)]) }
    }
    try connection.execute("COMMIT")
  }

  // MARK: Statements

  private enum Value {
    case integer(Int)
    case real(Double)
    case text(String)
  }

  private static let columns = "email, name, age, score, created, bio, cityId"

  /// Runs `body`, all of whose reads see one moment.
  private func reading(_ body: (inout Checksum) throws -> Void) throws -> Checksum {
    try connection.execute("BEGIN")
    var sum = Checksum()
    try body(&sum)
    try connection.execute("COMMIT")
    return sum
  }

  /// Reads every attribute of the persons of a condition and an order, and returns their number.
  @discardableResult
  private func addPersons(_ clauses: String, _ values: [Value], to sum: inout Checksum) throws -> Int {
    var count = 0
    try run("SELECT \(Self.columns) FROM person \(clauses)", values) { row in
      sum.add(Self.text(row, 0))
      sum.add(Self.text(row, 1))
      sum.add(Self.integer(row, 2))
      sum.add(sqlite3_column_double(row, 3))
      sum.add(sqlite3_column_double(row, 4))
      sum.add(Self.text(row, 5))
      sum.add(Self.integer(row, 6))
      count += 1
    }
    return count
  }

  /// Runs the statement with these values and calls `body` for each row.
  private func run(_ sql: String, _ values: [Value] = [], _ body: (OpaquePointer) -> Void = { _ in }) throws {
    let statement = try connection.prepare(sql)
    defer { sqlite3_reset(statement) }
    for (index, value) in values.enumerated() { Self.bind(value, Int32(index + 1), statement) }
    var status = sqlite3_step(statement)
    while status == SQLITE_ROW {
      body(statement)
      status = sqlite3_step(statement)
    }
    guard status == SQLITE_DONE else { throw connection.failure() }
  }

  private static func bind(_ value: Value, _ place: Int32, _ statement: OpaquePointer) {
    switch value {
    case .integer(let number): sqlite3_bind_int64(statement, place, Int64(number))
    case .real(let number): sqlite3_bind_double(statement, place, number)
    case .text(var text):
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          // SQLITE_TRANSIENT: SQLite copies the bytes.
          let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
          _ = sqlite3_bind_text(statement, place, characters.baseAddress, Int32(characters.count), copied)
        }
      }
    }
  }

  private static func integer(_ row: OpaquePointer, _ column: Int32) -> Int {
    Int(sqlite3_column_int64(row, column))
  }

  private static func text(_ row: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_text(row, column),
      count: Int(sqlite3_column_bytes(row, column))
    )
  }
}
