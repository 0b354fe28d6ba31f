import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// `is`, `as?` and `as!` of a `#Predicate`. Foundation's own `evaluate` is the oracle.
struct CastPredicateTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let animals: [Animal]

  init() async throws {
    container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    context = try container.context()
    let (ada, bob) = (Keeper("Ada"), Keeper("Bob"))
    let (rex, tom) = (Dog("Rex", age: 4, breed: "Collie"), Cat("Tom", age: 9, whiskers: 12))
    animals = [
      rex, tom, Puppy("Bit", breed: "Collie", weeks: 5), Cat("Kit", age: 1, whiskers: 3),
      Dog("Max", age: 2, breed: "Pug", chip: 7),
    ]
    for animal in animals { context.insert(animal) }
    rex.enemy = tom
    (tom.motto, ada.favourite, bob.favourite) = ("purr", rex, tom)
    for (place, animal) in animals.enumerated() { animal.keeper = place < 3 ? ada : bob }
    try context.save()
  }

  private func expect(
    _ predicate: Foundation.Predicate<Animal>,
    _ count: Int,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let expected = try animals.filter { try predicate.evaluate($0) }.map(\.name).sorted()
    let found = try context.fetch(From<Animal>().where(predicate)).map(\.name).sorted()
    #expect(found == expected, sourceLocation: sourceLocation)
    #expect(found.count == count, sourceLocation: sourceLocation)
  }

  @Test func isAsksForTheClassAndThoseBelow() throws {
    try expect(#Predicate<Animal> { $0 is Dog }, 3)
    try expect(#Predicate<Animal> { $0 is Puppy }, 1)
    try expect(#Predicate<Animal> { !($0 is Dog) && $0.age > 1 }, 1)
    try expect(#Predicate<Animal> { $0.keeper?.favourite is Dog }, 3)
    try expect(#Predicate<Animal> { animal in animal is Cat || animal.age == 2 }, 3)
    try expect(#Predicate<Animal> { animal in animal.keeper?.animals.contains { $0 is Puppy } ?? false }, 3)
  }

  @Test func asLeadsToPropertiesOfTheClass() throws {
    try expect(#Predicate<Animal> { ($0 as? Dog)?.breed == "Collie" }, 2)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.breed != "Collie" }, 3)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.age == 9 }, 0)
    try expect(#Predicate<Animal> { ($0 as? Cat)?.age == 9 }, 1)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.chip == nil }, 4)
    try expect(#Predicate<Animal> { ($0 as? Cat)?.motto == nil }, 4)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.age ?? 100 > 3 }, 3)
    try expect(#Predicate<Animal> { (($0 as? Cat)?.whiskers ?? 0) * 2 > 5 }, 2)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.enemy?.name == "Tom" }, 1)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.breed.contains("Coll") ?? false }, 2)
    try expect(#Predicate<Animal> { ($0 as? Dog) != nil }, 3)
    try expect(#Predicate<Animal> { ($0 as? Dog) == nil }, 2)
  }

  @Test func aPropertyOfTheClassMayBeNilItself() throws {
    try expect(
      #Predicate<Animal> { animal in if let chip = (animal as? Dog)?.chip { chip > 8 } else { true } },
      4
    )
    try expect(#Predicate<Animal> { ($0 as? Dog)?.enemy?.name.contains("x") == false }, 1)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.enemy?.name.contains("o") ?? true }, 5)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.enemy?.name.contains("x") ?? true }, 4)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.enemy?.name.count == 3 }, 1)
    try expect(#Predicate<Animal> { ($0 as? Cat)?.motto?.isEmpty == false }, 1)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.keeper?.animals.count == 3 }, 2)
    try expect(#Predicate<Animal> { ($0 as? Dog)?.walkers.isEmpty == true }, 3)
    try expect(#Predicate<Animal> { ($0.keeper?.favourite as? Dog)?.chip == nil }, 5)
    try expect(#Predicate<Animal> { ($0.keeper?.favourite as? Dog)?.breed == "Collie" }, 3)
    try expect(#Predicate<Animal> { !($0.keeper?.favourite is Dog) }, 2)
  }

  @Test func castsGoOn() throws {
    try expect(#Predicate<Animal> { (($0 as? Dog) as? Puppy)?.weeks == 5 }, 1)
    try expect(#Predicate<Animal> { ($0 as? Dog) is Puppy }, 1)
    try expect(#Predicate<Animal> { $0 is Dog && ($0 as! Dog).breed.count > 3 }, 2)
    try expect(#Predicate<Animal> { $0 is Dog && ($0 as! Dog).breed.isEmpty == false }, 3)
    try expect(#Predicate<Animal> { $0 is Dog && ($0 as! Dog).breed.contains("u") }, 1)
    try expect(#Predicate<Animal> { $0 is Dog && !($0 as! Dog).walkers.contains { $0.name == "x" } }, 3)
    try expect(#Predicate<Animal> { $0 is Dog && ($0 as! Dog).age > 3 }, 1)
  }

  /// A string comparison that returns an order can't be combined with a cast, so the query is refused and the cast
  /// isn't ignored.
  @Test func anOrderBehindACastIsRefused() throws {
    let same = ComparisonResult.orderedSame
    let condition = #Predicate<Animal> { ($0 as? Dog)?.name.caseInsensitiveCompare("TOM") == same }
    #expect(throws: ContextError.self) { try context.fetch(From<Animal>().where(condition)) }
  }

  @Test func aForcedCastIsNilForAnotherClass() throws {
    try expect(#Predicate<Animal> { $0 is Dog && ($0 as! Dog).breed == "Pug" }, 1)
    let pugs = #Predicate<Animal> { ($0 as! Dog).breed == "Pug" }
    #expect(try context.fetch(From<Animal>().where(pugs)).map(\.name) == ["Max"])
  }

  @Test func aBindingIsACast() throws {
    try expect(
      #Predicate<Animal> { animal in
        if let dog = animal as? Dog { dog.breed == "Collie" && dog.age > 0 } else { animal.age > 5 }
      },
      2
    )
  }

  @Test func anIndexOfTheClassIsUsed() throws {
    let text = try context.explain(
      From<Animal>().where(#Predicate<Animal> { ($0 as? Dog)?.breed == "Pug" })
    ).description
    #expect(text.contains("breed"), "\(text)")
    #expect(!text.contains("full scan"), "\(text)")
  }
}
