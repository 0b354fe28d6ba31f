import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

@Model private final class Person {
  var name: String
  @Relationship(inverse: .itself) var friends: Set<Person> = []
  @Relationship(inverse: .itself) var spouse: Person?

  init(_ name: String) { self.name = name }
}

/// Relationships that are their own inverses.
struct OwnInverseTests {
  private static func people() async throws -> (PersistentContainer, ManagedObjectContext, [Person]) {
    let container = try await PersistentContainer("People", models: Person.self, at: .inMemory)
    let context = try container.context()
    let people = ["a", "b", "c"].map(Person.init)
    for person in people { context.insert(person) }
    try context.save()
    return (container, context, people)
  }

  /// Returns the links that another context finds, by name.
  private static func saved(_ container: PersistentContainer) throws -> [String: (String?, [String])] {
    let context = try container.context()
    defer { context.end() }
    #expect(try container.verify().isEmpty)
    let found = try context.fetch(From<Person>()).map { person in
      (person.name, (person.spouse?.name, person.friends.map(\.name).sorted()))
    }
    return Dictionary(uniqueKeysWithValues: found)
  }

  @Test func friendsAreFriendsOfEachOther() async throws {
    let (container, context, people) = try await Self.people()
    people[0].friends = [people[0], people[1], people[2]]
    #expect(people[1].friends == [people[0]])
    people[1].friends.insert(people[2])
    people[2].friends.remove(people[0])
    #expect(people[0].friends == [people[0], people[1]])
    try context.save()
    let saved = try Self.saved(container)
    #expect(saved["a"]?.1 == ["a", "b"] && saved["b"]?.1 == ["a", "c"] && saved["c"]?.1 == ["b"])
    people[0].friends.remove(people[0])
    context.delete(people[1])
    try context.save()
    #expect(try Self.saved(container).mapValues(\.1) == ["a": [], "c": []])
    context.end()
  }

  @Test func aSpouseIsMarriedToOne() async throws {
    let (container, context, people) = try await Self.people()
    people[0].spouse = people[1]
    #expect(people[1].spouse === people[0])
    try context.save()
    people[2].spouse = people[0]
    #expect(people[0].spouse === people[2] && people[1].spouse == nil)
    try context.save()
    #expect(try Self.saved(container).mapValues(\.0) == ["a": "c", "b": nil, "c": "a"])
    people[0].spouse = people[0]
    #expect(people[0].spouse === people[0] && people[2].spouse == nil)
    try context.save()
    people[1].spouse = people[0]
    #expect(people[0].spouse === people[1])
    context.delete(people[0])
    #expect(people[1].spouse == nil)
    try context.save()
    #expect(try Self.saved(container).mapValues(\.0) == ["b": nil, "c": nil])
    context.end()
  }

  @Test func twoContextsMayBothMakeThemFriends() async throws {
    let (container, context, people) = try await Self.people()
    let other = try container.context()
    let theirs = try people.map { try other.existingObject(Person.self, with: $0.objectID) }
    people[0].friends.insert(people[1])
    theirs[1].friends.insert(theirs[0])
    try context.save()
    try other.save()
    #expect(theirs[0].friends == [theirs[1]])
    try context.refresh()
    people[1].friends.remove(people[0])
    theirs[0].friends.remove(theirs[1])
    try context.save()
    try other.save()
    #expect(try Self.saved(container).mapValues(\.1) == ["a": [], "b": [], "c": []])
    context.end()
    other.end()
  }
}
