import Cambium
import Foundation

@Model
final class City {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Person.city) var persons: ToMany<Person> = []

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
