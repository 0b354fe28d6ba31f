import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Models that inherit from each other, in one store.
struct InheritanceTests {
  private static func container() async throws -> PersistentContainer {
    try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    let keeper = Keeper("Ada")
    context.insert(keeper)
    let rex = Dog("Rex", age: 4, breed: "Collie", chip: 7)
    let bit = Puppy("Bit", breed: "Collie", weeks: 5)
    let tom = Cat("Tom", age: 9, whiskers: 12)
    keeper.animals = [rex, bit, tom]
    keeper.favourite = tom
    keeper.guardDog = bit
    keeper.walkedDogs = [rex, bit]
    rex.enemy = tom
    try context.save()
  }

  /// A list of changed objects has objects of all classes. `as?` accepts objects of a subclass, and no objects of a
  /// superclass.
  @Test func changedObjectsAreToldApartByTheirClass() async throws {
    let container = try await Self.container()
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      try Self.fill(context)
      for animal in try context.fetch(From<Animal>()) { animal.age += 1 }
      context.insert(Puppy("New", breed: "Pug", weeks: 1))
      #expect(context.insertedObjects.compactMap { $0 as? Animal }.map(\.name) == ["New"])
      #expect(context.insertedObjects.compactMap { $0 as? Cat }.isEmpty)
      #expect(Set(context.updatedObjects.compactMap { $0 as? Dog }.map(\.name)) == ["Rex", "Bit"])
      #expect(context.updatedObjects.compactMap { $0 as? Animal }.count == 3)
    }
  }

  @Test func `a fetch of a parent gives objects of their own classes`() async throws {
    let container = try await Self.container()
    try container.inContext(Self.fill)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let animals = try context.fetch(From<Animal>().orderBy(.ascending(\.name)))
      #expect(animals.map(\.name) == ["Bit", "Rex", "Tom"])
      #expect(animals[0] is Puppy)
      #expect(type(of: animals[1]) == Dog.self)
      #expect((animals[2] as? Cat)?.whiskers == 12)
      #expect(animals.map(\.objectID.entityName) == ["Puppy", "Dog", "Cat"])
      let dogs = try context.fetch(From<Dog>().orderBy(.ascending(\.name)))
      #expect(dogs.map(\.name) == ["Bit", "Rex"])
      #expect(dogs.map(\.breed) == ["Collie", "Collie"])
      #expect(try context.fetch(From<Animal>().where { $0.isKind(of: Dog.self) }).count == 2)
      #expect(try context.count(From<Puppy>()) == 1)
      #expect(try context.count(From<Cat>().where { $0.age > 3 }) == 1)
      #expect(try context.fetch(From<Dog>().where { $0.age > 3 }).map(\.name) == ["Rex"])
      #expect(try context.fetch(From<Dog>().where { $0.breed == "Collie" }).count == 2)
      #expect(try context.fetch(From<Puppy>().where { $0.breed == "Collie" }).count == 1)
    }
  }

  @Test func `an attribute of another class is unknown`() throws {
    let cat = Cat("Tom", age: 9, whiskers: 3)
    let error = #expect(throws: ContextError.self) { try cat.setValue(.string("Collie"), forKey: "breed") }
    #expect(error?.code == .unknownProperty)
    try cat.setValue(.string("Mew"), forKey: "motto")
    try cat.setValue(.int(10), forKey: "age")
    #expect(cat.motto == "Mew" && cat.age == 10)
  }

  @Test func `relationships lead to objects of their own classes`() async throws {
    let container = try await Self.container()
    try container.inContext(Self.fill)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let keeper = try #require(try context.fetchOne(From<Keeper>()))
      #expect(keeper.favourite is Cat)
      #expect(keeper.guardDog is Puppy)
      #expect(Set(keeper.animals.map(\.name)) == ["Rex", "Bit", "Tom"])
      #expect(keeper.animals.contains { $0 is Puppy })
      #expect(keeper.walkedDogs.count == 2)
      let rex = try #require(try context.fetchOne(From<Dog>().where { $0.name == "Rex" }))
      #expect(rex.enemy is Cat)
      #expect(rex.walkers.map(\.name) == ["Ada"])
      #expect(rex.keeper === keeper)
      context.delete(keeper)
      try context.save()
      #expect(try context.count(From<Animal>()) == 0)
    }
  }

  @Test func `predicates ask for classes`() async throws {
    let container = try await Self.container()
    try container.inContext(Self.fill)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      func names(_ format: String) throws -> [String] {
        try context.fetch(From<Animal>().where(format: format).orderBy(.ascending(\.name))).map(\.name)
      }
      #expect(try names("TYPE == \"Dog\"") == ["Rex"])
      #expect(try names("KIND == \"Dog\"") == ["Bit", "Rex"])
      #expect(try names("KIND != \"Dog\"") == ["Tom"])
      #expect(try names("KIND == \"Dog\" AND age > 3") == ["Rex"])
      #expect(try context.count(From<Keeper>().where(format: "favourite.TYPE == \"Cat\"")) == 1)
      #expect(try context.count(From<Keeper>().where(format: "favourite.KIND == \"Dog\"")) == 0)
      #expect(throws: ContextError.self) { try names("TYPE == \"Cow\"") }
      #expect(throws: ContextError.self) { try names("TYPE > \"Dog\"") }
    }
  }

  @Test func `an abstract class has no objects`() async throws {
    let container = try await Self.container()
    let error = #expect(throws: ContextError.self) {
      try container.inContext { (context: ManagedObjectContext) throws -> Void in
        context.insert(Animal("Nothing", age: 1))
        try context.save()
      }
    }
    #expect(error?.code == .abstractClass)
  }

  @Test func `values are unique among the objects of the class that declares it`() async throws {
    let container = try await Self.container()
    try container.inContext(Self.fill)
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      context.insert(Cat("Rex", age: 1, whiskers: 2))
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
      let pup = Puppy("Pip", breed: "Pug", weeks: 7)
      pup.chip = 7
      context.insert(pup)
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
      context.insert(Cat("Kit", age: 1, whiskers: 2))
      context.insert(Cat("Mog", age: 1, whiskers: 2))
      try context.save()
      #expect(try context.count(From<Cat>()) == 3)
    }
  }
}

