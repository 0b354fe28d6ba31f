import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// A hierarchy whose subclasses have required relationships, and a plain model that has the same.
private enum Depot {
  @Model(subclasses: ["Truck", "Van"])
  class Vehicle {
    @Attribute(.unique) var plate: String
    init(_ plate: String) { self.plate = plate }
  }

  @Model(superclass: "Vehicle", subclasses: ["Tanker"])
  class Truck: Vehicle {
    @Relationship(inverse: \Driver.trucks) var driver: Driver
    @Relationship(inverse: \Licence.truck) var licence: Licence
    init(_ plate: String, _ driver: Driver, _ licence: Licence = Licence()) {
      self.driver = driver
      self.licence = licence
      super.init(plate)
    }
  }

  @Model(superclass: "Truck")
  final class Tanker: Truck {
    @Relationship var plant: Plant
    @Relationship(.ordered, inverse: \Queue.tankers) var queue: Queue
    init(_ plate: String, _ driver: Driver, _ plant: Plant, _ queue: Queue) {
      self.plant = plant
      self.queue = queue
      super.init(plate, driver)
    }
  }

  @Model(superclass: "Vehicle")
  final class Van: Vehicle {
    @Relationship(inverse: \Driver.vans) var owner: Driver?
    override init(_ plate: String) { super.init(plate) }
  }

  @Model final class Tram {
    @Relationship var plant: Plant
    init(_ plant: Plant) { self.plant = plant }
  }

  @Model final class Driver {
    var name: String
    @Relationship(deleteRule: .cascade) var trucks: [Truck] = []
    @Relationship var vans: [Van] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Licence {
    @Relationship(deleteRule: .deny) var truck: Truck?
    init() {}
  }

  @Model final class Plant {
    init() {}
  }

  @Model final class Queue {
    @Relationship(.ordered, deleteRule: .cascade) var tankers: [Tanker] = []
    init() {}
  }

  static let models: [any ManagedObject.Type] = [
    Vehicle.self, Tram.self, Driver.self, Licence.self, Plant.self, Queue.self,
  ]
}

private enum Nullifying {
  @Model(subclasses: ["Truck"])
  class Vehicle {
    var plate: String
    init(_ plate: String) { self.plate = plate }
  }
  @Model(superclass: "Vehicle")
  final class Truck: Vehicle {
    @Relationship(inverse: \Driver.trucks) var driver: Driver
    init(_ plate: String, _ driver: Driver) {
      self.driver = driver
      super.init(plate)
    }
  }
  @Model final class Driver {
    @Relationship var trucks: [Truck] = []
    init() {}
  }
}

/// Relationships that objects of a subclass require, and that other objects of the hierarchy don't have.
struct RequiredLinkTests {
  private let container: PersistentContainer

  init() async throws {
    container = try await PersistentContainer("Depot", models: Depot.models, at: .inMemory)
  }

  private func run(_ body: @Sendable (ManagedObjectContext) throws -> Void) throws {
    try container.inContext(body)
    let problems = try container.verify().map(\.description)
    #expect(problems == [])
  }

  /// Makes a truck, a tanker and a van, each with what it needs.
  private static func fill(_ context: ManagedObjectContext) throws {
    let (ada, queue) = (Depot.Driver("Ada"), Depot.Queue())
    context.insert(Depot.Truck("truck", ada))
    context.insert(Depot.Tanker("tanker", ada, Depot.Plant(), queue))
    context.insert(Depot.Tanker("second", ada, Depot.Plant(), queue))
    context.insert(Depot.Van("van"))
    try context.save()
  }

