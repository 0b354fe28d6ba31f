import Foundation
import Testing

@testable import CambiumOperations

/// Operations that are parts of several chains, or that end in unusual ways.
struct SharedOperationTests {
  private let queue = OperationQueue()

  /// A queue ends the program if it is given an operation that is in another.
  @Test func chainsMayShareAPlainOperation() {
    let (held, shared) = (Held(), BlockOperation {})
    held.then(do: shared)
    let (a, b) = (BlockResultOperation { 1 }, BlockResultOperation { 2 })
    shared.then(do: a)
    shared.then(do: b)
    a.enqueue()
    b.enqueue()
    a.enqueue(on: queue)
    held.started.wait()
    held.finish()
    a.waitUntilFinished()
    b.waitUntilFinished()
    #expect(shared.isFinished && a.hasResult && b.hasResult)
  }

  /// A new operation at the address of a released one is a different operation.
  @Test func aSetKnowsTheOperationsThatAreThere() {
    let table = OperationSet()
    let kept = BlockOperation {}
    #expect(table.insert(kept))
    for _ in 0..<1_000 { #expect(table.insert(BlockOperation {})) }
    #expect(!table.insert(kept) && table.contains(kept))
  }

  @Test func whatFollowsIsKept() {
    let first = Held()
    weak var next: BlockResultOperation<Int>?
    do {
      let operation = BlockResultOperation { 1 }
      next = operation
      first.then(do: operation)
    }
    #expect(next != nil)
    first.start()
    first.finish()
    #expect(next == nil)
  }

  @Test func hooksOfACancelledOperationAreReleased() {
    weak var kept: Held?
    do {
      let operation = Held()
      kept = operation
      operation.addDidStartBlock { _ = operation.state }
      operation.cancel()
      operation.start()
      operation.addWillStartBlock { _ = operation.state }
    }
    #expect(kept == nil)
  }

  @Test func anOperationThatIsAwaitedHasFinished() async throws {
    let held = Held()
    held.start()
    held.addDidFinishBlock { Thread.sleep(forTimeInterval: 0.2) }
    let task = Task {
      await held.finished()
      return held.isFinished
    }
    try await Task.sleep(for: .milliseconds(50))
    held.finish()
    #expect(await task.value)
    await held.finished()
  }

  // MARK: Results

  @Test func aFailureIsNotReplacedByAResult() {
    let failing = BlockResultOperation<String> { throw Broken() }
    let producer = BlockResultOperation { 1 }
    failing.then(do: producer)
    let consumer = BlockMapOperation<Int, Int> { $0 }
    failing.passesError(to: consumer)
    producer.passesResult(to: consumer)
    consumer.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(throws: Broken()) { try consumer.output.get() }
  }

  private final class Fine: ResultOperation<Int>, @unchecked Sendable {
    // Safety: it has no properties of its own.
    override func execute() { finish() }
  }

  private final class Done: ResultOperation<Void>, @unchecked Sendable {
    // Safety: it has no properties of its own.
    override func execute() { finish() }
  }

  /// An operation may end without a result, which is no failure.
  @Test func whatEndsWithoutAResultHandsOverNothing() throws {
    let (fine, found) = (Fine(), Fine())
    let (producer, consumer) = (BlockResultOperation { 1 }, BlockMapOperation<Int, Int> { $0 })
    fine.then(do: producer)
    fine.passesError(to: consumer)
    found.passesResult(to: consumer)
    producer.passesResult(to: consumer)
    consumer.enqueue(on: queue)
    found.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(try consumer.output.get() == 1)
  }

  @Test func workWithoutAValueHasSucceeded() async throws {
    try await Done().run()
    let cancelled = Done()
    cancelled.cancel()
    cancelled.start()
    #expect(!cancelled.hasResult)
  }

  /// A timeout, say, comes while the operation tells of its end.
  @Test func aResultThatComesDuringTheEndIsDropped() throws {
    let operation = BlockResultOperation { 1 }
    operation.addWillFinishBlock { [unowned operation] in operation.finish(with: .failure(Broken())) }
    operation.start()
    #expect(try operation.output.get() == 1)
    let fine = Fine()
    fine.addWillFinishBlock { [unowned fine] in fine.finish(with: .success(2)) }
    fine.start()
    #expect(fine.isFinished && !fine.hasResult)
  }

  @Test func nothingToWorkWithIsNoSuccess() {
    let producer = BlockResultOperation { 1 }
    producer.cancel()
    let consumer = BlockMapOperation<Int, Void> { _ in Issue.record("has nothing to map") }
    producer.passesResult(to: consumer)
    consumer.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(!consumer.hasResult)
  }

  /// Objects that were captured by hooks which are never called may read the operation's state when they are released.
  @Test func aReleasedHookMayLookAtTheOperation() {
    final class Watcher: Sendable {
      let operation: Held
      init(_ operation: Held) { self.operation = operation }
      deinit { _ = operation.state }
    }
    let held = Held()
    do {
      let watcher = Watcher(held)
      held.addDidStartBlock { withExtendedLifetime(watcher) {} }
    }
    held.cancel()
    held.start()
    #expect(held.isFinished)
  }

  /// A failure that the program itself has set doesn't count as the result of another operation.
  @Test func aResultTakesThePlaceOfTheProgramsFailure() throws {
    let (producer, consumer) = (BlockResultOperation { 1 }, BlockMapOperation<Int, Int> { $0 + 1 })
    consumer.input = .failure(Broken())
    producer.passesResult(to: consumer)
    consumer.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(try consumer.output.get() == 2)
  }

  // MARK: Attempts

  private final class Attempts: RetryingOperation<Int>, @unchecked Sendable {
    // Safety: none of it changes.
    let notes = Notes()
    private let body: @Sendable (Attempts) -> Void

    init(times: Int, _ body: @escaping @Sendable (Attempts) -> Void) {
      self.body = body
      super.init(retryStrategy: .repeat(times: times))
    }

    override func execute() {
      notes.add("\(failureCount)")
      body(self)
    }
  }

  @Test func anAttemptEndsWithItsFirstResult() async throws {
    let hasBegunAgain = DispatchSemaphore(value: 0)
    let operation = Attempts(times: 1) { operation in
      if operation.failureCount == 1 { hasBegunAgain.signal() }
      operation.finish(with: .failure(Broken()))
      // The next attempt waits for the end of this one.
      if operation.failureCount == 1 { #expect(hasBegunAgain.wait(timeout: .now() + 0.1) == .timedOut) }
      operation.finish(with: .success(operation.failureCount))
    }
    operation.start()
    await operation.finished()
    #expect(throws: Broken()) { try operation.output.get() }
    #expect(operation.notes.all == ["0", "1"] && operation.failureCount == 2)
  }

  /// A failure between the start and `execute()` belongs to the first attempt.
  @Test func aHookMayFailTheFirstAttempt() async throws {
    let operation = Attempts(times: 1) { $0.finish(with: .success(7)) }
    operation.addDidStartBlock { [unowned operation] in operation.finish(with: .failure(Broken())) }
    operation.start()
    await operation.finished()
    #expect(operation.notes.all == ["1"])
    #expect(try operation.output.get() == 7)
  }

  @Test func whatAHookHasFinishedIsNotExecuted() async throws {
    let operation = BlockResultOperation<Int> {
      Issue.record("it has ended")
      return 1
    }
    operation.addDidStartBlock { [unowned operation] in operation.finish(with: .success(2)) }
    operation.start()
    #expect(try operation.output.get() == 2)
  }

  /// An attempt that continues after its failure may end the cancelled operation.
  @Test func aCancelledOperationEndsWhileAnAttemptGoesOn() throws {
    let operation = Attempts(times: 3) { operation in
      operation.finish(with: .failure(Broken()))
      operation.cancel()
      operation.finish()
      #expect(operation.isFinished)
    }
    operation.start()
    #expect(operation.isFinished && operation.notes.all == ["0"])
    #expect(throws: Broken()) { try operation.output.get() }
  }

  @Test func anEndWithoutAResultIsNoFailure() async throws {
    let operation = Attempts(times: 3) { $0.finish() }
    operation.start()
    await operation.finished()
    #expect(operation.notes.all == ["0"] && !operation.hasResult && operation.failureCount == 0)
  }

  /// The operation is cancelled while its next attempt is about to start.
  @Test func aCancelledOperationHasNoNextAttempt() async throws {
    let operation = Attempts(times: 3) { operation in
      operation.finish(with: .failure(Broken()))
      operation.cancel()
      operation.finish()
    }
    operation.start()
    await operation.finished()
    #expect(operation.isFinished && operation.notes.all.count <= 2)
  }

  // MARK: Progress

  @Test func manyOperationsHaveAUnitEach() {
    var last: ConcurrentOperation = BlockResultOperation { 0 }
    let all =
      [last]
      + (1..<150).map { _ in
        let next = BlockResultOperation { 0 }
        last = last.then(do: next)
        return next
      }
    let progress = last.chainProgress()
    #expect(progress.totalUnitCount == 150)
    all[0].start()
    #expect(progress.fraction > 0)
    all.dropFirst().forEach { $0.start() }
    #expect(progress.fraction == 1)
  }

  @Test func aFractionIsToldOnce() {
    let (progress, notes) = (ObservableProgress(total: 2), Notes())
    let observation = progress.onChange { notes.add("\($0)") }
    _ = progress.fractions()
    progress.completedUnitCount = 0
    progress.completedUnitCount = 1
    progress.completedUnitCount = 1
    progress.complete()
    #expect(notes.all == ["0.5", "1.0"])
    observation.cancel()
  }

  /// A closure makes progress itself. The closures after it get the fractions in their order.
  @Test func fractionsComeInTheirOrder() {
    let (progress, notes) = (ObservableProgress(total: 4), Notes())
    let observations = [
      progress.onChange { if $0 < 0.5 { progress.completedUnitCount = 4 } },
      progress.onChange { notes.add("\($0)") },
    ]
    progress.completedUnitCount = 1
    #expect(notes.all == ["1.0"])
    observations.forEach { $0.cancel() }
  }
}
