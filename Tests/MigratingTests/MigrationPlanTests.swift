import Cambium
import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Four versions of a fleet: a rename, a new index, a model made required, and an entity split.
private enum FleetV1: VersionedSchema {
  static let version = Schema.Version(1)
  static var models: [any ManagedObject.Type] { [Plane.self, Airline.self] }

  @Model final class Plane {
    @Attribute(.unique) var tail: String
    var model: String?
    var seats: Int
    @Relationship var airline: Airline?
    init(_ tail: String, _ model: String?, _ seats: Int) {
      self.tail = tail
      self.model = model
      self.seats = seats
    }
  }
  @Model final class Airline {
    var name: String
    @Relationship(inverse: \Plane.airline) var planes: [Plane] = []
    init(_ name: String) { self.name = name }
  }
}

private enum FleetV2: VersionedSchema {
  static let version = Schema.Version(2)
  static var models: [any ManagedObject.Type] { [Plane.self, Airline.self] }

  @Model final class Plane {
    @Attribute(.unique, originalName: "tail") var registration: String
    var model: String?
    var seats: Int
    @Relationship var airline: Airline?
    init(_ registration: String, _ model: String?, _ seats: Int) {
      self.registration = registration
      self.model = model
      self.seats = seats
    }
  }
  @Model final class Airline {
    var name: String
    @Relationship(inverse: \Plane.airline) var planes: [Plane] = []
    init(_ name: String) { self.name = name }
  }
}

private enum FleetV3: VersionedSchema {
  static let version = Schema.Version(3)
  static var models: [any ManagedObject.Type] { [Plane.self, Airline.self] }

  @Model final class Plane {
    #Index<Plane>([\.seats])
    @Attribute(.unique, originalName: "tail") var registration: String
    var model: String = "unknown"
    var seats: Int
    @Relationship var airline: Airline?
    init(_ registration: String, _ model: String, _ seats: Int) {
      self.registration = registration
      self.model = model
      self.seats = seats
    }
  }
  @Model final class Airline {
    var name: String
    @Relationship(inverse: \Plane.airline) var planes: [Plane] = []
    init(_ name: String) { self.name = name }
  }
}

private enum FleetV4: VersionedSchema {
  static let version = Schema.Version(4)
  static var models: [any ManagedObject.Type] { [Plane.self, AircraftModel.self, Airline.self] }

  @Model final class Plane {
    @Attribute(.unique, originalName: "tail") var registration: String
    @Relationship var model: AircraftModel
    @Relationship var airline: Airline?
    init(_ registration: String, _ model: AircraftModel) {
      self.registration = registration
      self.model = model
    }
  }
  @Model final class AircraftModel {
    @Attribute(.unique) var name: String
    var seats: Int32
    @Relationship(deleteRule: .deny, inverse: \Plane.model) var planes: [Plane] = []
    init(_ name: String, _ seats: Int32) {
      self.name = name
      self.seats = seats
    }
  }
  @Model final class Airline {
    var name: String
    @Relationship(inverse: \Plane.airline) var planes: [Plane] = []
    init(_ name: String) { self.name = name }
  }
}

private let versions: [any VersionedSchema.Type] = [FleetV1.self, FleetV2.self, FleetV3.self, FleetV4.self]

@Sendable private func splitModels(_ batch: MigrationBatch) throws {
  for plane in batch.objects {
    let name: String = try plane.value("model") ?? "unknown"
    let seats: Int = try plane.value("seats") ?? 0
    let isNamed = try PredicateTree(format: "name == %@", arguments: [name])
    let known = try batch.new.fetch(DynamicQuery("AircraftModel", where: isNamed)).first
    let model = try known ?? batch.new.insert(entity: "AircraftModel")
    if known == nil {
      try model.set("name", to: name)
      try model.set("seats", to: Int32(seats))
    }
    try batch.successor(of: plane)?.setObject("model", to: model)
  }
}

private func registration(_ plane: ManagedRecord) throws -> String {
  try plane.value("registration") ?? ""
}

private func plan(
  inBatchesOf count: Int = 10,
  _ body: @escaping @Sendable (MigrationBatch) throws -> Void = splitModels
) -> MigrationPlan {
  MigrationPlan(
    versions,
    stages: [
      .custom(
        from: FleetV3.self,
        to: FleetV4.self,
        rebuilding: ["Plane", "AircraftModel"],
        .forEach("Plane", inBatchesOf: count, body)
      )
    ]
  )
}

struct MigrationPlanTests {
  private static let planeCount = 57

