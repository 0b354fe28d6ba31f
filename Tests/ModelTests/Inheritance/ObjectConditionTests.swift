import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Conditions that name an object of a hierarchy. Its class isn't always that of the query, or that to which the
/// relationship leads.
struct ObjectConditionTests {
  private let context: ManagedObjectContext
  private let dog = Dog("Rex", age: 4, breed: "Collie")
  private let puppy = Puppy("Bit", breed: "Collie", weeks: 5)
  private let cat = Cat("Tom", age: 9, whiskers: 12)
  private let keepers = [Keeper("Ada"), Keeper("Bob"), Keeper("Cyd")]

  init() async throws {
    let container = try await PersistentContainer(
      "Animals",
      models: Animal.self,
      Dog.self,
      Puppy.self,
      Cat.self,
      Keeper.self,
      at: .inMemory
    )
    context = try ManagedObjectContext(coordinator: container.coordinator)
    for object in [dog, puppy, cat] as [Animal] { context.insert(object) }
    for keeper in keepers { context.insert(keeper) }
    (keepers[0].guardDog, keepers[0].favourite) = (puppy, cat)
    (keepers[1].guardDog, keepers[1].favourite) = (dog, puppy)
    dog.enemy = puppy
    puppy.enemy = cat
    try context.save()
  }

  @Test func theObjectOfAQueryOfAClass() throws {
    #expect(try context.fetch(From<Dog>().where { $0 == puppy }) == [puppy])
    #expect(try context.fetch(From<Dog>().where { $0 == dog }) == [dog])
    #expect(try context.fetch(From<Puppy>().where { $0 == puppy }) == [puppy])
    #expect(try context.fetch(From<Dog>().where { [puppy.objectID, cat.objectID].contains($0) }) == [puppy])
    #expect(try context.fetch(From<Dog>().where(format: "objectID == %@", puppy.objectID)) == [puppy])
    #expect(try context.fetch(From<Dog>().where(format: "SELF IN %@", [puppy.objectID])) == [puppy])
    #expect(try context.count(From<Puppy>().where { $0 == dog }) == 0)
    #expect(try context.fetch(From<Dog>().where { $0.enemy == puppy }) == [dog])
  }

  /// Expects that a condition means the same in a query, at hand, archived and as text.
  private func expect<Root: ManagedObject>(
    _ expected: [Root],
    _ condition: Where<Root>,
    among objects: [Root]
  ) throws {
    let archived = try JSONDecoder().decode(Where<Root>.self, from: JSONEncoder().encode(condition))
    for same in [condition, archived] {
      #expect(Set(try context.fetch(From<Root>().where(same))) == Set(expected), "\(same)")
      #expect(try objects.filter { try same.evaluate($0) } == expected, "\(same)")
      #expect(try objects.filter(matching: same) == expected, "\(same)")
    }
    let text = From<Root>().where(format: "\(condition)")
    #expect(Set(try context.fetch(text)) == Set(expected), "\(condition)")
  }

  @Test func aConditionMeansTheSameEverywhere() throws {
    try expect([keepers[0]], Where<Keeper> { $0.guardDog == puppy }, among: keepers)
    try expect([keepers[1]], Where<Keeper> { $0.guardDog == dog }, among: keepers)
    try expect([keepers[0]], Where<Keeper> { $0.favourite == cat }, among: keepers)
    try expect([keepers[1]], Where<Keeper> { $0.favourite == puppy || $0.favourite == dog }, among: keepers)
    try expect([puppy], Where<Dog> { $0 == puppy }, among: [dog, puppy])
    try expect([dog], Where<Dog> { $0.enemy == puppy }, among: [dog, puppy])
  }

  @Test func groupsAreComparedWithAnObjectOfAClass() throws {
    var query = DynamicQuery("Keeper")
    query.aggregates = [.init(.count)]
    for key in ["favourite", "favourite.objectID"] {
      query.groupBy = [key, "favourite.name"]
      query.having = try PredicateTree(format: "\(key) == %@", arguments: [puppy.objectID])
      #expect(try context.groups(of: query).map { $0.value(of: "favourite.name") } == [.string("Bit")])
    }
    query = DynamicQuery("Dog")
    query.groupBy = ["enemy"]
    query.having = try PredicateTree(format: "enemy IN %@", arguments: [[puppy.objectID, cat.objectID]])
    #expect(try context.groups(of: query).count == 2)
  }

  @Test func anObjectOfAnotherEntityIsRefused() throws {
    let error = #expect(throws: ContextError.self) {
      try context.fetch(From<Dog>().where(format: "enemy == %@", keepers[0].objectID))
    }
    #expect(error?.code == .invalidQuery)
  }
}
