import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

private enum Wide {
  @Model(subclasses: ["Truck", "Van"])
  class Vehicle {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Vehicle")
  final class Truck: Vehicle {
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Vehicle")
  final class Van: Vehicle {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Driver {
    @Relationship var vehicles: [Vehicle] = []
    init() {}
  }
}

/// The relationship leads to the class that has its inverse.
private enum Narrow {
  @Model(subclasses: ["Truck", "Van"])
  class Vehicle {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Vehicle")
  final class Truck: Vehicle {
    @Relationship(inverse: \Driver.vehicles) var driver: Driver?
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Vehicle")
  final class Van: Vehicle {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Driver {
    @Relationship var vehicles: [Truck] = []
    init() {}
  }
}

/// It leads to the class above.
private enum Wrong {
  @Model(subclasses: ["Truck"])
  class Vehicle {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Vehicle")
  final class Truck: Vehicle {
    @Relationship(inverse: \Driver.vehicles) var driver: Driver?
    @Relationship var partner: Vehicle?
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Driver {
    @Relationship var vehicles: [Vehicle] = []
    init() {}
  }
}

/// The root lists a class that inherits from another subclass.
private enum Misplaced {
  @Model(subclasses: ["Dog", "Puppy"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  class Dog: Animal {
    @Attribute(.perInsert { 7 }) var chip: Int
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Dog")
  final class Puppy: Dog {
    override init(_ name: String) { super.init(name) }
  }
}

@Embeddable private struct Home: Hashable {
  var street: String = ""
}

@Embeddable private struct Office: Hashable {
  var room: Int = 0
}

/// Two classes have an embedded value of the same name, with parts of different names.
private enum Twice {
  @Model(subclasses: ["Patient", "Doctor"])
  class Person {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Person")
  final class Patient: Person {
    @Embedded var place: Home?
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Person")
  final class Doctor: Person {
    @Embedded var place: Office = Office()
    override init(_ name: String) { super.init(name) }
  }
}

/// The links of a shorthand are of a subclass that needs a value.
private enum Linked {
  @Model(subclasses: ["Founder"])
  class Membership {
    @Relationship var person: Player?
    init() {}
  }
  @Model(superclass: "Membership")
  final class Founder: Membership {
    var share: Double
    @Relationship(inverse: \Band.founderships) var band: Band?
    init(share: Double) {
      self.share = share
      super.init()
    }
  }
  @Model final class Band {
    @Relationship(deleteRule: .cascade) var founderships: [Founder] = []
    @Relationship(through: \Band.founderships, to: \Founder.person) var founders: [Player]
    init() {}
  }
  @Model final class Player {
    init() {}
  }
}

/// Invalid classes of a hierarchy. Each is refused when the models are combined into a schema.
struct HierarchyInverseTests {
  private func problems(_ models: [any ManagedObject.Type]) -> [String] {
    #expect(throws: SchemaError.self) { try Schema(models) }
    do throws(SchemaError) { _ = try Schema(models) } catch { return error.problems }
    return []
  }

  @Test func anInverseBelongsToEveryObjectThatIsLedTo() throws {
    let found = problems([Wrong.Vehicle.self, Wrong.Driver.self])
    #expect(
      found == ["Driver.vehicles leads to Vehicle, and its inverse driver is no property of Vehicle"]
    )
    _ = try Schema([Narrow.Vehicle.self, Narrow.Driver.self])
  }

  @Test func aClassIsListedByItsSuperclass() {
    let found = problems([Misplaced.Animal.self])
    #expect(found == ["Puppy inherits from Dog, which doesn't list it among its subclasses"])
  }

  @Test func aLinkThatNeedsAValueCannotBeMade() {
    let found = problems([Linked.Membership.self, Linked.Band.self, Linked.Player.self])
    #expect(found.count == 1 && found[0].hasPrefix("Band.founders makes objects of Founder, whose share has"))
  }

  @Test func anEmbeddedValueHasItsNameAlone() {
    let found = problems([Twice.Person.self])
    #expect(found == ["Person and its subclasses have two properties named place"])
  }

  @Test func aNewInverseIsRefusedWhereOtherClassesAreLinked() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("fleet.cambium"))
    func open(_ models: [any ManagedObject.Type]) async throws -> PersistentContainer {
      try await PersistentContainer("Fleet", models: models, at: .file(url))
    }
    let kept = try await open([Wide.Vehicle.self, Wide.Driver.self])
    let van = try await kept.write { context in
      let (driver, van) = (Wide.Driver(), Wide.Van("v"))
      context.insert(driver)
      driver.vehicles = [Wide.Truck("t"), van]
      return van.objectID
    }
    try await kept.close()
    let models: [any ManagedObject.Type] = [Narrow.Vehicle.self, Narrow.Driver.self]
    let error = await #expect(throws: ContextError.self) { try await open(models) }
    #expect(error?.code == .wrongValue && error?.refusal?.offenders.map(\.rule) == [.otherClass])
    #expect(error?.refusal?.offenders.map(\.objectID) == [van])

    let old = try await open([Wide.Vehicle.self, Wide.Driver.self])
    try await old.write { context in context.delete(try context.existingObject(Wide.Van.self, with: van)) }
    try await old.close()
    let new = try await open(models)
    let count = try await new.query { context in
      try context.fetch(From<Narrow.Truck>().where { $0.driver != nil }).count
    }
    #expect(try await new.verify() == [])
    #expect(count == 1)
  }
}
