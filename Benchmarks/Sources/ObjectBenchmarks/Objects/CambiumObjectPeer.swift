import BenchmarkHarness
import Cambium
import Foundation

/// Cambium as an application uses it: model classes, a container, a context for each piece of work, every attribute read
/// through its property.
final class CambiumObjectPeer: ObjectPeer {
  static let name = ObjectReport.ownName
  static let version = "this source tree"

  let container: PersistentContainer
  /// The number that the workloads give a city, at the number of its object.
  private var cityNumbers: [Int] = []

  init(folder: String) async throws {
    container = try await PersistentContainer(
      "People",
      models: City.self,
      Person.self,
      at: URL(fileURLWithPath: folder + "/people.cambium")
    )
  }

  func insert(_ people: People) async throws {
    let cityIDs = try await container.performBackgroundTask { context in
      let cities = people.cities.map { name in
        let city = City(name: name)
        context.insert(city)
        return city
      }
      for person in people.persons { context.insert(Person(person, city: cities[person.city - 1])) }
      try context.save()
      return cities.map(\.objectID)
    }
    cityNumbers = Array(repeating: 0, count: Int(cityIDs.map(\.number.rawValue).max() ?? 0) + 1)
    for (index, id) in cityIDs.enumerated() { cityNumbers[Int(id.number.rawValue)] = index + 1 }
  }

  func fetchByEmail(_ people: People, _ numbers: ArraySlice<Int>) async throws -> Checksum {
    let cityNumbers = cityNumbers
    return try await container.performBackgroundTask { context in
      var sum = Checksum()
      for number in numbers {
        let email = people.persons[number].email
        guard let person = try context.fetch(From<Person>().where { $0.email == email }).first else {
          throw PeerError(peer: Self.name, message: "a person is missing")
        }
        Self.add(person, cityNumbers, to: &sum)
      }
      return sum
    }
  }

  func fetchByAge(_ ages: ClosedRange<Int>) async throws -> Checksum {
    let cityNumbers = cityNumbers
    return try await container.performBackgroundTask { context in
      let request = From<Person>().where(ages ~= \.age).orderBy(.ascending(\.age))
      var sum = Checksum()
      for person in try context.fetch(request) { Self.add(person, cityNumbers, to: &sum) }
      return sum
    }
  }

  func fetchByScore(above score: Double) async throws -> Checksum {
    let cityNumbers = cityNumbers
    return try await container.performBackgroundTask { context in
      var sum = Checksum()
      for person in try context.fetch(From<Person>().where { $0.score > score }) {
        Self.add(person, cityNumbers, to: &sum)
      }
      return sum
    }
  }

  func count(ageAtLeast ages: [Int]) async throws -> Checksum {
    try await container.performBackgroundTask { context in
      var sum = Checksum()
      for age in ages { sum.add(try context.count(From<Person>().where { $0.age >= age })) }
      return sum
    }
  }

  func fetchPages(_ pages: [Page]) async throws -> Checksum {
    let cityNumbers = cityNumbers
    return try await container.performBackgroundTask { context in
      var sum = Checksum()
      for page in pages {
        let request = From<Person>().orderBy(.ascending(\.age)).offset(page.offset).limit(page.limit)
        for person in try context.fetch(request) { Self.add(person, cityNumbers, to: &sum) }
      }
      return sum
    }
  }

  func sumScores() async throws -> Checksum {
    try await container.performBackgroundTask { context in
      var sum = Checksum()
      for city in try context.fetch(From<City>()) {
        var score = 0.0
        for person in city.persons { score += person.score }
        sum.add(score)
      }
      return sum
    }
  }

  func averageScores() async throws -> Checksum {
    let cityNumbers = cityNumbers
    return try await container.performBackgroundTask { context in
      let cities = From<Person>().groupBy(\.city?.objectID).aggregate(.average(\.score), .count)
      var sum = Checksum()
      for (city, average, persons) in try context.fetch(cities) {
        guard let city, let average else {
          throw PeerError(peer: Self.name, message: "a person without a city")
        }
        sum.add(city: cityNumbers[Int(city.number.rawValue)], averageScore: average, persons: persons)
      }
      return sum
    }
  }

  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) async throws {
    try await container.performBackgroundTask { context in
      for number in numbers {
        let email = people.persons[number].email
        guard let person = try context.fetch(From<Person>().where { $0.email == email }).first else {
          throw PeerError(peer: Self.name, message: "a person is missing")
        }
        person.score += 1
        try context.save()
      }
    }
  }

  func changeAll(_ change: MassChange, _ way: MassChange.Way) async throws {
    switch (way, change) {
    case (.byBatch, .score(let difference)):
      try await container.batchUpdate(From<Person>(), .set(\.score) { $0.score + difference })
    case (.byBatch, .age(let difference)):
      try await container.batchUpdate(From<Person>(), .set(\.age) { $0.age + difference })
    case (.byBatch, .deletion): try await container.deleteAll(Person.self)
    case (.byObjects, _):
      try await container.performBackgroundTask { context in
        for person in try context.fetch(From<Person>()) {
          switch change {
          case .score(let difference): person.score += difference
          case .age(let difference): person.age += difference
          case .deletion: context.delete(person)
          }
        }
        try context.save()
      }
    }
  }

  private static func add(_ person: Person, _ cityNumbers: [Int], to sum: inout Checksum) {
    sum.add(
      email: person.email,
      name: person.name,
      age: person.age,
      score: person.score,
      created: person.created,
      bio: person.bio,
      city: person.city.map { cityNumbers[Int($0.objectID.number.rawValue)] } ?? 0
    )
  }
}
