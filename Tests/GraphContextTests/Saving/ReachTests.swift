import Cambium
import Foundation
import Testing

@testable import GraphContext

/// Objects that are saved because a saved object leads to them, and objects that can't be saved.
struct ReachTests {
  @Model final class Person {
    var name: String
    @Relationship(inverse: \Kid.parent) var kids: [Kid] = []
    @Relationship(inverse: \Kid.friends) var friends: [Kid] = []
    @Relationship(inverse: \Passport.holder) var passport: Passport?
    init(_ name: String) { self.name = name }
  }

  @Model final class Kid {
    var name: String
    @Relationship var parent: Person?
    @Relationship var friends: ToMany<Person> = []
    /// Without an inverse.
    @Relationship var idol: Person?
    init(_ name: String) { self.name = name }
    init(_ name: String, parent: Person) {
      self.name = name
      self.parent = parent
    }
  }

  @Model final class Passport {
    var number: Int
    @Relationship var holder: Person?
    init(_ number: Int) { self.number = number }
  }

  private func open() async throws -> PersistentContainer {
    try await PersistentContainer("Family", models: Person.self, Kid.self, Passport.self, at: .inMemory)
  }

  private func withSaved(
    _ body: @Sendable @escaping (ManagedObjectContext, Person) throws -> Void
  ) async throws {
    try await open().performBackgroundTask { context in
      let person = Person("P")
      context.insert(person)
      try context.save()
      try body(context, person)
    }
  }

  @Test func aNewObjectThatIsLinkedToASavedOneIsSaved() async throws {
    try await withSaved { context, person in
      let (first, second, third) = (Kid("A"), Kid("B"), Kid("C"))
      first.parent = person
      second.friends.append(person)
      third.friends = [person]
      let passport = Passport(1)
      passport.holder = person
      #expect(person.kids == [first] && person.friends == [second, third] && person.passport === passport)
      try context.save()
      #expect(try context.fetch(From<Kid>()).map(\.name) == ["A", "B", "C"])
      #expect(try context.count(From<Passport>().where { $0.holder == person }) == 1)
    }
  }

  /// An initialiser of the app's fills the property before there is an object.
  @Test func soIsOneWhoseInitialiserLinksIt() async throws {
    try await withSaved { context, person in
      let kid = Kid("A", parent: person)
      #expect(kid.parent === person)
      try context.save()
      #expect(try context.count(From<Kid>()) == 1)
    }
  }

  /// Nothing leads from the person to the kid.
  @Test func withoutAnInverseNothingReachesTheNewObject() async throws {
    try await withSaved { context, person in
      let kid = Kid("A")
      kid.idol = person
      try context.save()
      #expect(try context.count(From<Kid>()) == 0)
      context.insert(kid)
      try context.save()
      #expect(kid.idol === person)
    }
  }

  @Test func aRolledBackInsertionLeavesTheObjectUnlinked() async throws {
    try await withSaved { context, person in
      let kid = Kid("A")
      kid.parent = person
      context.rollback()
      #expect(kid.parent == nil && person.kids.isEmpty)
      try context.save()
      #expect(try context.count(From<Kid>()) == 0)
    }
  }

  private static let links: [@Sendable (Person, Kid) -> Void] = [
    { $1.parent = $0 }, { $0.kids.append($1) }, { $0.kids = [$1] }, { $1.friends.append($0) },
    { $0.friends.append($1) },
    { $0.friends = [$1] }, { $1.idol = $0 },
  ]

  /// The save fails whichever object was deleted and whichever end is set.
  @Test(arguments: 0..<links.count, [true, false])
  func aLinkToADeletedObjectFailsTheSave(place: Int, isPersonDeleted: Bool) async throws {
    try await withSaved { context, person in
      let kid = Kid("A")
      context.insert(kid)
      try context.save()
      if isPersonDeleted { context.delete(person) } else { context.delete(kid) }
      Self.links[place](person, kid)
      let error = #expect(throws: ContextError.self, "\(place)") { try context.save() }
      #expect(error?.code == .missingDestination, "\(place): \(error?.description ?? "")")
      context.rollback()
      try context.save()
      #expect(try context.count(From<Kid>()) == 1 && context.count(From<Person>()) == 1)
      #expect(person.kids.isEmpty && kid.parent == nil && person.friends.isEmpty)
    }
  }
}
