import Cambium
import CambiumOperations
import Foundation
import Testing

import struct TestSupport.SeededGenerator
import class TestSupport.TemporaryFolder

@Model final class Parcel {
  @Attribute(.unique) var code: String
  var weight: Int

  /// Reads a missing object, so that the context records an error.
  func didSave() {
    guard code == "hasty", let context else { return }
    let text = objectID.uriRepresentation.replacing(#/\d+$/#, with: "999")
    guard let id = ManagedObjectID(uriRepresentation: text) else { return }
    _ = (try? context.object(Parcel.self, with: id))?.weight
  }

  init(_ code: String, weight: Int = 1) {
    self.code = code
    self.weight = weight
  }
}

/// A store in a folder that is removed with it.
final class Depot: Sendable {
  private let folder: TemporaryFolder
  let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("depot"))
    container = try await PersistentContainer("Depot", models: Parcel.self, at: url)
  }

  func codes() async throws -> [String] {
    try await container.query { context in try context.fetch(From<Parcel>().orderBy(\.code)).map(\.code) }
  }
}

/// A store operation with a closure.
private final class Work<Output: Sendable>: StoreOperation<Output>, @unchecked Sendable {
  // Safety: the closure never changes.
  private let body: @Sendable (Work, ManagedObjectContext) throws -> Void

  init(
    _ depot: Depot,
    mergePolicy: MergePolicy = .mergeByPropertyObjectTrump,
    retryStrategy: RetryStrategy = .none,
    _ body: @escaping @Sendable (Work, ManagedObjectContext) throws -> Void
  ) {
    self.body = body
    super.init(depot.container, mergePolicy: mergePolicy, retryStrategy: retryStrategy)
  }

  override func performWork(in context: ManagedObjectContext) throws { try body(self, context) }
}

/// A changeset operation with a closure.
private final class Counted: ChangesetOperation, @unchecked Sendable {
  // Safety: the closure never changes.
  private let body: @Sendable (Counted, ManagedObjectContext) throws -> Void

  init(_ depot: Depot, _ body: @escaping @Sendable (Counted, ManagedObjectContext) throws -> Void) {
    self.body = body
    super.init(depot.container)
  }

  override func performWork(in context: ManagedObjectContext) throws { try body(self, context) }
}

/// An operation that upserts its input, as in a module for imports.
private final class ImportParcels: StoreOperation<Void>, ConsumesResult, @unchecked Sendable {
  // Safety: the slot has a lock.
  @ResultSlot var input: Result<[Parcel.Values], any Error>

  override func performWork(in context: ManagedObjectContext) throws {
    for values in try input.get() { try context.insert(values) }
    saveAndFinish()
  }
}

