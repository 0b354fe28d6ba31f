import Cambium
import Foundation
import GraphTestSupport
import Testing

/// The values of models that inherit from each other.
@MainActor struct HierarchyValuesTests {
  private let container: PersistentContainer
  private var context: ManagedObjectContext { container.viewContext }

  init() async throws {
    container = try await PersistentContainer("Values", models: Animal.self, Keeper.self, at: .inMemory)
  }

  /// A dog, a puppy and a cat with a keeper, stored.
  private func store() throws -> (dog: Dog, puppy: Puppy, cat: Cat) {
    let keeper = Keeper("Ann")
    let dog = Dog("Rex", age: 7, breed: "Pug", chip: 4)
    let puppy = Puppy("Bit", breed: "Elo", weeks: 9)
    let cat = Cat("Tom", age: 3, whiskers: 12)
    for object in [keeper, dog, puppy, cat] as [any ManagedObject] { insert(object) }
    (dog.keeper, dog.enemy) = (keeper, cat)
    try context.save()
    return (dog, puppy, cat)
  }

  private func insert(_ object: some ManagedObject) { context.insert(object) }

  @Test func valuesContainThoseOfTheSuperclass() throws {
    let (dog, puppy, cat) = try store()
    let values = Dog.Values(dog)
    #expect((values.name, values.age, values.breed, values.chip) == ("Rex", 7, "Pug", 4))
    #expect((values.keeper, values.enemy) == (dog.keeper?.objectID, cat.objectID))
    #expect(values.objectID == dog.objectID && values.superclassValues == Animal.Values(dog))
    let small = Puppy.Values(puppy)
    #expect((small.name, small.breed, small.weeks, small.objectID) == ("Bit", "Elo", 9, puppy.objectID))
    #expect(Set([values, Dog.Values(dog), Dog.Values(puppy)]).count == 2)
  }

  @Test func aPropertyOfTheSuperclassCanBeSet() throws {
    var values = Puppy.Values(try store().puppy)
    let original = values
    (values.name, values.breed, values.weeks) = ("Bob", "Akita", 10)
    #expect((values.superclassValues.superclassValues.name, values.breed) == ("Bob", "Akita"))
    #expect(values.differences(from: original) == ["name", "breed", "weeks"])
    values.objectID = nil
    #expect(values.objectID == nil && original.objectID != nil && values != original)
  }

