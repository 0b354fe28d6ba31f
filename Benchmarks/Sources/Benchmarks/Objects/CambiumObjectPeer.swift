import Cambium
import Foundation

@Model
final class City {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Person.city) var persons: [Person] = []

  init(name: String) { self.name = name }
}

@Model
final class Person {
  #Unique<Person>([\.email])
  #Index<Person>([\.age])

  var email: String
  var name: String
  var age: Int
  var score: Double
  var created: Date
  var bio: String
  @Relationship var city: City?

  init(_ person: People.Person, city: City?) {
    email = person.email
    name = person.name
    age = person.age
    score = person.score
    created = person.created
    bio = person.bio
    self.city = city
  }
}

/// Cambium as an application uses it: model classes, a container, contexts.
final class CambiumObjectPeer: ObjectPeer {
  static let name = Report.ownName

  private let container: PersistentContainer
  /// The number that the workloads give a city, by the number of its object.
  private var cityNumbers: [UInt64: Int] = [:]

  init(folder: String) throws {
    container = try PersistentContainer(
      "People",
      models: City.self,
      Person.self,
      at: URL(fileURLWithPath: folder + "/people.cambium")
    )
  }

  func insert(_ people: People) throws {
  }
}
