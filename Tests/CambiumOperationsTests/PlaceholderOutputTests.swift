import Cambium
import CambiumOperations
import Foundation
import Testing

/// A getter that can't read returns a placeholder, and its context notes the error. No store operation succeeds with
/// such values.
struct PlaceholderOutputTests {
  private final class Reading<Output: Sendable>: StoreOperation<Output>, @unchecked Sendable {
    // Safety: the closure never changes.
    private let body: @Sendable (Reading, ManagedObjectContext) throws -> Void

    init(
      _ depot: Depot,
      retryStrategy: RetryStrategy = .none,
      _ body: @escaping @Sendable (Reading, ManagedObjectContext) throws -> Void
    ) {
      self.body = body
      super.init(depot.container, retryStrategy: retryStrategy)
    }

    override func performWork(in context: ManagedObjectContext) throws { try body(self, context) }
  }

  /// Returns a store, and the ID of an object that was deleted from it.
  private func depotWithGap() async throws -> (Depot, ManagedObjectID) {
    let depot = try await Depot()
    let ids = try await depot.container.write { (context: ManagedObjectContext) throws -> [ManagedObjectID] in
      let parcel = Parcel("gone", weight: 5)
      context.insert(parcel)
      return [parcel.objectID]
    }
    try await depot.container.batchDelete(From<Parcel>().where { $0.code == "gone" })
    return (depot, ids[0])
  }