  @Test func jsonHasAllPropertiesSideBySide() throws {
    let values = Dog.Values(try store().dog)
    let data = try JSONEncoder().encode(values)
    let keys = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any]).keys.sorted()
    #expect(keys == ["age", "breed", "chip", "enemy", "keeper", "name", "objectID"])
    #expect(try JSONDecoder().decode(Dog.Values.self, from: data) == values)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Puppy.Values.self, from: data)
    }
  }

  @Test func valuesAreFetchedOfOneClassOrOfAll() throws {
    let (dog, puppy, cat) = try store()
    let dogs = try context.fetch(From<Dog>().orderBy(\.name).values(Dog.Values.self))
    #expect(dogs == [Dog.Values(puppy), Dog.Values(dog)])
    let old = try context.fetch(From<Dog>().where { $0.breed == "Pug" && $0.age > 3 }.values(Dog.Values.self))
    #expect(old == [Dog.Values(dog)])
    dog.name = "Zed"
    let animals = try context.fetch(From<Animal>().orderBy(\.name).values(Animal.Values.self))
    #expect(animals == [Animal.Values(puppy), Animal.Values(cat), Animal.Values(dog)])
    #expect(animals.map(\.objectID) == [puppy.objectID, cat.objectID, dog.objectID])
  }

  /// The equality of IDs ignores their labels, but a program may use the labels.
  @Test func selectedIDsAreLabelledWithTheClass() throws {
    _ = try store()
    let dogs = try context.fetch(From<Dog>().select(\.objectID))
    #expect(Set(dogs.map(\.entityName)) == ["Dog", "Puppy"])
    let animals = try context.fetch(From<Animal>().orderBy(\.name).select(\.objectID))
    let fetched = try context.fetch(From<Animal>().orderBy(\.name)).map(\.objectID)
    #expect(animals.map(\.uriRepresentation) == fetched.map(\.uriRepresentation))
    let values = try context.fetch(From<Animal>().orderBy(\.name).values(Animal.Values.self))
    #expect(values.map(\.objectID?.entityName) == fetched.map(\.entityName))
  }

  @Test func valuesAreWrittenBack() throws {
    let (dog, puppy, cat) = try store()
    var values = Dog.Values(dog)
    (values.name, values.breed, values.enemy, values.keeper) = ("Max", "Akita", puppy.objectID, nil)
    try dog.apply(values)
    #expect((dog.name, dog.breed, dog.enemy === puppy, dog.keeper) == ("Max", "Akita", true, nil))
    #expect(Set(dog.changedValues.keys) == ["name", "breed", "enemy", "keeper"])

    var animal = Animal.Values(cat)
    let base = animal
    animal.age = 4
    cat.name = "Tim"
    #expect(try context.apply(animal, since: base) === cat)
    #expect((cat.name, cat.age, cat.whiskers) == ("Tim", 4, 12))
    #expect(throws: ContextError.self) {
      var wrong = Puppy.Values(puppy)
      wrong.objectID = dog.objectID
      try context.apply(wrong)
    }
    try context.save()
    #expect(try container.verify() == [])
  }

  @Test func objectsAreInsertedWithValues() async throws {
    let (dog, _, cat) = try store()
    let animal = Animal.Values(name: "Neu", age: 2, keeper: dog.keeper?.objectID)
    let values = Puppy.Values(Dog.Values(animal, chip: 9, breed: "Pug", enemy: cat.objectID), weeks: 3)
    let puppy = try context.insert(values)
    #expect((puppy.name, puppy.age, puppy.breed, puppy.chip, puppy.weeks) == ("Neu", 2, "Pug", 9, 3))
    #expect(puppy.keeper === dog.keeper && dog.keeper?.animals.contains(puppy) == true)
    #expect(puppy.enemy === cat)
    let error = #expect(throws: ContextError.self) { try context.insert(animal) }
    #expect(error?.code == .abstractClass)
    try context.save()

    let others = ["a", "b"].map { Cat.Values(Animal.Values(name: $0), whiskers: 8, motto: nil) }
    let ids = try await container.batchInsert(others)
    try container.waitForViewContext()
    #expect(try context.existingObject(Cat.self, with: ids[1]).name == "b")
    #expect(ids.map(\.entityName) == ["Cat", "Cat"])
    let refused = await #expect(throws: ContextError.self) {
      try await container.batchInsert([Animal.Values(name: "c")])
    }
    #expect(refused?.code == .abstractClass)
    #expect(try await container.verify() == [])
  }

  @Test func everyKindOfAttributeIsAmongThem() async throws {
    let container = try await Media.open()
    let context = container.viewContext
    let (disc, atlas) = (Media.Disc(1), Media.Atlas(2))
    context.insert(disc)
    context.insert(atlas)
    disc.slot = Media.Size()
    atlas.words = ["a", "b"]
    try context.save()
    let copies = (
      disc: try context.insert(Media.Disc.Values(disc)), atlas: try context.insert(Media.Atlas.Values(atlas))
    )
    #expect(Media.Disc.Values(copies.disc).differences(from: Media.Disc.Values(disc)) == [])
    #expect(Media.Atlas.Values(copies.atlas).differences(from: Media.Atlas.Values(atlas)) == [])
    (copies.disc.code, copies.atlas.code) = (3, 4)
    try context.save()
    let discs = try context.fetch(From<Media.Disc>().orderBy(\.code).values(Media.Disc.Values.self))
    #expect(discs == [Media.Disc.Values(disc), Media.Disc.Values(copies.disc)])
    #expect(discs[1].slot == disc.slot && discs[1].mark == "made" && discs[1].code == 3)
    #expect(copies.atlas.words == ["a", "b"] && copies.atlas.smallTitle == atlas.smallTitle)
    #expect(try await container.verify() == [])
  }
}
