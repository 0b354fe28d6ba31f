import BenchmarkHarness
import Foundation
import GRDB

/// GRDB as written by an engineer who needs speed: cached statements, columns by index, dates as numbers.
final class GRDBFastPeer: ObjectPeer {
  static let name = "GRDB, fast"
  static let version = GRDBDatabase.version

  private struct Person: FetchableRecord {
    var email: String
    var name: String
    var age: Int
    var score: Double
    var created: Date
    var bio: String
    var city: Int

    init(row: Row) {
      email = row[0]
      name = row[1]
      age = row[2]
      score = row[3]
      created = Date(timeIntervalSinceReferenceDate: row[4])
      bio = row[5]
      city = row[6]
    }

    static let columns = "email, name, age, score, created, bio, cityId"
  }

  private let pool: DatabasePool

  init(folder: String) throws {
    pool = try GRDBDatabase.open(at: folder + "/people.sqlite")
    try GRDBDatabase.createPeople(pool)
  }

  func insert(_ people: People) throws {
    try pool.write { database in
      let city = try database.makeStatement(sql: "INSERT INTO city (id, name) VALUES (?, ?)")
      for (index, name) in people.cities.enumerated() { try city.execute(arguments: [index + 1, name]) }
      let insert = try database.makeStatement(
        sql: "INSERT INTO person (\(Person.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)"
      )
      for person in people.persons {
        // The values are known to fit: GRDB's advice for the fastest way to bind.
        insert.setUncheckedArguments([
          person.email, person.name, person.age, person.score, person.created.timeIntervalSinceReferenceDate,
          person.bio, person.city,
        ])
        try insert.execute()
      }
    }
  }

  func fetchByEmail(_ people: People, _ numbers: ArraySlice<Int>) throws -> Checksum {
    try pool.read { database in
      let select = try database.cachedStatement(sql: "SELECT \(Person.columns) FROM person WHERE email = ?")
      var sum = Checksum()
      for number in numbers {
        select.setUncheckedArguments([people.persons[number].email])
        guard let person = try Person.fetchOne(select) else {
          throw PeerError(peer: Self.name, message: "a person is missing")
        }
        Self.add(person, to: &sum)
      }
      return sum
    }
  }

  func fetchByAge(_ ages: ClosedRange<Int>) throws -> Checksum {
    try pool.read { database in
      var sum = Checksum()
      try Self.add(
        "WHERE age BETWEEN ? AND ? ORDER BY age, id",
        [ages.lowerBound, ages.upperBound],
        of: database,
        to: &sum
      )
      return sum
    }
  }

  func fetchByScore(above score: Double) throws -> Checksum {
    try pool.read { database in
      var sum = Checksum()
      try Self.add("WHERE score > ? ORDER BY id", [score], of: database, to: &sum)
      return sum
    }
  }

  func count(ageAtLeast ages: [Int]) throws -> Checksum {
    try pool.read { database in
      let select = try database.cachedStatement(sql: "SELECT COUNT(*) FROM person WHERE age >= ?")
      var sum = Checksum()
      for age in ages { sum.add(try Int.fetchOne(select, arguments: [age]) ?? 0) }
      return sum
    }
  }

  func fetchPages(_ pages: [Page]) throws -> Checksum {
    try pool.read { database in
      var sum = Checksum()
      for page in pages {
        try Self.add("ORDER BY age, id LIMIT ? OFFSET ?", [page.limit, page.offset], of: database, to: &sum)
      }
      return sum
    }
  }

  func sumScores() throws -> Checksum {
    try pool.read { database in
      let select = try database.cachedStatement(sql: "SELECT score FROM person WHERE cityId = ? ORDER BY id")
      var sum = Checksum()
      for city in try Int.fetchAll(database, sql: "SELECT id FROM city ORDER BY id") {
        var score = 0.0
        let rows = try Row.fetchCursor(select, arguments: [city])
        while let row = try rows.next() { score += row[0] as Double }
        sum.add(score)
      }
      return sum
    }
  }

  func averageScores() throws -> Checksum {
    try pool.read { database in
      let select = try database.cachedStatement(
        sql: "SELECT cityId, AVG(score), COUNT(*) FROM person GROUP BY cityId ORDER BY cityId"
      )
      var sum = Checksum()
      let rows = try Row.fetchCursor(select)
      while let row = try rows.next() { sum.add(city: row[0], averageScore: row[1], persons: row[2]) }
      return sum
    }
  }

  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) throws {
    for number in numbers {
      try pool.write { database in
        let update = try database.cachedStatement(sql: "UPDATE person SET score = score + 1 WHERE email = ?")
        try update.execute(arguments: [people.persons[number].email])
      }
    }
  }

  func changeAll(_ change: MassChange, _ way: MassChange.Way) throws {
    let (sql, values): (String, [any DatabaseValueConvertible]) =
      switch change {
      case .score(let difference): ("UPDATE person SET score = score + ?", [difference])
      case .age(let difference): ("UPDATE person SET age = age + ?", [difference])
      case .deletion: ("DELETE FROM person", [])
      }
    try pool.write { database in
      switch way {
      case .byBatch: try database.execute(sql: sql, arguments: StatementArguments(values))
      case .byObjects:
        let statement = try database.cachedStatement(sql: sql + " WHERE id = ?")
        for person in try Int64.fetchAll(database, sql: "SELECT id FROM person") {
          statement.setUncheckedArguments(StatementArguments(values + [person]))
          try statement.execute()
        }
      }
    }
  }

  /// Fetches the persons of a condition and an order, and reads every attribute.
  private static func add(
    _ clauses: String,
    _ arguments: StatementArguments,
    of database: Database,
    to sum: inout Checksum
  ) throws {
    let select = try database.cachedStatement(sql: "SELECT \(Person.columns) FROM person \(clauses)")
    for person in try Person.fetchAll(select, arguments: arguments) { add(person, to: &sum) }
  }

  private static func add(_ person: Person, to sum: inout Checksum) {
    sum.add(
      email: person.email,
      name: person.name,
      age: person.age,
      score: person.score,
      created: person.created,
      bio: person.bio,
      city: person.city
    )
  }
}