  /// Calls the closure on another thread, and waits until it has returned.
  private static func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      done.signal()
    }
    done.wait()
  }

  @Test func aPlaceholderIsNoSuccess() async throws {
    let (depot, gone) = try await depotWithGap()
    let operation = Reading<Int>(depot) { operation, context in
      operation.finish(with: .success(try context.object(Parcel.self, with: gone).weight))
    }
    let error = await #expect(throws: ContextError.self) { try await operation.run() }
    #expect(error?.code == .objectNotFound)
    let set = Reading<Int>(depot) { operation, context in
      operation.output = .success(try context.object(Parcel.self, with: gone).weight)
      operation.finish()
    }
    await #expect(throws: ContextError.self) { try await set.run() }
  }

  @Test func workForVoidThatCouldNotReadHasFailed() async throws {
    let (depot, gone) = try await depotWithGap()
    let operation = Reading<Void>(depot) { operation, context in
      _ = try context.object(Parcel.self, with: gone).weight
      operation.finish()
    }
    let error = await #expect(throws: ContextError.self) { try await operation.run() }
    #expect(error?.code == .objectNotFound)
  }

  /// The work reads once more after it has ended the operation.
  @Test func aPlaceholderAfterTheEndIsNoSuccess() async throws {
    let (depot, gone) = try await depotWithGap()
    let operation = Reading<Int>(depot) { operation, context in
      operation.finish(with: .success(1))
      _ = try context.object(Parcel.self, with: gone).weight
    }
    let error = await #expect(throws: ContextError.self) { try await operation.run() }
    #expect(error?.code == .objectNotFound)
  }

  @Test func aPlaceholderThatAnotherThreadGivesIsNoSuccess() async throws {
    let (depot, gone) = try await depotWithGap()
    let operation = Reading<Int>(depot) { operation, context in
      let weight = try context.object(Parcel.self, with: gone).weight
      Self.onAnotherThread { operation.finish(with: .success(weight)) }
      #expect(!operation.isFinished)
    }
    let error = await #expect(throws: ContextError.self) { try await operation.run() }
    #expect(error?.code == .objectNotFound)
  }

  /// The thread that cancels an operation may end it, but not with a placeholder.
  @Test func aCancelledOperationDoesNotSucceedWithAPlaceholder() async throws {
    let (depot, gone) = try await depotWithGap()
    let operation = Reading<Int>(depot) { operation, context in
      let weight = try context.object(Parcel.self, with: gone).weight
      Self.onAnotherThread {
        operation.cancel()
        operation.finish(with: .success(weight))
      }
    }
    await #expect(throws: ContextError.self) { try await operation.run() }
    let empty = Reading<Int>(depot) { operation, context in
      _ = try context.object(Parcel.self, with: gone).weight
      Self.onAnotherThread {
        operation.cancel()
        operation.finish()
      }
      #expect(operation.isFinished)
    }
    await #expect(throws: CancellationError.self) { try await empty.run() }
  }

  /// A block that the work has enqueued runs after `performWork(in:)`, and ends the operation inside itself.
  @Test func aPlaceholderOfALaterBlockIsNoSuccess() async throws {
    let (depot, gone) = try await depotWithGap()
    for isAsynchronous in [false, true] {
      let operation = Reading<Int>(depot) { operation, _ in
        Self.later(in: operation.operationContext, isAsynchronous) { context in
          operation.finish(with: .success(try context.object(Parcel.self, with: gone).weight))
        }
      }
      let error = await #expect(throws: ContextError.self) { try await operation.run() }
      #expect(error?.code == .objectNotFound)
      let void = Reading<Void>(depot) { operation, _ in
        Self.later(in: operation.operationContext, isAsynchronous) { context in
          _ = try context.object(Parcel.self, with: gone).weight
          operation.finish()
        }
      }
      await #expect(throws: ContextError.self) { try await void.run() }
    }
  }

  /// The work was over long before.
  @Test func aPlaceholderOfABlockAfterTheWorkIsNoSuccess() async throws {
    let (depot, gone) = try await depotWithGap()
    let operation = Reading<Int>(depot) { _, _ in }
    operation.enqueue()
    while operation.operationContext == nil { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(50))
    let context = try #require(operation.operationContext)
    await #expect(throws: ContextError.self) {
      try await context.perform { context in
        operation.finish(with: .success(try context.object(Parcel.self, with: gone).weight))
      }
    }
    let error = await #expect(throws: ContextError.self) { try await operation.result() }
    #expect(error?.code == .objectNotFound)
  }

  @Test func aLaterBlockEndsTheOperation() async throws {
    let (depot, gone) = try await depotWithGap()
    for isAsynchronous in [false, true] {
      let operation = Reading<Int>(depot, retryStrategy: .repeat(times: 1)) { operation, _ in
        let isFirst = operation.failureCount == 0
        Self.later(in: operation.operationContext, isAsynchronous) { context in
          let weight = try isFirst ? context.object(Parcel.self, with: gone).weight : 7
          context.insert(Parcel("later \(isAsynchronous)"))
          operation.output = .success(weight)
          operation.saveAndFinish()
        }
      }
      #expect(try await operation.run() == 7)
      #expect(operation.failureCount == 1 && operation.operationContext == nil)
    }
    #expect(try await depot.codes() == ["later false", "later true"])
  }

  /// Enqueues a block on a context, and returns.
  private static func later(
    in context: BackgroundContext?,
    _ isAsynchronous: Bool,
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Void
  ) {
    if isAsynchronous {
      Task { try await context?.perform(body) }
    } else {
      DispatchQueue.global().async { _ = try? context?.performAndWait(body) }
    }
  }

  @Test func whatWasReadIsTheOutput() async throws {
    let (depot, _) = try await depotWithGap()
    try await depot.container.write { $0.insert(Parcel("there", weight: 3)) }
    let operation = Reading<Int>(depot) { operation, context in
      let weight = try context.fetch(From<Parcel>())[0].weight
      Self.onAnotherThread { operation.finish(with: .success(weight)) }
    }
    #expect(try await operation.run() == 3)
    #expect(operation.operationContext == nil)
  }

  @Test func workThatCouldNotReadIsDoneAgain() async throws {
    let (depot, gone) = try await depotWithGap()
    for endsElsewhere in [false, true] {
      let operation = Reading<Int>(depot, retryStrategy: .repeat(times: 1)) { operation, context in
        let isFirst = operation.failureCount == 0
        let weight = try isFirst ? context.object(Parcel.self, with: gone).weight : 7
        if endsElsewhere {
          Self.onAnotherThread { operation.finish(with: .success(weight)) }
        } else {
          operation.finish(with: .success(weight))
        }
      }
      #expect(try await operation.run() == 7)
      #expect(operation.failureCount == 1)
    }
  }
}
