import Cambium
import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

private enum Earlier {
  @Model(subclasses: ["Dog"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    override init(_ name: String) { super.init(name) }
  }
}

private enum Later {
  @Model(subclasses: ["Cat", "Dog"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Cat: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    override init(_ name: String) { super.init(name) }
  }
}

/// Conditions on classes that are tested without a query, and in queries that use templates.
struct ClassConditionTests {
  private static let formats = [
    "TYPE == \"Dog\"", "TYPE != \"Dog\"", "KIND == \"Dog\"", "KIND == \"Cat\" OR age > 3",
    "NOT KIND == \"Puppy\"",
    "keeper.favourite.KIND == \"Dog\"", "keeper.favourite.TYPE != \"Puppy\"",
    "ANY keeper.animals.KIND == \"Cat\"",
    "keeper.animals.@count > 1 AND KIND == \"Dog\"", "KIND == \"Animal\"",
    "KIND IN {\"Cat\", \"Puppy\"}", "NOT TYPE IN {\"Dog\", \"Cat\"}",
    "SUBQUERY(keeper.animals, $a, $a.KIND == \"Dog\").@count == 1",
  ]

  private static func animals() -> [Animal] {
    let (ada, bob) = (Keeper("Ada"), Keeper("Bob"))
    let dog = Dog("Rex", age: 4, breed: "Collie")
    let animals: [Animal] = [
      dog, Puppy("Bit", breed: "Collie", weeks: 5), Cat("Tom", age: 9, whiskers: 12),
      Cat("Kit", age: 1, whiskers: 3),
      Dog("Max", age: 2, breed: "Pug"),
    ]
    for (place, animal) in animals.enumerated() where place > 0 { animal.keeper = place < 3 ? ada : bob }
    // Outside of a context, setting one end of a relationship doesn't set its inverse.
    ada.animals = Array(animals[1...2])
    bob.animals = Array(animals[3...4])
    ada.favourite = animals[1]
    bob.favourite = dog
    return animals
  }

  @Test func objectsAnswerAsQueriesDo() async throws {
    let container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let animals = Self.animals()
      let conditions = try Self.formats.map { try Where<Animal>(format: $0) }
      let before = try conditions.map { try animals.filter(matching: $0).map(\.name) }
      for animal in animals { context.insert(animal) }
      for (condition, names) in zip(conditions, before) {
        #expect(try animals.filter(matching: condition).map(\.name) == names, "\(condition)")
        #expect(
          try Set(context.fetch(From<Animal>().where(condition)).map(\.name)) == Set(names),
          "\(condition)"
        )
      }
      try context.save()
      for (condition, names) in zip(conditions, before) {
        #expect(try animals.filter(matching: condition).map(\.name) == names, "\(condition)")
        #expect(
          try Set(context.fetch(From<Animal>().where(condition)).map(\.name)) == Set(names),
          "\(condition)"
        )
      }
      #expect(before[0] == ["Rex", "Max"] && before[2] == ["Rex", "Bit", "Max"] && before[9].count == 5)
      let dogs = animals.compactMap { $0 as? Dog }
      let young = Where<Dog> { $0.age < 3 && $0.isKind(of: Puppy.self) }
      #expect(try dogs.filter(matching: young).map(\.name) == ["Bit"])
      #expect(throws: QueryError.self) { try dogs.filter(matching: try Where<Dog>(format: "whiskers > 1")) }
    }
  }

  /// The classes of a store have other tags than those of a new one.
  @Test func theTagsAreThoseOfTheStore() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("zoo"))
    let first = try await PersistentContainer("zoo", models: Earlier.Animal.self, at: url)
    try first.inContext { (context: ManagedObjectContext) throws -> Void in
      context.insert(Earlier.Dog("Rex"))
      try context.save()
    }
    try await first.close()
    let container = try await PersistentContainer("zoo", models: Later.Animal.self, at: url)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let cat = Later.Cat("Tom")
      let dogs = try Where<Later.Animal>(format: "KIND == \"Dog\"")
      #expect(try !dogs.evaluate(cat))
      context.insert(cat)
      let animals = try context.fetch(From<Later.Animal>())
      #expect(try animals.filter(matching: dogs).map(\.name) == ["Rex"])
      #expect(try !dogs.evaluate(cat))
    }
  }

  @Test(arguments: [
    "TYPE == favourite.TYPE", "TYPE BETWEEN {'A', 'B'}", "TYPE == nil", "KIND == SELF", "length(KIND) > 1",
  ])
  func aClassIsNoValue(format: String) async throws {
    let container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let own = format.replacingOccurrences(of: "favourite.", with: "keeper.favourite.")
      let error = #expect(throws: ContextError.self) { try context.fetch(From<Animal>().where(format: own)) }
      #expect(error?.queryError?.code == .typeMismatch, "\(String(describing: error))")
    }
    let store = try DynamicStore(container.store)
    var query = DynamicQuery("Animal")
    query.select = ["TYPE"]
    #expect(throws: ContextError.self) { try store.rows(of: query) }
    query.select = []
    query.groupBy = ["KIND"]
    #expect(throws: ContextError.self) { try store.groups(of: query) }
    query.groupBy = []
    query.sort = [.init("TYPE")]
    #expect(throws: ContextError.self) { try store.rows(of: query) }
  }

  @Test func queriesForClassesUseTemplates() async throws {
    let container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      for animal in Self.animals() { context.insert(animal) }
      try context.save()
      func dogs(_ age: Int) -> From<Dog> { From<Dog>().where { $0.age > age } }
      func cats(_ age: Int) -> From<Cat> { From<Cat>().where { $0.age > age } }
      func animals(_ age: Int) -> From<Animal> { From<Animal>().where { $0.age > age } }
      #expect(try context.fetch(dogs(1)).map(\.name).sorted() == ["Max", "Rex"])
      #expect(try context.fetch(cats(1)).map(\.name) == ["Tom"])
      #expect(try context.fetch(animals(1)).map(\.name).sorted() == ["Max", "Rex", "Tom"])
      #expect(try context.explain(dogs(3)).usesTemplate)
      #expect(try context.explain(cats(3)).usesTemplate)
      #expect(try context.explain(animals(3)).usesTemplate)
      #expect(try context.fetch(dogs(3)).map(\.name) == ["Rex"])
      #expect(try context.fetch(cats(0)).map(\.name).sorted() == ["Kit", "Tom"])
      #expect(try context.fetch(animals(8)).map(\.name) == ["Tom"])
      #expect(try context.count(dogs(-1)) == 3)
    }
  }
}