/// Classes with the names that generic parameters often have.
private enum Society {
  @Model(subclasses: ["Reader"])
  class Member {
    var name: String

    init(_ name: String) { self.name = name }
  }

  @Model(superclass: "Member", subclasses: ["Visitor"])
  class Reader: Member {
    var card: Int = 0

    override init(_ name: String) { super.init(name) }
  }

  @Model(superclass: "Reader")
  final class Visitor: Reader {
    var isInvited: Bool = true

    override init(_ name: String) { super.init(name) }
  }

  /// Its superclass doesn't list it.
  @Model(superclass: "Member")
  final class Stranger: Member {
    var origin: String = ""

    override init(_ name: String) { super.init(name) }
  }
}

struct SocietyTests {
  @Test func classesMayHaveTheNamesOfGenericParameters() async throws {
    let club = try await PersistentContainer("Society", models: Society.Member.self, at: .inMemory)
    let context = try club.context()
    defer { context.end() }
    let visitor = Society.Visitor("Eve")
    visitor.card = 7
    context.insert(visitor)
    try context.save()
    let values = try context.fetch(From<Society.Visitor>().values(Society.Visitor.Values.self))
    #expect(values.map(\.name) == ["Eve"] && values.map(\.card) == [7] && values.map(\.isInvited) == [true])
  }

  @Test func aClassThatItsSuperclassDoesNotListIsRefused() {
    let error = #expect(throws: SchemaError.self) {
      try Schema([Society.Member.self, Society.Stranger.self])
    }
    #expect(
      error?.problems == [
        "Stranger inherits from a class of Member, which doesn't list it among its subclasses"
      ]
    )
  }
}

extension PersistentContainer {
  /// Runs code with a new context.
  func inContext(_ body: @Sendable (ManagedObjectContext) throws -> Void) throws {
    try newBackgroundContext().performAndWait { context in try body(context) }
  }
}
