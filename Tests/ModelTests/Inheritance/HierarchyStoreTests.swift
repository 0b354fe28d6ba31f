import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Schemas of a store before and after its models inherit.
private enum Plain {
  @Model final class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

private enum WithDog {
  @Model(subclasses: ["Dog"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model(superclass: "Animal")
  final class Dog: Animal {
    var breed: String = "none"
    init(_ name: String, breed: String) {
      self.breed = breed
      super.init(name)
    }
  }
}

private enum WithCat {
  @Model(subclasses: ["Cat", "Dog"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model(superclass: "Animal")
  final class Cat: Animal {
    #Index<Cat>([\.lives])
    var lives: Int
    init(_ name: String, lives: Int) {
      self.lives = lives
      super.init(name)
    }
  }

  @Model(superclass: "Animal")
  final class Dog: Animal {
    var breed: String = "none"
    var size: Int?
    override init(_ name: String) { super.init(name) }
  }
}

private enum Apart {
  @Model final class Dog {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

/// Hierarchies in files: changes of their schemas, records without classes, batches, forged classes.
struct HierarchyStoreTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("zoo")) }

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ container: PersistentContainer,
    _ body: @Sendable (ManagedObjectContext) throws -> Void
  ) async throws {
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      try body(context)
      try context.save()
    }
    let problems = try await container.verify().map { "\($0)" }
    #expect(problems == [])
    try await container.close()
  }

  private func withDog(_ body: @Sendable (ManagedObjectContext) throws -> Void) async throws {
    try await run(PersistentContainer("zoo", models: WithDog.Animal.self, at: url), body)
  }

  @Test func `a model with objects gets subclasses, and more of them`() async throws {
    try await run(PersistentContainer("zoo", models: Plain.Animal.self, at: url)) {
      (context: ManagedObjectContext) throws -> Void in
      context.insert(Plain.Animal("Old"))
    }
    try await withDog { (context: ManagedObjectContext) throws -> Void in
      context.insert(WithDog.Dog("Rex", breed: "Pug"))
      #expect(try context.fetch(From<WithDog.Animal>()).map(\.name) == ["Old", "Rex"])
    }
    try await run(PersistentContainer("zoo", models: WithCat.Dog.self, at: url)) {
      (context: ManagedObjectContext) throws -> Void in
      context.insert(WithCat.Cat("Tom", lives: 9))
      let animals = try context.fetch(From<WithCat.Animal>().orderBy(.ascending(\.name)))
      #expect(animals.map { "\(type(of: $0))" } == ["Animal", "Dog", "Cat"])
      #expect((animals[1] as? WithCat.Dog)?.breed == "Pug")
      #expect((animals[1] as? WithCat.Dog)?.size == nil)
      #expect(try context.count(From<WithCat.Cat>().where { $0.lives == 9 }) == 1)
    }
  }

  @Test func `a class can't be taken away, nor be made of an entity`() async throws {
    try await run(PersistentContainer("zoo", models: Apart.Dog.self, at: url)) {
      (context: ManagedObjectContext) throws -> Void in
      context.insert(Apart.Dog("Rex"))
    }
    let refused = await #expect(throws: ContextError.self) { try await self.withDog { _ in } }
    #expect(refused?.refusal?.description.contains("can't become a subclass of Animal") == true)
    let other = URL(fileURLWithPath: folder.file("other"))
    try await run(PersistentContainer("zoo", models: WithCat.Animal.self, at: other)) {
      (context: ManagedObjectContext) throws -> Void in
      context.insert(WithCat.Dog("Rex"))
    }
    let lost = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("zoo", models: WithDog.Animal.self, at: other)
    }
    #expect(lost?.refusal?.description.contains("Cat is a subclass of Animal in the store") == true)
    await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("zoo", models: Plain.Animal.self, at: other)
    }
  }

