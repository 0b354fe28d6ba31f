import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Objects of the classes of a hierarchy in a program that doesn't have the classes.
struct HierarchyRecordTests {
  private let store: PersistentContainer

  init() async throws {
    let classes = try await PersistentContainer("Zoo", models: Animal.self, Keeper.self, at: .inMemory)
    store = try await PersistentContainer("Zoo", schema: classes.schema, at: .inMemory)
  }

  @Test func aRecordIsOfTheClassThatIsNamed() async throws {
    let context = try store.context()
    defer { context.end() }
    let dog = try context.insert(entity: "Dog")
    try dog.set(["name": .string("Rex"), "age": .int(3), "breed": .string("Spitz"), "chip": .int(7)])
    let puppy = try context.insert(entity: "Puppy")
    try puppy.set(["name": .string("Bo"), "age": .int(0), "breed": .string("Spitz"), "weeks": .int(5)])
    let cat = try context.insert(entity: "Cat")
    try cat.set(["name": .string("Tom"), "age": .int(2), "whiskers": .int(12)])
    try dog.setObject("enemy", to: cat)
    #expect([dog, puppy, cat].map(\.objectID.entityName) == ["Dog", "Puppy", "Cat"])
    try context.save()
    context.reset()
    func names(_ entity: String) throws -> [String] {
      try context.fetch(DynamicQuery(entity, sort: [.init("name")])).map { try $0.value("name") ?? "" }
    }
    #expect(try names("Animal") == ["Bo", "Rex", "Tom"])
    #expect(try names("Dog") == ["Bo", "Rex"] && names("Puppy") == ["Bo"])
    let enemies = try context.fetch(
      DynamicQuery("Animal", where: PredicateTree(format: "enemy.TYPE == 'Cat'"))
    )
    #expect(try enemies.map { try $0["name"] } == [.string("Rex")])
    let found = try context.findOrInsert(entity: "Dog", with: ["chip": .int(7)])
    #expect(try found["name"] == .string("Rex"))
    #expect(try await store.verify().map(\.description) == [])
  }

  @Test func aSaveChecksWhatTheClassHas() throws {
    let context = try store.context()
    defer { context.end() }
    let cat = try context.insert(entity: "Cat")
    try cat.set(["name": .string("Tom"), "age": .int(2), "breed": .string("Spitz")])
    let error = #expect(throws: ContextError.self) { try context.save() }
    let properties = error?.failures.flatMap(\.context.properties) ?? []
    #expect(Set(properties) == ["breed", "whiskers"], "\(String(describing: error))")
    try cat.set(["breed": .null, "whiskers": .int(3)])
    try context.save()
    #expect(try store.verify().map(\.description) == [])
  }

  @Test func aRecordHasTheRelationshipsOfItsClassAlone() throws {
    let context = try store.context()
    defer { context.end() }
    let (cat, keeper) = (try context.insert(entity: "Cat"), try context.insert(entity: "Keeper"))
    for work in [
      { (cat: ManagedRecord) throws in try cat.add(keeper, to: "walkers") },
      { (cat: ManagedRecord) throws in try cat.setObject("enemy", to: cat) },
    ] {
      let error = #expect(throws: ContextError.self) { try work(cat) }
      #expect(error?.code == .unknownProperty && error?.message.hasPrefix("Cat has no") == true)
    }
    try cat.setObject("keeper", to: keeper)
    let dog = try context.insert(entity: "Dog")
    try dog.add(keeper, to: "walkers")
    #expect(try keeper.objects("walkedDogs") == [dog] && keeper.objects("animals") == [cat])
    let error = #expect(throws: ContextError.self) { try keeper.add(cat, to: "walkedDogs") }
    #expect(error?.code == .wrongDestination)
    // An earlier program may have linked them nevertheless.
    let place = try #require(keeper._$objectModel.place(of: "walkedDogs")) - keeper._$objectModel.slotCount
    context.add(cat, to: keeper, toMany: place)
    #expect(try keeper.count(of: "walkedDogs") == 2)
    try keeper.remove(cat, from: "walkedDogs")
    #expect(try keeper.objects("walkedDogs") == [dog])
    // A deleted object that was linked by mistake can be taken out again.
    try keeper.set("name", to: "Ada")
    try dog.set(["name": .string("Rex"), "age": .int(1), "breed": .string("Spitz")])
    try cat.set(["name": .string("Tom"), "age": .int(2), "whiskers": .int(3)])
    try context.save()
    context.delete(dog)
    try keeper.add(dog, to: "animals")
    try keeper.remove(dog, from: "animals")
    try context.save()
    #expect(try keeper.objects("animals") == [cat])
  }

  @Test func anAbstractClassAndAnUnknownOneHaveNoRecords() throws {
    let context = try store.context()
    defer { context.end() }
    var error = #expect(throws: ContextError.self) { try context.insert(entity: "Animal") }
    #expect(error?.code == .abstractClass)
    error = #expect(throws: ContextError.self) { try context.insert(entity: "Cow") }
    #expect(error?.code == .unknownEntity)
    #expect(!context.hasChanges)
  }

  @Test func aRecordKeepsItsClassByChildrenUndoAndRollback() throws {
    let context = try store.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let child = context.makeChild()
    let inChild = try child.insert(entity: "Puppy")
    try inChild.set(["name": .string("Bo"), "age": .int(0), "breed": .string("Spitz"), "weeks": .int(5)])
    try child.save()
    child.end()
    let puppy = try #require(try context.fetch(DynamicQuery("Puppy")).first)
    #expect(puppy.objectID.entityName == "Puppy")
    try context.save()
    context.delete(puppy)
    try context.save()
    context.undo()
    let revived = try #require(try context.fetch(DynamicQuery("Dog")).first)
    #expect(try revived.objectID.entityName == "Puppy" && revived["weeks"] == .int(5))
    context.rollback()
    context.insert(revived)
    #expect(revived.objectID.entityName == "Puppy")
    try context.save()
    #expect(try context.count(DynamicQuery("Puppy")) == 1)
    #expect(try store.verify().map(\.description) == [])
  }
}
