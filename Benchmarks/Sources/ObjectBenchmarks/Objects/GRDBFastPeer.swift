import BenchmarkHarness
import Foundation
import GRDB

/// GRDB as an engineer writes it who has to be fast: cached statements, columns by index, dates as numbers.
final class GRDBFastPeer: ObjectPeer {
  static let name = "GRDB, fast"

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
      let select = try database.cachedStatement(
        sql: "SELECT \(Person.columns) FROM person WHERE age BETWEEN ? AND ? ORDER BY age, id"
      )
      let persons = try Person.fetchAll(select, arguments: [ages.lowerBound, ages.upperBound])
      var sum = Checksum()
      for person in persons { Self.add(person, to: &sum) }
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

  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) throws {
    for number in numbers {
      try pool.write { database in
        let update = try database.cachedStatement(sql: "UPDATE person SET score = score + 1 WHERE email = ?")
        try update.execute(arguments: [people.persons[number].email])
      }
    }
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
