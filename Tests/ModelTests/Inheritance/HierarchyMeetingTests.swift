import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Hierarchies together with merge policies, and with entities without classes.
struct HierarchyMeetingTests {
  @Test func aPolicyForOneClassLeavesOthersAlone() async throws {
    let zoo = try await PersistentContainer("Zoo", models: Animal.self, Keeper.self, at: .inMemory)
    let (mine, theirs) = (try zoo.context(), try zoo.context())
    defer { [mine, theirs].forEach { $0.end() } }
    let (puppy, tom) = (Puppy("Rex", breed: "Pug", weeks: 3), Cat("Tom", age: 0, whiskers: 2))
    for animal in [puppy, tom] as [any ManagedObject] { mine.insert(animal) }
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Puppy.self, with: puppy.objectID).age = 10
    try theirs.existingObject(Cat.self, with: tom.objectID).age = 10
    try theirs.save()
    (puppy.age, tom.age) = (5, 5)
    mine.mergePolicy = .custom { conflict in conflict.resolve(\Dog.age) { max($1, $2) } }
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .conflict && error?.context.objectID == tom.objectID)
    mine.mergePolicy = .custom { conflict in
      conflict.resolve(\Dog.age) { max($1, $2) }
      conflict.resolve(\Cat.age) { min($1, $2) }
    }
    try mine.save()
    #expect(puppy.age == 10 && tom.age == 5)
  }

  /// A relationship of a described entity may lead to a subclass. It refuses objects of other classes, and returns
  /// objects of this class.
  @Test func aRecordLeadsToTheClassThatIsNamed() async throws {
    let walk = EntityDescription(
      name: "Walk",
      properties: [
        .attribute("km", Int.self, default: 1), .toOne("dog", to: "Dog"), .toMany("dogs", to: "Dog"),
      ]
    )
    let zoo = try await PersistentContainer(
      "Zoo",
      models: Animal.self,
      Keeper.self,
      entities: [walk],
      at: .inMemory
    )
    try zoo.inContext { (context: ManagedObjectContext) throws -> Void in
      let (rex, tom) = (Dog("Rex", age: 1, breed: "Pug"), Cat("Tom", age: 1, whiskers: 2))
      for animal in [rex, tom] as [any ManagedObject] { context.insert(animal) }
      let record = try context.insert(entity: "Walk")
      try record.setObject("dog", to: rex)
      try record.add(rex, to: "dogs")
      #expect(try record.object("dog", as: Dog.self) === rex)
      #expect(try record.object("dog", as: Animal.self) === rex)
      #expect(try record.objects("dogs", as: Dog.self) == [rex])
      for body in [{ try record.setObject("dog", to: tom) }, { try record.add(tom, to: "dogs") }] {
        let error = #expect(throws: ContextError.self) { try body() }
        #expect(error?.code == .wrongDestination)
      }
      let error = #expect(throws: ContextError.self) { try record.object("dog", as: Cat.self) }
      #expect(error?.code == .wrongDestination)
      try context.save()
    }
    #expect(try await zoo.verify().map(\.description) == [])
  }

  /// The store's schema doesn't depend on the class of the hierarchy that a relationship leads to. Nevertheless, all
  /// containers of a store have to agree on this class.
  @Test func containersOfOneStoreLeadToTheSameClasses() async throws {
    let folder = try TemporaryFolder()
    func zoo(walking destination: String) async throws -> PersistentContainer {
      let walk = EntityDescription(name: "Walk", properties: [.toOne("animal", to: destination)])
      return try await PersistentContainer(
        "Zoo",
        models: Animal.self,
        Keeper.self,
        entities: [walk],
        at: URL(fileURLWithPath: folder.file("zoo.cambium"))
      )
    }
    let dogs = try await zoo(walking: "Dog")
    let same = try await zoo(walking: "Dog")
    #expect(dogs.coordinator === same.coordinator)
    let error = await #expect(throws: ContextError.self) { try await zoo(walking: "Animal") }
    #expect(error?.code == .schemaMismatch)
  }
}