/// Operations over a container.
@Suite(.timeLimit(.minutes(60))) struct StoreOperationTests {
  private func insert(_ count: Int, in context: ManagedObjectContext) {
    for number in 0..<count { context.insert(Parcel("p\(1000 + number)")) }
  }

  @Test func workIsSaved() async throws {
    let depot = try await Depot()
    let operation = Work<Void>(depot) { operation, context in
      #expect(context.name == "CambiumOperations.StoreOperation")
      #expect(context.mergePolicy == .mergeByPropertyObjectTrump && operation.operationContext != nil)
      context.insert(Parcel("a"))
      operation.saveAndFinish()
    }
    try await operation.run()
    #expect(try await depot.codes() == ["a"])
    #expect(operation.operationContext == nil)
  }

  /// A hook fails after the commit. The work is stored, and must not be done again.
  @Test func whatFailsInDidSaveFailsNoSave() async throws {
    let depot = try await Depot()
    let operation = Work<Void>(depot) { operation, context in
      context.insert(Parcel("hasty"))
      DispatchQueue.global().async { operation.saveAndFinish() }
    }
    operation.output = .success(())
    try await operation.run()
    #expect(try await depot.codes() == ["hasty"])
    let twice = Work<Void>(depot) { operation, context in
      try context.fetchOne(From<Parcel>())?.weight = 2
      #expect(operation.saveOperationContext())
      context.insert(Parcel("second"))
      operation.saveAndFinish()
    }
    twice.output = .success(())
    try await twice.run()
    #expect(try await depot.codes() == ["hasty", "second"])
  }

  @Test func anOutputIsWhatTheOperationSets() async throws {
    let depot = try await Depot()
    let counting = Work<Int>(depot) { operation, context in
      self.insert(3, in: context)
      operation.output = .success(context.insertedObjects.count)
      operation.saveAndFinish()
    }
    #expect(try await counting.run() == 3)
    let silent = Work<Int>(depot) { operation, _ in operation.saveAndFinish() }
    await #expect(throws: ResultError.self) { try await silent.run() }
  }

  @Test func workThatIsNotOverriddenFails() async throws {
    let depot = try await Depot()
    let error = StoreOperationError.notOverridden("StoreOperation<()>")
    await #expect(throws: error) { try await StoreOperation<Void>(depot.container).run() }
  }

  @Test func workMayGoOnLater() async throws {
    let depot = try await Depot()
    let operation = Work<Void>(depot) { operation, context in
      context.insert(Parcel("early"))
      DispatchQueue.global().async {
        _ = try? operation.operationContext?.performAndWait { $0.insert(Parcel("late")) }
        operation.saveAndFinish()
      }
    }
    try await operation.run()
    #expect(try await depot.codes() == ["early", "late"])
  }

  @Test func everySaveCounts() async throws {
    let depot = try await Depot()
    let operation = Counted(depot) { operation, context in
      context.insert(Parcel("a"))
      try context.save()
      context.insert(Parcel("b"))
      operation.saveAndFinish()
    }
    #expect(try await operation.run().inserted.count == 2)
    #expect(try await depot.codes() == ["a", "b"])
  }

  @Test func aSaveWithinASaveCounts() async throws {
    let depot = try await Depot()
    let operation = Counted(depot) { operation, context in
      let subscription = context.onDidSave { [unowned context] _ in
        guard context.insertedObjects.isEmpty, (try? context.count(From<Parcel>())) == 1 else { return }
        context.insert(Parcel("b"))
        #expect(throws: Never.self) { try context.save() }
      }
      context.insert(Parcel("a"))
      operation.saveAndFinish()
      subscription.cancel()
    }
    #expect(try await operation.run().inserted.count == 2)
    #expect(try await depot.codes() == ["a", "b"])
  }

  @Test func savesOfAFailedAttemptCount() async throws {
    let depot = try await Depot()
    let operation = Counted(depot) { operation, context in
      context.insert(Parcel("attempt \(operation.failureCount)"))
      operation.saveOperationContext()
      if operation.failureCount == 0 { throw Broken() }
      operation.saveAndFinish()
    }
    operation.retryStrategy = .repeat(times: 1)
    let changes = try await operation.run()
    #expect(try await depot.codes() == ["attempt 0", "attempt 1"])
    #expect(changes.inserted.count == 2)
  }

  @Test func savesAreAddedUp() async throws {
    let depot = try await Depot()
    let operation = Counted(depot) { operation, context in
      insert(100, in: context)
      operation.saveOperationContext()
      for parcel in try context.fetch(From<Parcel>().orderBy(\.code).limit(10)) { context.delete(parcel) }
      for parcel in try context.fetch(From<Parcel>().orderBy(\.code).offset(95)) { parcel.weight = 2 }
      operation.saveAndFinish()
    }
    let changes = try await operation.run()
    // Each object is new, and those that were deleted again are in no set.
    #expect(changes.inserted.count == 90 && changes.deleted.isEmpty && changes.updated.isEmpty)
    #expect(changes.all == changes.inserted.union(changes.updated))
    #expect(changes.all.allSatisfy { !$0.isProvisional })
    let ids = try await depot.container.query { context in
      try context.fetch(From<Parcel>()).map(\.objectID)
    }
    #expect(Set(ids) == changes.inserted)
  }

  @Test func aFailedSaveStaysTheOutput() async throws {
    let depot = try await Depot()
    try await depot.container.write { $0.insert(Parcel("same")) }
    let counted = Counted(depot) { operation, context in
      context.insert(Parcel("same"))
      operation.saveAndFinish()
    }
    await #expect(throws: ContextError.self) { try await counted.run() }
    // Also where a later save succeeds.
    let second = Counted(depot) { operation, context in
      let parcel = Parcel("same")
      context.insert(parcel)
      #expect(!operation.saveOperationContext())
      context.delete(parcel)
      operation.saveAndFinish()
    }
    await #expect(throws: ContextError.self) { try await second.run() }
    let void = Work<Void>(depot) { operation, context in
      context.insert(Parcel("same"))
      operation.saveAndFinish()
    }
    await #expect(throws: ContextError.self) { try await void.run() }
  }

  @Test func aCancelledOperationSavesNothing() async throws {
    let depot = try await Depot()
    let operation = Work<Void>(depot) { operation, context in
      context.insert(Parcel("a"))
      operation.cancel()
      operation.saveAndFinish()
    }
    await #expect(throws: CancellationError.self) { try await operation.run() }
    #expect(try await depot.codes().isEmpty)
    let saving = Work<Void>(depot) { operation, context in
      context.insert(Parcel("a"))
      operation.cancel()
      #expect(!operation.saveOperationContext())
      #expect(operation.isFinished)
    }
    await #expect(throws: CancellationError.self) { try await saving.run() }
    #expect(try await depot.codes().isEmpty)
  }

  @Test func anErrorOfTheWorkIsTheOutput() async throws {
    let depot = try await Depot()
    let operation = Work<Void>(depot) { _, context in
      context.insert(Parcel("a"))
      throw Broken(number: 1)
    }
    await #expect(throws: Broken(number: 1)) { try await operation.run() }
    #expect(try await depot.codes().isEmpty)
  }

  @Test func aConflictIsRetriedInANewContext() async throws {
    let depot = try await Depot()
    try await depot.container.write { $0.insert(Parcel("a")) }
    let attempts = Notes()
    let operation = Work<Void>(depot, mergePolicy: .error, retryStrategy: .repeat(times: 3)) {
      work,
      context in
      let parcel = try context.fetch(From<Parcel>())[0]
      if attempts.all.isEmpty {
        // Another context saves first.
        let other = try work.container.newBackgroundContext()
        try other.performAndWait { context in
          try context.fetch(From<Parcel>())[0].weight = 10
          try context.save()
        }
      }
      attempts.add("\(parcel.weight)")
      parcel.weight += 1
      work.saveAndFinish()
    }
    try await operation.run()
    #expect(attempts.all == ["1", "10"])
    let weight = try await depot.container.query { try $0.fetch(From<Parcel>())[0].weight }
    #expect(weight == 11)
  }

  @Test func anAttemptEndsOnce() async throws {
    let depot = try await Depot()
    try await depot.container.write { $0.insert(Parcel("same")) }
    let attempts = Notes()
    let operation = Work<Void>(depot, retryStrategy: .repeat(times: 2)) { work, context in
      attempts.add("attempt")
      context.insert(Parcel("same"))
      work.saveAndFinish()
      // The next attempt may have begun by now.
      Thread.sleep(forTimeInterval: 0.01)
      throw Broken()
    }
    await #expect(throws: ContextError.self) { try await operation.run() }
    try await Task.sleep(for: .milliseconds(100))
    #expect(attempts.all.count == 3 && operation.failureCount == 3)
  }

  @Test func valuesAreFetched() async throws {
    let depot = try await Depot()
    try await depot.container.write { context in
      for (number, code) in ["b", "a", "c"].enumerated() { context.insert(Parcel(code, weight: number)) }
    }
    let request = From<Parcel>().where { $0.weight > 0 }.orderBy(\.code)
    #expect(try await FetchOperation(depot.container, request) { $0.code }.run() == ["a", "c"])
    #expect(try await FetchOperation(depot.container, request).run().map(\.weight) == [1, 2])
    let failing = FetchOperation(depot.container, request) { parcel -> Int in
      if parcel.code == "c" { throw Broken() }
      return 1
    }
    await #expect(throws: Broken()) { try await failing.run() }
  }

  @Test func batchesHaveIDs() async throws {
    let depot = try await Depot()
    try await depot.container.write { context in
      for number in 0..<10 { context.insert(Parcel("p\(number)", weight: number)) }
    }
    let (heavy, light) = (From<Parcel>().where { $0.weight >= 6 }, From<Parcel>().where { $0.weight < 6 })
    let updated = TaskOperation.batchUpdate(light, .set(\.weight, to: 100), in: depot.container)
    let deleted = TaskOperation.batchDelete(heavy, in: depot.container)
    deleted.then(do: updated)
    let ids = try await updated.run()
    #expect(ids.count == 6)
    #expect(try await deleted.result().count == 4)
    let left = try await depot.container.query { try $0.fetch(From<Parcel>()).map(\.weight) }
    #expect(left == Array(repeating: 100, count: 6))
    let wrong = TaskOperation.batchUpdate(light, .set(\.code, to: "same"), in: depot.container)
    try await depot.container.batchUpdate(From<Parcel>(), .set(\.weight, to: 1))
    await #expect(throws: ContextError.self) { try await wrong.run() }
  }

  @Test func anImportTakesWhatItIsGiven() async throws {
    let depot = try await Depot()
    let fetch = try await FetchOperation(depot.container, From<Parcel>()).run()
    #expect(fetch.isEmpty)
    let parsing = BlockResultOperation { ["x", "y"].map { Parcel.Values(code: $0, weight: 5) } }
    try await parsing.passesResult(to: ImportParcels(depot.container)).run()
    #expect(try await depot.codes() == ["x", "y"])
    let failing = BlockResultOperation<[Parcel.Values]> { throw Broken() }
    let chained = failing.passesResult(to: ImportParcels(depot.container))
    await #expect(throws: Broken()) { try await chained.run() }
  }

  @Test func operationsOfOneContainerRunTogether() async throws {
    let depot = try await Depot()
    let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // Each waits for the other.
    let a = Work<Void>(depot) { operation, context in
      second.signal()
      first.wait()
      context.insert(Parcel("a"))
      operation.saveAndFinish()
    }
    let b = Work<Void>(depot) { operation, context in
      first.signal()
      second.wait()
      context.insert(Parcel("b"))
      operation.saveAndFinish()
    }
    a.enqueue()
    try await b.run()
    _ = try await a.result()
    #expect(try await depot.codes() == ["a", "b"])
  }

  @Test @MainActor func theViewContextFollows() async throws {
    let depot = try await Depot()
    let view = depot.container.viewContext
    let insertion = { @Sendable (code: String) in
      Work<Void>(depot) { operation, context in
        context.insert(Parcel(code))
        operation.saveAndFinish()
      }
    }
    try await insertion("a").run()
    try depot.container.waitForViewContext()
    #expect(try view.count(From<Parcel>()) == 1)
    view.automaticallyMergesChangesFromParent = false
    try await insertion("b").run()
    try depot.container.waitForViewContext()
    #expect(try view.count(From<Parcel>()) == 1)
  }

  /// A thousand items that pass through a random chain of store operations end up in the store once each.
  @Test func randomChainsLoseNothing() async throws {
    var random = SeededGenerator()
    let depot = try await Depot()
    let queues = [OperationQueue(), OperationQueue()]
    var imports: [ImportParcels] = []
    var expected: [String] = []
    for number in 0..<20 {
      let codes = (0..<random.number(in: 0...50)).map { "\(number)-\($0)" }
      let parsing = BlockResultOperation { codes.map { Parcel.Values(code: $0, weight: 1) } }
      let operation = parsing.passesResult(to: ImportParcels(depot.container))
      if random.chance(1, in: 5) { parsing.cancel() } else { expected += codes }
      if let earlier = imports.randomElement(using: &random), random.chance(1, in: 2) {
        operation.addDependency(earlier)
      }
      imports.append(operation)
    }
    for operation in imports.shuffled(using: &random) { operation.enqueue(on: random.pick(queues)) }
    for operation in imports { await operation.finished() }
    #expect(try await depot.codes() == expected.sorted())
  }
}
