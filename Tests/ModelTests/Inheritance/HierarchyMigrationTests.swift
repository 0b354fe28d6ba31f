import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

private enum First {
  @Model(subclasses: ["Dog", "Cat"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    @Relationship(inverse: \Bone.dog) var bones: [Bone] = []
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Animal")
  final class Cat: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Bone {
    var weight: Int
    @Relationship var dog: Dog?
    init(_ weight: Int) { self.weight = weight }
  }
}

private enum Second {
  @Model(subclasses: ["Cat", "Dog"])
  class Animal {
    var name: String
    @Attribute(.derived("name[c]")) var plainName: String
    var tags: [String] = []
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    #Index<Dog>([\.toys, \.weight], [\.boneCount])
    @Relationship(.ordered, inverse: \Bone.dog) var bones: [Bone] = []
    @Attribute(.derived("bones.@count")) var boneCount: Int
    @Attribute(.derived("bones.@sum.weight")) var weight: Int
    @Attribute(.derived("name[cd]")) var call: String
    @Attribute(.externalStorage) var photo: Data?
    var toys: [String]?
    @Attribute(.unique) var chip: Int?
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Animal")
  final class Cat: Animal {
    var lives: Int?
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Bone {
    var weight: Int
    @Relationship(.ordered) var dog: Dog?
    init(_ weight: Int) { self.weight = weight }
  }
}

private enum Renamed {
  @Model(originalName: "Animal", subclasses: ["Hound", "Cat"])
  class Beast {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(originalName: "Dog", superclass: "Beast")
  final class Hound: Beast {
    @Relationship(inverse: \Bone.hound, originalName: "bones") var toys: [Bone] = []
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Cat: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Bone {
    var weight: Int
    @Relationship(originalName: "dog") var hound: Hound?
    init(_ weight: Int) { self.weight = weight }
  }
}

private enum Swallowed {
  @Model(subclasses: ["Dog", "Cat", "Toy"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Animal")
  final class Cat: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model(originalName: "Bone", superclass: "Animal")
  final class Toy: Animal {
    override init(_ name: String) { super.init(name) }
  }
}

/// The name of a class is given to another one.
private enum Exchanged {
  @Model(subclasses: ["Hound", "Dog", "Cat"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(originalName: "Dog", superclass: "Animal")
  final class Hound: Animal {
    @Relationship(inverse: \Bone.hound) var bones: [Bone] = []
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Animal")
  final class Dog: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Animal")
  final class Cat: Animal {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Bone {
    var weight: Int
    @Relationship(originalName: "dog") var hound: Hound?
    init(_ weight: Int) { self.weight = weight }
  }
}

/// Properties of every kind that classes of a hierarchy get and lose, in a store with objects.
struct HierarchyMigrationTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("zoo")) }

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ container: PersistentContainer,
    _ body: @Sendable (ManagedObjectContext) throws -> Void
  ) throws {
    try container.inContext(body)
    let problems = try container.verify().map(\.description)
    #expect(problems == [])
    try container.close()
  }

  @Test func theNameOfARenamedClassIsFree() async throws {
    func first() async throws -> PersistentContainer {
      try await PersistentContainer("zoo", models: First.Animal.self, First.Bone.self, at: url)
    }
    try run(await first()) { (context: ManagedObjectContext) throws -> Void in
      let dog = First.Dog("Rex")
      for object in [First.Animal("Any"), First.Cat("Tom"), dog] as [any ManagedObject] {
        context.insert(object)
      }
      dog.bones = [First.Bone(1), First.Bone(2)]
      try context.save()
    }
    let exchanged = try await PersistentContainer(
      "zoo",
      models: Exchanged.Animal.self,
      Exchanged.Bone.self,
      at: url
    )
    try run(exchanged) { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetch(From<Exchanged.Hound>()).map(\.bones.count) == [2])
      #expect(try context.count(From<Exchanged.Dog>()) == 0)
      let (dog, bones) = (Exchanged.Dog("Fido"), try context.fetch(From<Exchanged.Bone>()))
      context.insert(dog)
      #expect(bones.map(\.hound?.name) == ["Rex", "Rex"] && "\(type(of: dog))" == "Dog")
      try context.save()
    }
    let old = await #expect(throws: ContextError.self) { _ = try await first() }
    #expect(old?.code == .schemaMismatch)
  }

  @Test func anEntityBecomesNoSubclassByItsOriginalName() async throws {
    let first = try await PersistentContainer("zoo", models: First.Animal.self, First.Bone.self, at: url)
    try run(first) { (context: ManagedObjectContext) throws -> Void in
      context.insert(First.Bone(1))
      try context.save()
    }
    let error = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("zoo", models: Swallowed.Animal.self, at: url)
    }
    #expect(error?.code == .schemaMismatch)
  }

  @Test func aDifferenceNamesTheRenamedClass() throws {
    let (old, new) = try (
      Schema([First.Animal.self, First.Bone.self]), Schema([Renamed.Beast.self, Renamed.Bone.self])
    )
    let changes = SchemaDifference(from: old, to: new).changes.filter { $0.subject == .member }
    #expect(changes.count == 1 && changes.first?.description.contains("Dog") == true, "\(changes)")
    #expect(
      try SchemaDocument(new).schema().entities.flatMap(\.classes).map(\.originalName) == [nil, "Dog", nil]
    )
  }

  @Test func aRenamedClassKeepsItsObjects() async throws {
    let first = try await PersistentContainer("zoo", models: First.Animal.self, First.Bone.self, at: url)
    try run(first) { (context: ManagedObjectContext) throws -> Void in
      let dog = First.Dog("Rex")
      for object in [First.Animal("Any"), First.Cat("Tom"), dog] as [any ManagedObject] {
        context.insert(object)
      }
      dog.bones = [First.Bone(1), First.Bone(2)]
      try context.save()
    }
    for _ in 0..<2 {
      let renamed = try await PersistentContainer(
        "zoo",
        models: Renamed.Beast.self,
        Renamed.Bone.self,
        at: url
      )
      try run(renamed) { (context: ManagedObjectContext) throws -> Void in
        let hounds = try context.fetch(From<Renamed.Hound>())
        #expect(hounds.map(\.name) == ["Rex"] && hounds[0].toys.map(\.weight).sorted() == [1, 2])
        #expect(
          try context.fetch(From<Renamed.Beast>()).map { "\(type(of: $0))" } == ["Beast", "Hound", "Cat"]
        )
        #expect(hounds[0].objectID.entityName == "Hound")
      }
    }
  }

  @Test func subclassesGetAndLoseDerivedValuesListsAndOrder() async throws {
    func first() async throws -> PersistentContainer {
      try await PersistentContainer("zoo", models: First.Animal.self, First.Bone.self, at: url)
    }
    func second() async throws -> PersistentContainer {
      try await PersistentContainer("zoo", models: Second.Animal.self, Second.Bone.self, at: url)
    }
    try run(await first()) { (context: ManagedObjectContext) throws -> Void in
      let dog = First.Dog("Réx")
      context.insert(First.Animal("ANY"))
      context.insert(First.Cat("Tom"))
      context.insert(dog)
      dog.bones = [First.Bone(2), First.Bone(3)]
      try context.save()
    }
    try run(await second()) { (context: ManagedObjectContext) throws -> Void in
      let dog = try #require(try context.fetchOne(From<Second.Dog>()))
      #expect(dog.boneCount == 2 && dog.weight == 5 && dog.call == "rex" && dog.plainName == "réx")
      #expect(try context.fetch(From<Second.Animal>()).map(\.plainName).sorted() == ["any", "réx", "tom"])
      #expect(try context.count(From<Second.Dog>().where { $0.boneCount == 2 }) == 1)
      #expect(dog.bones.map(\.weight) == [2, 3])
      dog.bones.reverse()
      dog.toys = ["ball", "rope"]
      dog.photo = Data(repeating: 1, count: 3_000)
      dog.chip = 4
      try context.save()
      #expect(
        try context.count(From<Second.Dog>().where(format: "ANY toys == \"ball\" AND weight == 5")) == 1
      )
    }
    try run(await first()) { (context: ManagedObjectContext) throws -> Void in
      let dog = try #require(try context.fetchOne(From<First.Dog>()))
      #expect(Set(dog.bones.map(\.weight)) == [2, 3])
      context.delete(dog.bones[0])
      context.insert(First.Dog("New"))
      try context.save()
    }
    try run(await second()) { (context: ManagedObjectContext) throws -> Void in
      let dogs = try context.fetch(From<Second.Dog>().orderBy(\.name))
      #expect(
        dogs.map(\.boneCount) == [0, 1] && dogs.map(\.toys) == [nil, nil] && dogs.map(\.chip) == [nil, nil]
      )
      #expect(try context.fetch(From<Second.Cat>()).map(\.plainName) == ["tom"])
    }
    // A program without the classes keeps the values too.
    let records = try await PersistentContainer("zoo", at: url)
    try run(records) { (context: ManagedObjectContext) throws -> Void in
      let dog = try #require(try context.fetch(DynamicQuery("Dog", sort: [.init("name")])).first)
      let bone = try context.insert(entity: "Bone")
      try bone.set("weight", to: 7)
      try bone.setObject("dog", to: dog)
      try dog.set("name", to: "NÉW")
      try context.save()
      #expect(try dog["weight"] == .int(7) && dog["boneCount"] == .int(1) && dog["call"] == .string("new"))
      let cat = try #require(try context.fetch(DynamicQuery("Cat")).first)
      try cat.set("name", to: "TIM")
      let error = #expect(throws: ContextError.self) { try bone.setObject("dog", to: cat) }
      #expect(error?.code == .wrongDestination, "a cat has no bones")
      try bone.setObject("dog", to: nil)
      try context.save()
      #expect(
        try cat["boneCount"] == .null && cat["plainName"] == .string("tim") && dog["boneCount"] == .int(0)
      )
    }
  }

  @Test func schemasDifferInTheirClasses() throws {
    let plain = try Schema(entities: [
      EntityDescription(name: "Animal", properties: [.attribute("name", String.self)])
    ])
    let (first, second) = (
      try Schema([First.Animal.self, First.Bone.self]), try Schema([Second.Animal.self, Second.Bone.self])
    )
    var entities = second.entities
    entities[0].classes[0].isAbstract = true
    let abstract = try Schema(entities: entities)
    #expect(SchemaDifference(from: second, to: second).isEmpty)
    #expect(
      SchemaDifference(from: second, to: abstract).description
        == "changed class Animal.Animal: abstract false → true"
    )
    let classes = SchemaDifference(from: first, to: second).changes.filter { $0.subject == .member }
    #expect(
      classes.map(\.description) == [
        "changed class Animal.Cat: properties none → lives",
        "changed class Animal.Dog: properties bones → boneCount!, bones, call!, chip, photo, toys, weight!",
      ]
    )
    let grown = SchemaDifference(from: plain, to: first).changes.filter { $0.subject == .member }
    #expect(
      grown.map(\.description) == [
        "added class Animal: class Dog: Animal bones", "added class Animal: class Cat: Animal",
      ]
    )
  }
}