  private func store(_ disk: SimulatedDisk) throws -> Store {
    try Store.open(
      file: disk,
      path: "simulated",
      options: StoreOptions(),
      environment: .simulated(seed: 1)
    )
  }

  private func open(
    _ disk: SimulatedDisk,
    _ plan: MigrationPlan,
    _ monitor: MigrationMonitor = MigrationMonitor(chunkByteCount: 500)
  ) throws -> PersistentContainer {
    try PersistentContainer(
      "fleet",
      ContainerModels(plan),
      on: try store(disk),
      ContainerOpening(monitor: monitor)
    )
  }

  private func filled(_ plan: MigrationPlan = MigrationPlan([FleetV1.self])) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let container = try open(disk, plan)
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    let airlines = ["North", "South"].map(FleetV1.Airline.init)
    for number in 0..<Self.planeCount {
      let model = number % 5 == 4 ? nil : "A3\(number % 4)0"
      let plane = FleetV1.Plane("N\(number)", model, model == nil ? 0 : 100 + number % 4)
      context.insert(plane)
      plane.airline = number % 3 == 2 ? nil : airlines[number % 3]
    }
    try context.save()
    context.end()
    try container.close()
    return disk
  }

  private static let expected = (0..<planeCount).map { number in
    let model = number % 5 == 4 ? "unknown 0" : "A3\(number % 4)0 \(100 + number % 4)"
    return "N\(number) \(model) \(number % 3 == 2 ? "-" : number % 3 == 0 ? "North" : "South")"
  }

  private func check(_ container: PersistentContainer) throws {
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    defer { context.end() }
    let planes = try context.fetch(From<FleetV4.Plane>())
    #expect(
      planes.map { "\($0.registration) \($0.model.name) \($0.model.seats) \($0.airline?.name ?? "-")" }
        == Self.expected
    )
    #expect(planes.allSatisfy { $0.model.planes.contains($0) })
    #expect(try context.count(From<FleetV4.AircraftModel>()) == 5)
    #expect(try container.verify().map(\.description) == [])
    let snapshot = try container.newestView().snapshot
    #expect(try SchemaTree.migration(in: snapshot) == nil)
    #expect(container.coordinator.schema.catalogue.version == FleetV4.version)
    let owned = Set(container.coordinator.schema.catalogue.entities.flatMap(\.trees) + ["schema"])
    #expect(try snapshot.treeNames.allSatisfy(owned.contains))
  }

  @Test func aChainOfFourVersionsInOneOpening() throws {
    let disk = try filled()
    let container = try open(disk, plan())
    try check(container)
    try container.close()
    let again = try open(disk, plan())
    try check(again)
    try again.close()
  }

  @Test func aStoreWithoutAVersionIsRecognisedByItsSchema() throws {
    let disk = SimulatedDisk()
    let container = try PersistentContainer("fleet", models: FleetV1.models, on: try store(disk))
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    context.insert(FleetV1.Plane("N1", "A320", 180))
    try context.save()
    context.end()
    try container.close()
    let upgraded = try open(disk, plan())
    let after = try ManagedObjectContext(coordinator: upgraded.coordinator)
    #expect(try after.fetch(From<FleetV4.Plane>()).map(\.model.name) == ["A320"])
    after.end()
    try upgraded.close()
  }

  @Test func anOldGraphIsReadAndTheNewOneWritten() throws {
    let disk = try filled()
    let seen = Mutex<[String]>([])
    let container = try open(
      disk,
      plan { batch in
        let names = try batch.objects.map(registration)
        seen.withLock { $0 += names }
        #expect(try batch.old.count(DynamicQuery("Plane")) == Self.planeCount)
        #expect(try batch.old.count(DynamicQuery("Plane", where: PredicateTree(format: "seats > 100"))) > 0)
        #expect(throws: ContextError.self) { try batch.new.insert(entity: "Wing") }
        try splitModels(batch)
        let error = #expect(throws: ContextError.self) { try batch.new.save() }
        #expect(error?.code == .saveNotAllowed)
        try batch.old.insert(entity: "Airline").set("name", to: "East")
        let other = #expect(throws: ContextError.self) { try batch.old.save() }
        #expect(other?.code == .saveNotAllowed)
      }
    )
    #expect(seen.withLock(\.self) == (0..<Self.planeCount).map { "N\($0)" })
    try check(container)
    try container.close()
  }

  // MARK: Failures

  private struct Stop: Error {}

  private func dump(_ disk: SimulatedDisk) throws -> [String] {
    let container = try PersistentContainer(
      "fleet",
      ContainerModels(classes: [], others: .stored),
      on: try store(disk)
    )
    defer { try? container.close() }
    #expect(try container.verify().map(\.description) == [])
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    defer { context.end() }
    let version = container.coordinator.schema.catalogue.version.map(\.description) ?? "-"
    return try [version]
      + context.fetch(DynamicQuery("Plane")).map {
        "\(try $0["registration"]) \(try $0["model"]) \(try $0["seats"])"
      }
  }

  @Test func aPassThatThrowsLeavesTheVersionBefore() throws {
    let disk = try filled()
    let calls = Atomic(0)
    let error = #expect(throws: ContextError.self) {
      try open(
        disk,
        plan { batch in
          if calls.add(1, ordering: .relaxed).newValue == 3 { throw Stop() }
          try splitModels(batch)
        }
      )
    }
    #expect(error?.code == .stageFailed && error?.underlyingError is Stop)
    #expect(error?.message.contains("objects 21 to 30 of Plane") == true)
    let before = try dump(disk)
    #expect(before.count == Self.planeCount + 1 && before.first == "3.0.0")
    let container = try open(disk, plan())
    try check(container)
    try container.close()
  }

  @Test func objectsThatBreakAConstraintInTheEndAreListed() throws {
    let disk = try filled()
    let error = #expect(throws: ContextError.self) {
      try open(
        disk,
        plan { batch in
          if try batch.objects.first.map(registration) != "N10" { try splitModels(batch) }
        }
      )
    }
    #expect(error?.code == .missingValue)
    #expect(error?.refusal?.offenderCount == 10)
    #expect(error?.refusal?.offenders.first?.properties == ["model"])
    #expect(try dump(disk).count == Self.planeCount + 1)
    let container = try open(disk, plan())
    try check(container)
    try container.close()
  }

  @Test func anEntityThatIsNotRebuiltCannotBeChanged() throws {
    let disk = try filled()
    let error = #expect(throws: ContextError.self) {
      try open(
        disk,
        plan { batch in
          try splitModels(batch)
          for airline in try batch.new.fetch(DynamicQuery("Airline")) { try airline.set("name", to: "?") }
        }
      )
    }
    #expect(error?.code == .stageFailed)
    #expect((error?.underlyingError as? ContextError)?.code == .saveNotAllowed)
    #expect(try dump(disk).first == "3.0.0")
  }

  @Test func aCancelledStageGoesOn() throws {
    let disk = try filled()
    let calls = Mutex<[String]>([])
    let counting = plan { batch in
      let names = try batch.objects.map(registration)
      calls.withLock { $0 += names }
      try splitModels(batch)
    }
    let monitors = Mutex<MigrationMonitor?>(nil)
    let monitor = MigrationMonitor(chunkByteCount: 500) { _ in
      if calls.withLock({ $0.count >= 30 }) { monitors.withLock { $0?.cancel() } }
    }
    monitors.withLock { $0 = monitor }
    let error = #expect(throws: ContextError.self) { try open(disk, counting, monitor) }
    #expect(error?.code == .cancelled)
    let container = try open(disk, counting)
    #expect(calls.withLock(\.self) == (0..<Self.planeCount).map { "N\($0)" })
    try check(container)
    try container.close()
  }

  @Test func aCancelledStageIsGivenUpByAPlanWithoutIt() throws {
    let disk = try filled()
    let monitors = Mutex<MigrationMonitor?>(nil)
    let monitor = MigrationMonitor(chunkByteCount: 500) { progress in
      if progress.stageNumber == 3, progress.completedRowCount == progress.totalRowCount - 7 {
        monitors.withLock { $0?.cancel() }
      }
    }
    monitors.withLock { $0 = monitor }
    #expect(throws: ContextError.self) { try open(disk, plan(), monitor) }
    let interrupted = try store(disk)
    #expect(try SchemaTree.migration(in: interrupted.snapshot()) != nil)
    #expect(try interrupted.verifyObjects(includingWarnings: false).map(\.description) == [])
    try interrupted.close()
    let third = try open(disk, MigrationPlan([FleetV1.self, FleetV2.self, FleetV3.self]))
    #expect(try third.verify().map(\.description) == [])
    let snapshot = try third.newestView().snapshot
    #expect(try SchemaTree.migration(in: snapshot) == nil)
    let owned = Set(third.coordinator.schema.catalogue.entities.flatMap(\.trees) + ["schema"])
    #expect(try snapshot.treeNames.allSatisfy(owned.contains))
    try third.close()
    let container = try open(disk, plan())
    try check(container)
    try container.close()
  }

  /// After every call to the disk, the store has one of the versions, whole, and the chain of stages can continue to
  /// its end. At most one batch is done twice.
  @Test func aFailureOfThePowerAtAnyMomentLeavesAVersion() throws {
    var generator = SeededGenerator()
    let disk = try filled()
    let points = Mutex<[CrashPoint]>([])
    disk.observe { _, point in points.withLock { $0.append(point) } }
    try open(disk, plan()).close()
    disk.observe(nil)
    var seen: Set<String> = []
    for point in points.withLock(\.self) {
      let damaged = SimulatedDisk(point.image(generator.pick(Damage.allCases), seed: generator.next()))
      let metadata = try store(damaged)
      let version = try SchemaTree.schema(in: try metadata.snapshot())?.version?.description ?? "-"
      #expect(try metadata.verifyObjects(includingWarnings: false).map(\.description) == [])
      try metadata.close()
      seen.insert(version)
      let container = try open(damaged, plan())
      try check(container)
      try container.close()
    }
    #expect(seen == ["1.0.0", "2.0.0", "3.0.0", "4.0.0"])
  }

  // MARK: Plans

  @Test func aPlanWithMistakesIsRefusedWithAllOfThem() {
    enum Locked: VersionedSchema {
      static let version = Schema.Version(2)
      static var models: [any ManagedObject.Type] { FleetV2.models }
      static var stableHash: UInt64? { 1 }
    }
    enum Unknown: VersionedSchema {
      static let version = Schema.Version(1)
    }
    func problem(_ plan: MigrationPlan) -> String {
      let error = #expect(throws: ContextError.self) { try plan.check() }
      #expect(error?.code == .schemaMismatch)
      return error?.message ?? ""
    }
    #expect(problem(MigrationPlan([])).contains("it has no versions"))
    #expect(problem(MigrationPlan([Unknown.self])).contains("the newest version has no schema"))
    #expect(problem(MigrationPlan([Locked.self])).contains("the models of version 2.0.0 have changed"))
    #expect(problem(MigrationPlan([FleetV2.self, FleetV1.self])).contains("version 1.0.0 follows 2.0.0"))
    let twice = problem(
      MigrationPlan(
        [FleetV1.self, FleetV2.self],
        stages: [
          .lightweight(from: FleetV1.self, to: FleetV2.self),
          .lightweight(from: FleetV1.self, to: FleetV2.self),
          .lightweight(from: FleetV2.self, to: FleetV1.self),
          .lightweight(from: FleetV1.self, to: FleetV3.self),
          .custom(from: FleetV1.self, to: FleetV2.self, rebuilding: ["Ship"]),
        ]
      )
    )
    for part in [
      "the stage from 1.0.0 to 2.0.0 is in the plan twice",
      "the stage from 2.0.0 to 1.0.0 leads to no later version",
      "the stage from 1.0.0 to 3.0.0 leads from or to a version that is not in the plan",
      "the stage from 1.0.0 to 2.0.0 rebuilds Ship, which version 2.0.0 doesn't have",
    ] {
      #expect(twice.contains(part), "\(twice)")
    }
  }

  @Test func aDirectStageIsTakenInsteadOfAChain() throws {
    let disk = try filled()
    let direct = MigrationPlan(
      versions,
      stages: [
        .custom(from: FleetV3.self, to: FleetV4.self, .once { _ in throw Stop() }),
        .custom(from: FleetV1.self, to: FleetV4.self, .forEach("Plane", splitModels)),
      ]
    )
    let container = try open(disk, direct)
    try check(container)
    try container.close()
  }

  @Test func aStoreFromTheFutureIsRefused() throws {
    let disk = try filled(MigrationPlan([FleetV1.self]))
    try open(disk, plan()).close()
    let error = #expect(throws: ContextError.self) {
      try open(disk, MigrationPlan([FleetV1.self, FleetV2.self]))
    }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("its schema is version 4.0.0, this one knows up to 2.0.0") == true)
  }

  @Test func aStoreThatNoVersionKnowsIsRefused() throws {
    let disk = SimulatedDisk()
    let schema = try Schema(entities: [
      EntityDescription(name: "Ship", properties: [.attribute(.init(name: "name", kind: .string))])
    ])
    try PersistentContainer(
      "fleet",
      ContainerModels(classes: [], others: .schema(schema)),
      on: try store(disk)
    )
    .close()
    let error = #expect(throws: ContextError.self) { try open(disk, plan()) }
    #expect(error?.message.contains("0x\(String(schema.stableHash, radix: 16))") == true)
  }
}