  @Test func `a program without the classes sees them`() async throws {
    try await withDog { (context: ManagedObjectContext) throws -> Void in
      context.insert(WithDog.Dog("Rex", breed: "Pug"))
      context.insert(WithDog.Animal("Any"))
    }
    let container = try await PersistentContainer("zoo", at: url)
    #expect(container.schema.description.contains("class Dog: Animal breed!"))
    #expect(try SchemaDocument(container.schema).schema() == container.schema)
    #expect(
      "\(SwiftSource(container.schema))".contains(
        #"@Model(superclass: "Animal") final class Dog: Animal {"#
      )
    )
    try await run(container) { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetch(DynamicQuery("Animal")).count == 2)
      let dog = try #require(try context.fetch(DynamicQuery("Dog")).first)
      #expect(try dog["breed"] == .string("Pug"))
      #expect(dog.objectID.entityName == "Dog")
      try dog.set("breed", to: "Collie")
      let second = try context.insert(entity: "Dog")
      try second.set(["name": .string("Ben"), "breed": .string("Spitz")])
      let plain = try context.insert(entity: "Animal")
      try plain.set("name", to: "Third")
      try context.save()
      try plain.set("breed", to: "none of its own")
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
    }
    try await withDog { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetch(From<WithDog.Dog>()).map(\.breed) == ["Collie", "Spitz"])
      #expect(try context.count(From<WithDog.Animal>()) == 4)
    }
  }

  @Test func `a required value of a subclass is required of its objects alone`() async throws {
    try await withDog { (context: ManagedObjectContext) throws -> Void in
      context.insert(WithDog.Dog("Rex", breed: "Pug"))
    }
    let container = try await PersistentContainer("zoo", at: url)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let dog = try #require(try context.fetch(DynamicQuery("Dog")).first)
      try dog.set("breed", to: .null)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .missingValue)
      context.rollback()
    }
  }

  @Test func `batches are about a class`() async throws {
    let container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    let ids = try await container.batchInsert(
      Cat.self,
      from: 0..<20,
      .set(\.name) { "cat \($0)" },
      .set(\.age) { $0 },
      .set(\.whiskers) { 10 + $0 }
    )
    #expect(ids.allSatisfy { $0.entityName == "Cat" })
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      context.insert(Dog("Rex", age: 3, breed: "Pug"))
      try context.save()
    }
    try await container.batchUpdate(From<Animal>().where { $0.age < 5 }, .set(\.age, to: 50))
    try await container.batchDelete(From<Cat>().where { $0.age < 50 })
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.count(From<Cat>()) == 5)
      #expect(try context.fetch(From<Dog>()).map(\.age) == [50])
      let plan = try context.explain(From<Cat>())
      #expect(plan.rowCount == 5)
      #expect(plan.filter == nil)
      let page = try context.fetch(From<Cat>().limit(2))
      #expect(try context.fetch(From<Cat>().limit(2).offset(2)).count == 2)
      #expect(page.allSatisfy { $0.whiskers < 15 })
    }
    try await container.batchDelete(From<Cat>())
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetch(From<Animal>()).map(\.name) == ["Rex"])
    }
  }

  @Test(arguments: [UInt16(0), 4, 99]) func `a forged class is an error and no trap`(tag: UInt16) async throws
  {
    let container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let rex = Dog("Rex", age: 3, breed: "Pug")
      context.insert(rex)
      try context.save()
      // 0 is the abstract root; 4 and 99 are tags of classes that don't exist.
      let number = ObjectNumber(rawValue: UInt64(tag) << 50 | rex.objectID.number.sequence)
      let id = try #require(
        ManagedObjectID(
          uriRepresentation: rex.objectID.uriRepresentation
            .replacingOccurrences(of: "/\(rex.objectID.number)", with: "/\(number)")
        )
      )
      #expect(throws: ContextError.self) { try context.object(Animal.self, with: id) }
      #expect(throws: ContextError.self) { try context.existingObject(Animal.self, with: id) }
      #expect(context.registeredObject(Animal.self, with: id) == nil)
      #expect(throws: ContextError.self) { try context.object(Cat.self, with: rex.objectID) }
      #expect(try context.object(Dog.self, with: rex.objectID) === rex)
      let ordinal = try context.modelEntity(of: Animal.self).ordinal
      let stand: Animal = context.object(Animal.self, number: number, ordinal)
      #expect(stand.isDeleted)
      let error = #expect(throws: ContextError.self) { try context.fetch(From<Animal>()) }
      #expect(error?.code == .corrupt)
      context.rollback()
      #expect(try context.fetch(From<Animal>()).count == 1)
    }
  }

  @Test func `changes are undone, rolled back and merged`() async throws {
    let container = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let rex = Dog("Rex", age: 3, breed: "Pug")
      context.insert(rex)
      try context.save()
      let undo = ContextUndoManager()
      context.undoManager = undo
      context.delete(rex)
      #expect(context.undo())
      #expect(try context.fetch(From<Dog>()).map(\.breed) == ["Pug"])
      let child = context.makeChild()
      let copy = try #require(try child.fetchOne(From<Animal>()) as? Dog)
      copy.breed = "Collie"
      child.insert(Cat("Tom", age: 1, whiskers: 3))
      try child.save()
      #expect(rex.breed == "Collie")
      #expect(try context.fetch(From<Cat>()).map(\.whiskers) == [3])
      try context.save()
    }
  }
}
