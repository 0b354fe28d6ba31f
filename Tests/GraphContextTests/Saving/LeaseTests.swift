import Cambium
import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Numbers are handed out under leases that the store has committed.
struct LeaseTests {
  private func commitCount(_ library: PersistentContainer) -> UInt64 { library.store.lastCommit }

  private func open(_ disk: SimulatedDisk, _ durability: Durability) throws -> PersistentContainer {
    var options = StoreOptions()
    options.durability = durability
    let store = try Store.open(
      file: disk,
      path: "simulated",
      options: options,
      environment: .simulated(seed: 1)
    )
    return try PersistentContainer("Library", models: Library.models, on: store)
  }

  // MARK: Failures of the power

  @Test(arguments: [Durability.full, .relaxed])
  func aNumberSeenBeforeAPowerFailureIsNotGivenAgain(_ durability: Durability) async throws {
    var generator = SeededGenerator()
    var disk = SimulatedDisk()
    var seen: Set<ObjectNumber> = []
    for round in 0..<24 {
      let library = try open(disk, durability)
      let context = try library.context()
      let count = generator.number(in: 1...3_000)
      for place in 1...count {
        let desk = Desk(place)
        context.insert(desk)
        #expect(seen.insert(desk.objectID.number).inserted, "round \(round)")
        if generator.chance(1, in: 400) { try context.save() }
      }
      let image = disk.crashPoint.image(generator.pick(Damage.allCases), seed: generator.next())
      disk.cut()
      context.end()
      disk = SimulatedDisk(image)
    }
  }

  @Test func aNumberSeenBeforeTheProcessDiesIsNotGivenAgain() throws {
    var disk = SimulatedDisk()
    var seen: Set<ObjectNumber> = []
    for _ in 0..<3 {
      let library = try open(disk, .none)
      let context = try library.context()
      for place in 0..<2_000 {
        let desk = Desk(place)
        context.insert(desk)
        #expect(seen.insert(desk.objectID.number).inserted)
      }
      let next = disk.afterProcessDeath()
      disk.cut()
      context.end()
      disk = next
    }
  }

  // MARK: Blocks

  @Test func blocksGrowWithDemand() async throws {
    let library = try await Library.open()
    let before = commitCount(library)
    let context = try library.context()
    // 1,024 and its doubles up to 65,536 are 130,048.
    for number in 0..<130_048 { context.insert(Desk(number)) }
    #expect(commitCount(library) == before + 7)
    for number in 0..<65_536 { context.insert(Desk(number)) }
    #expect(commitCount(library) == before + 8)
    try context.save()
    #expect(commitCount(library) == before + 9)
    #expect(try await library.verify().isEmpty)
  }

  @Test func savesLeaseAheadOfNeed() async throws {
    let library = try await Library.open()
    let context = try library.context()
    context.insert(Desk(0))
    let before = commitCount(library)
    for round in 1...UInt64(50) {
      for number in 0..<500 { context.insert(Desk(number)) }
      try context.save()
      #expect(commitCount(library) == before + round)
    }
    #expect(try await library.verify().isEmpty)
  }

  @Test func theFirstBlocksOfAllEntitiesAreOneCommit() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let before = commitCount(library)
    let (writer, publisher) = (Writer("A"), Publisher("P"))
    for object in [writer, publisher, Book("B", publisher: publisher), Desk(1)] as [any ManagedObject] {
      context.insert(object)
    }
    #expect(commitCount(library) == before + 1)
  }

  @Test func aSaveThatFailsLeasesNothing() async throws {
    let library = try await Library.open()
    let context = try library.context()
    var numbers: [ObjectNumber] = []
    for _ in 0..<3 {
      for place in 0..<800 {
        let writer = Writer("A", email: place < 2 ? "same" : nil)
        context.insert(writer)
        numbers.append(writer.objectID.number)
      }
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
    }
    #expect(Set(numbers).count == numbers.count)
    context.insert(Writer("B"))
    try context.save()
    #expect(try await library.verify().isEmpty)
  }

  @Test func contextsThatInsertAtTheSameTimeGetDifferentNumbers() async throws {
    let library = try await Library.open()
    let numbers = try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          try await library.performBackgroundTask { context in
            let desks = (0..<4_000).map { Desk($0) }
            for desk in desks { context.insert(desk) }
            try context.save()
            return desks.map(\.objectID.number)
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(numbers).count == 16_000)
    #expect(try await library.verify().isEmpty)
  }

  // MARK: Failures

  /// The lease needs the writer's turn, which the current thread holds already.
  @Test func anInsertionWithoutALeaseFailsTheSave() throws {
    let library = try open(SimulatedDisk(), .full)
    let context = try library.context()
    let desk = Desk(1)
    try library.store.write { _ in context.insert(desk) }
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.storeError?.code == .nestedWrite)
    #expect(context.insertedObjects.isEmpty)
    context.rollback()
    context.insert(desk)
    try context.save()
    #expect(try context.existingObject(Desk.self, with: desk.objectID) === desk)
  }

  @Test func aLeaseThatCannotBeSyncedGivesNoNumber() throws {
    let disk = SimulatedDisk()
    let library = try open(disk, .relaxed)
    let context = try library.context()
    for call in [DiskCall.synchronize, .writeDurably] {
      disk.inject(DiskFault(call, at: 0, .error(EIO), isSticky: true))
    }
    let desk = Desk(1)
    context.insert(desk)
    #expect(context.insertedObjects.isEmpty)
    #expect(throws: ContextError.self) { try context.save() }
    context.end()
  }

  @Test func inAStoreThatIsOpenForReadingObjectsHaveNumbersThatAreNotLeased() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let writing = try await Library.open(at: path)
    try await writing.performBackgroundTask { context in
      context.insert(Desk(1))
      try context.save()
    }
    try await writing.close()
    var options = StoreOptions()
    options.isReadOnly = true
    let location = StoreLocation.file(URL(fileURLWithPath: path))
    let library = try await PersistentContainer("L", models: Library.models, at: location, options: options)
    let error = try await library.performBackgroundTask { context in
      let desks = (0..<3_000).map { Desk($0) }
      for desk in desks { context.insert(desk) }
      #expect(Set(desks.map(\.objectID)).count == 3_000)
      let count = try context.count(From<Desk>())
      #expect(count == 3_001)
      return #expect(throws: ContextError.self) { try context.save() }
    }
    #expect(error?.storeError?.code == .readOnly)
    try await library.close()
  }
}
