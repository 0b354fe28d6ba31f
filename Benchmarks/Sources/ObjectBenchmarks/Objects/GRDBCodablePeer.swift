import BenchmarkHarness
import Foundation
import GRDB

/// GRDB as in the beginning of its documentation: Codable records, the query interface, no SQL.
final class GRDBCodablePeer: ObjectPeer {
  static let name = "GRDB, Codable"
  static let version = GRDBDatabase.version

  private struct City: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "city"
    var id: Int
    var name: String
  }

  private struct Person: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "person"
    var id: Int64?
    var email: String
    var name: String
    var age: Int
    var score: Double
    var created: Date
    var bio: String
    var cityId: Int

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
  }

  private struct CityScore: Codable, FetchableRecord {
    var cityId: Int
    var average: Double
    var persons: Int
  }

  private let pool: DatabasePool

  init(folder: String) throws {
    pool = try GRDBDatabase.open(at: folder + "/people.sqlite")
    try GRDBDatabase.createPeople(pool)
  }

  func insert(_ people: People) throws {
    try pool.write { database in
      for (index, name) in people.cities.enumerated() { try City(id: index + 1, name: name).insert(database) }
      for person in people.persons {
        var record = Person(
          email: person.email,
          name: person.name,
          age: person.age,
          score: person.score,
          created: person.created,
          bio: person.bio,
          cityId: person.city
        )
        try record.insert(database)
      }
    }
  }

  func fetchByEmail(_ people: People, _ numbers: ArraySlice<Int>) throws -> Checksum {
    try pool.read { database in
      var sum = Checksum()
      for number in numbers {
        let email = people.persons[number].email
        guard let person = try Person.filter(Column("email") == email).fetchOne(database) else {
          throw PeerError(peer: Self.name, message: "a person is missing")
        }
        Self.add(person, to: &sum)
      }
      return sum
    }
  }

  func fetchByAge(_ ages: ClosedRange<Int>) throws -> Checksum {
    try fetch([Person.filter(ages.contains(Column("age"))).order(Column("age"), Column("id"))])
  }

  func fetchByScore(above score: Double) throws -> Checksum {
    try fetch([Person.filter(Column("score") > score).order(Column("id"))])
  }

  func count(ageAtLeast ages: [Int]) throws -> Checksum {
    try pool.read { database in
      var sum = Checksum()
      for age in ages { sum.add(try Person.filter(Column("age") >= age).fetchCount(database)) }
      return sum
    }
  }

  func fetchPages(_ pages: [Page]) throws -> Checksum {
    try fetch(pages.map { Person.order(Column("age"), Column("id")).limit($0.limit, offset: $0.offset) })
  }

  func sumScores() throws -> Checksum {
    try pool.read { database in
      var sum = Checksum()
      for city in try City.order(Column("id")).fetchAll(database) {
        let persons = try Person.filter(Column("cityId") == city.id).order(Column("id")).fetchAll(database)
        sum.add(persons.reduce(0.0) { $0 + $1.score })
      }
      return sum
    }
  }

  func averageScores() throws -> Checksum {
    try pool.read { database in
      let cities = Person.select(
        Column("cityId"),
        average(Column("score")).forKey("average"),
        GRDB.count(Column("id")).forKey("persons")
      ).group(Column("cityId")).order(Column("cityId")).asRequest(of: CityScore.self)
      var sum = Checksum()
      for city in try cities.fetchAll(database) {
        sum.add(city: city.cityId, averageScore: city.average, persons: city.persons)
      }
      return sum
    }
  }

  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) throws {
    for number in numbers {
      try pool.write { database in
        let email = people.persons[number].email
        guard var person = try Person.filter(Column("email") == email).fetchOne(database) else {
          throw PeerError(peer: Self.name, message: "a person is missing")
        }
        try person.updateChanges(database) { $0.score += 1 }
      }
    }
  }

  func changeAll(_ change: MassChange, _ way: MassChange.Way) throws {
    try pool.write { database in
      switch (way, change) {
      case (.byBatch, .score(let difference)):
        try Person.updateAll(database, [Column("score").set(to: Column("score") + difference)])
      case (.byBatch, .age(let difference)):
        try Person.updateAll(database, [Column("age").set(to: Column("age") + difference)])
      case (.byBatch, .deletion): try Person.deleteAll(database)
      case (.byObjects, _):
        for var person in try Person.fetchAll(database) {
          switch change {
          case .score(let difference): try person.updateChanges(database) { $0.score += difference }
          case .age(let difference): try person.updateChanges(database) { $0.age += difference }
          case .deletion: try person.delete(database)
          }
        }
      }
    }
  }

  /// Fetches the persons of each request and reads every attribute.
  private func fetch(_ requests: [QueryInterfaceRequest<Person>]) throws -> Checksum {
    try pool.read { database in
      var sum = Checksum()
      for request in requests {
        for person in try request.fetchAll(database) { Self.add(person, to: &sum) }
      }
      return sum
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
      city: person.cityId
    )
  }
}