  @Test func aSaveIsRefusedAsThatOfAPlainModel() throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      try Self.fill(context)
      func failure(of object: some ManagedObject) throws -> ContextError {
        // A rollback takes a new object's links away.
        context.insert(object)
        context.rollback()
        context.insert(object)
        let error = #expect(throws: ContextError.self) { try context.save() }
        context.rollback()
        return try #require(error)
      }
      let plain = try failure(of: Depot.Tram(Depot.Plant()))
      #expect(plain.code == .missingValue && plain.context.properties == ["plant"])
      let tanker = Depot.Tanker("new", Depot.Driver("Bob"), Depot.Plant(), Depot.Queue())
      let failures = try failure(of: tanker).failures
      #expect(failures.allSatisfy { $0.code == plain.code && $0.context.entity == "Vehicle" })
      #expect(Set(failures.flatMap(\.context.properties)) == ["driver", "licence", "plant", "queue"])
      let truck = try failure(of: Depot.Truck("new", Depot.Driver("Bob"))).failures
      #expect(Set(truck.flatMap(\.context.properties)) == ["driver", "licence"])
      context.insert(Depot.Van("new"))
      context.insert(Depot.Vehicle("other"))
      try context.save()
    }
  }

  @Test func linksAreFollowedAndQueried() throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      try Self.fill(context)
    }
    try run { (context: ManagedObjectContext) throws -> Void in
      let ada = try #require(try context.fetchOne(From<Depot.Driver>()))
      let tanker = try #require(try context.fetchOne(From<Depot.Tanker>().where { $0.plate == "tanker" }))
      #expect(tanker.driver === ada && tanker.licence.truck === tanker && tanker.queue.tankers.count == 2)
      #expect(Set(ada.trucks.map(\.plate)) == ["truck", "tanker", "second"])
      let driven = From<Depot.Truck>().where { $0.driver.name == "Ada" }
      #expect(try context.count(driven) == 3)
      let bob = Depot.Driver("Bob")
      tanker.driver = bob
      try context.save()
      let his = From<Depot.Tanker>().where { $0.driver == bob }
      #expect(try context.fetch(his).map(\.plate) == ["tanker"])
      tanker.queue.tankers.reverse()
      try context.save()
    }
  }

  @Test func whatIsTakenFromAnotherIsMissedThere() throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      try Self.fill(context)
      let truck = try #require(
        try context.fetchOne(From<Depot.Vehicle>().where { $0.plate == "truck" }) as? Depot.Truck
      )
      let tanker = try #require(try context.fetchOne(From<Depot.Tanker>().where { $0.plate == "tanker" }))
      let own = truck.licence
      truck.licence = tanker.licence
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .missingValue && error?.context.objectID == tanker.objectID)
      tanker.licence = own
      try context.save()
      #expect(own.truck === tanker && truck.licence.truck === truck)
      own.truck = nil
      let lost = #expect(throws: ContextError.self) { try context.save() }
      #expect(lost?.code == .missingValue && lost?.context.properties == ["licence"])
      context.rollback()
      tanker.queue.tankers.removeFirst()
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
    }
  }

  @Test func deleteRulesAreThoseOfRequiredLinks() throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      try Self.fill(context)
      let truck = try #require(try context.fetchOne(From<Depot.Truck>().where { $0.plate == "truck" }))
      context.delete(truck.licence)
      let denied = #expect(throws: ContextError.self) { try context.save() }
      #expect(denied?.failures.map(\.code).contains(.deletionDenied) == true)
      context.rollback()
      let tanker = try #require(try context.fetchOne(From<Depot.Tanker>().where { $0.plate == "tanker" }))
      context.delete(tanker.plant)
      let lost = #expect(throws: ContextError.self) { try context.save() }
      #expect(lost?.code == .missingValue && lost?.context.properties == ["plant"])
      context.delete(tanker)
      try context.save()
      let ada = try #require(try context.fetchOne(From<Depot.Driver>()))
      context.delete(ada)
      try context.save()
      let left = try context.fetch(From<Depot.Vehicle>())
      #expect(left.map(\.plate) == ["van"])
    }
  }

  /// One context links an object that another context deletes. The transaction of the save detects this.
  @Test func aRaceLeavesNoObjectWithoutItsLink() throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      try Self.fill(context)
    }
    let other = try container.newBackgroundContext()
    try other.performAndWait { (other: ManagedObjectContext) throws -> Void in
      let plants = try other.fetch(From<Depot.Plant>())
      let tanker = try #require(try other.fetchOne(From<Depot.Tanker>()))
      let free = Depot.Plant()
      other.insert(free)
      try other.save()
      let (tankerID, freeID) = (tanker.objectID, free.objectID)
      try container.inContext { (context: ManagedObjectContext) throws -> Void in
        let mine = try context.existingObject(Depot.Tanker.self, with: tankerID)
        mine.plant = try context.existingObject(Depot.Plant.self, with: freeID)
        try context.save()
      }
      #expect(plants.count == 2)
      other.delete(free)
      let error = #expect(throws: ContextError.self) { try other.save() }
      #expect(error?.code == .missingValue)
    }
    #expect(try container.verify().map(\.description) == [])
  }

  @Test func batchesAndRecordsNeedThemToo() async throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      try Self.fill(context)
    }
    let ada = try await container.query { try $0.fetch(From<Depot.Driver>()).map(\.objectID)[0] }
    let refused = await #expect(throws: ContextError.self) {
      try await container.batchInsert(
        Depot.Truck.self,
        from: ["batch"],
        .set(\.plate) { $0 },
        .set(\.driver) { _ in ada }
      )
    }
    #expect(refused?.code == .missingValue && refused?.context.properties == ["licence"])
    try await container.batchInsert(Depot.Van.self, from: ["batch"], .set(\.plate) { $0 })
    let deletion = await #expect(throws: ContextError.self) {
      try await container.batchDelete(From<Depot.Plant>())
    }
    #expect(deletion?.code == .missingValue)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aProgramWithoutTheClassesKeepsTheRule() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("depot"))
    let first = try await PersistentContainer("Depot", models: Depot.models, at: .file(url))
    try first.inContext { (context: ManagedObjectContext) throws -> Void in try Self.fill(context) }
    try await first.close()
    let records = try await PersistentContainer("Depot", at: url)
    try records.inContext { (context: ManagedObjectContext) throws -> Void in
      let truck = try #require(try context.fetch(DynamicQuery("Truck")).first)
      try truck.setObject("driver", to: nil)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .missingValue && error?.context.properties == ["driver"])
      context.rollback()
      let van = try #require(try context.fetch(DynamicQuery("Van")).first)
      try van.set("plate", to: "other")
      try context.save()
      let plants = try context.fetch(DynamicQuery("Plant"))
      for plant in plants { context.delete(plant) }
      #expect(throws: ContextError.self) { try context.save() }
    }
    #expect(try await records.verify().map(\.description) == [])
  }

  @Test func aSchemaKnowsThem() throws {
    let error = #expect(throws: SchemaError.self) {
      try Schema([Nullifying.Vehicle.self, Nullifying.Driver.self])
    }
    #expect(
      error?.problems == ["Driver.trucks can't nullify: Vehicle.driver is required; use cascade or deny"]
    )
    let schema = try Schema(Depot.models)
    #expect(schema.description.contains("class Truck: Vehicle driver!, licence!"))
    #expect(try SchemaDocument(schema).schema() == schema)
  }
}
