import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// A hierarchy of three levels under random work, against plain arrays: a fetch of a parent is the union of its children, by scans and by
/// indexes, with unsaved changes and without.
struct RandomHierarchyTests {
  /// What an object should be.
  private struct Expected: Equatable {
    var kind: String
    var age: Int
    var breed: String?
  }

  /// The objects that should exist, by name.
  private final class Model {
    var objects: [String: Expected] = [:]
    var nextName = 0

    func makeName() -> String {
      nextName += 1
      return "n\(nextName)"
    }
  }

  private static let breeds = ["Collie", "Pug", "Beagle"]
  private static let subtrees = [
    "Animal": ["Dog", "Puppy", "Cat"], "Dog": ["Dog", "Puppy"], "Puppy": ["Puppy"], "Cat": ["Cat"],
  ]

  @Test func `fetches of a class are the union of its classes below`() async throws {
    var random = SeededGenerator()
    let container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    let seed = random.next()
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      var random = SeededGenerator(seed: seed)
      let model = Model()
      for step in 0..<300 {
        try Self.change(context, model, &random)
        if random.chance(1, in: 3) { try Self.compare(context, model, &random, "step \(step)") }
        if random.chance(1, in: 5) { try context.save() }
      }
      try context.save()
      try Self.compare(context, model, &random, "the end")
    }
    let problems = try await container.verify().map { "\($0)" }
    #expect(problems == [])
  }

  private static func change(
    _ context: ManagedObjectContext,
    _ model: Model,
    _ random: inout SeededGenerator
  ) throws {
    let name = model.makeName()
    let age = random.number(in: 0...9)
    let breed = random.pick(breeds)
    switch random.number(in: 0...6) {
    case 0:
      context.insert(Dog(name, age: age, breed: breed))
      model.objects[name] = Expected(kind: "Dog", age: age, breed: breed)
    case 1:
      context.insert(Puppy(name, breed: breed, weeks: age))
      model.objects[name] = Expected(kind: "Puppy", age: 0, breed: breed)
    case 2:
      context.insert(Cat(name, age: age, whiskers: age))
      model.objects[name] = Expected(kind: "Cat", age: age, breed: nil)
    case 3:
      guard let victim = model.objects.keys.sorted().randomElement(using: &random) else { return }
      for object in try context.fetch(From<Animal>().where { $0.name == victim }) { context.delete(object) }
      model.objects[victim] = nil
    default:
      guard let chosen = model.objects.keys.sorted().randomElement(using: &random) else { return }
      let object = try #require(try context.fetchOne(From<Animal>().where { $0.name == chosen }))
      object.age = age
      model.objects[chosen]?.age = age
      if let dog = object as? Dog {
        dog.breed = breed
        model.objects[chosen]?.breed = breed
      }
    }
  }

  private static func compare(
    _ context: ManagedObjectContext,
    _ model: Model,
    _ random: inout SeededGenerator,
    _ place: String
  ) throws {
    func names(_ kind: String, _ condition: (Expected) -> Bool = { _ in true }) -> [String] {
      let kinds = subtrees[kind] ?? []
      return model.objects.filter { kinds.contains($1.kind) && condition($1) }.keys.sorted()
    }
    func found<Root: Animal>(_ request: From<Root>) throws -> [String] {
      let objects = try context.fetch(request)
      #expect(objects.allSatisfy { model.objects[$0.name]?.kind == "\(type(of: $0))" })
      #expect(try context.count(request) == objects.count, "\(place)")
      return objects.map(\.name).sorted()
    }
    let age = random.number(in: 0...9)
    let breed = random.pick(breeds)
    // By scans.
    #expect(try found(From<Animal>()) == names("Animal"), "\(place)")
    #expect(try found(From<Dog>()) == names("Dog"), "\(place)")
    #expect(try found(From<Puppy>()) == names("Puppy"), "\(place)")
    #expect(try found(From<Cat>()) == names("Cat"), "\(place)")
    // By indexes.
    #expect(
      try found(From<Animal>().where { $0.age == age }) == names("Animal") { $0.age == age },
      "\(place)"
    )
    #expect(try found(From<Dog>().where { $0.age == age }) == names("Dog") { $0.age == age }, "\(place)")
    #expect(try found(From<Cat>().where { $0.age <= age }) == names("Cat") { $0.age <= age }, "\(place)")
    #expect(
      try found(From<Dog>().where { $0.breed == breed }) == names("Dog") { $0.breed == breed },
      "\(place)"
    )
    #expect(
      try found(From<Puppy>().where { $0.breed == breed && $0.age > age })
        == names("Puppy") { $0.breed == breed && $0.age > age },
      "\(place)"
    )
    // A parent is the union of its children.
    let children = try found(From<Dog>().where { $0.age == age }) + found(From<Cat>().where { $0.age == age })
    #expect(try found(From<Animal>().where { $0.age == age }) == children.sorted(), "\(place)")
    #expect(
      try found(From<Animal>().where(format: "TYPE == \"Dog\" OR KIND == \"Cat\""))
        == (names("Dog") { $0.kind == "Dog" } + names("Cat")).sorted(),
      "\(place)"
    )
  }
}
