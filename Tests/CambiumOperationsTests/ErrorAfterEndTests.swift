import Cambium
import CambiumOperations
import Foundation
import Testing

/// Work that ends its operation with a success and throws afterwards.
struct ErrorAfterEndTests {
  private final class Work<Output: Sendable>: StoreOperation<Output>, @unchecked Sendable {
    // Safety: the closure never changes.
    private let body: @Sendable (Work, ManagedObjectContext) throws -> Void

    init(
      _ depot: Depot,
      retryStrategy: RetryStrategy = .none,
      _ body: @escaping @Sendable (Work, ManagedObjectContext) throws -> Void
    ) {
      self.body = body
      super.init(depot.container, retryStrategy: retryStrategy)
    }

    override func performWork(in context: ManagedObjectContext) throws { try body(self, context) }
  }

  @Test func theErrorIsTheOutput() async throws {
    let depot = try await Depot()
    let ends: [@Sendable (Work<Void>) -> Void] = [
      { $0.saveAndFinish() }, { $0.finish() }, { $0.finish(with: .success(())) },
    ]
    for (number, end) in ends.enumerated() {
      let operation = Work<Void>(depot) { operation, _ in
        end(operation)
        throw Broken(number: number)
      }
      await #expect(throws: Broken(number: number)) { try await operation.run() }
      #expect(operation.isFinished && operation.operationContext == nil)
    }
  }

  @Test func dependentOperationsGetTheError() async throws {
    let depot = try await Depot()
    let notes = Notes()
    let operation = Work<Int>(depot) { operation, _ in
      operation.finish(with: .success(1))
      notes.add("finished: \(operation.isFinished)")
      throw Broken()
    }
    let next = operation.passesResult(to: BlockMapOperation<Int, Int> { $0 + 1 })
    await #expect(throws: Broken()) { try await next.run() }
    #expect(notes.all == ["finished: false"])
  }

  @Test func whatWasSavedStaysAndIsDoneAgain() async throws {
    let depot = try await Depot()
    let operation = Work<Void>(depot, retryStrategy: .repeat(times: 1)) { operation, context in
      context.insert(Parcel("attempt \(operation.failureCount)"))
      operation.saveAndFinish()
      if operation.failureCount == 0 { throw Broken() }
    }
    try await operation.run()
    #expect(operation.failureCount == 1)
    #expect(try await depot.codes() == ["attempt 0", "attempt 1"])
  }

  /// A failure has ended the attempt at once, so it stays the output.
  @Test func anEarlierFailureStaysTheOutput() async throws {
    let depot = try await Depot()
    let operation = Work<Void>(depot) { operation, _ in
      operation.finish(with: .failure(Broken(number: 1)))
      #expect(operation.isFinished)
      throw Broken(number: 2)
    }
    await #expect(throws: Broken(number: 1)) { try await operation.run() }
  }
}
