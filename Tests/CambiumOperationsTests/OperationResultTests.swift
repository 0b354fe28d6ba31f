import CambiumOperations
import Foundation
import Testing

import struct TestSupport.SeededGenerator

struct Broken: Error, Equatable {
  var number = 0
}

/// Results that go from one operation to the next.
struct OperationResultTests {
  private let queue = OperationQueue()

  private func run(_ operations: Operation...) {
    for operation in operations { operation.enqueue(on: queue) }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func resultBlocksGetTheOutput() {
    let (operation, notes) = (BlockResultOperation { 7 }, Notes())
    for number in 1...3 {
      operation.addResultBlock { notes.add("\(number): \((try? $0.get()) ?? 0)") }
    }
    run(operation)
    #expect(notes.all == ["1: 7", "2: 7", "3: 7"])
  }

  @Test func aResultIsPassed() throws {
    let producer = BlockResultOperation { 20 }
    let consumer = producer.passesResult(to: BlockMapOperation { $0 + 1 })
    run(consumer)
    #expect(try consumer.output.get() == 21)
    #expect(consumer.dependencies == [producer])
  }

  /// A result is Swift's own: it is mapped, folded with a `switch`, and recovered with `flatMapError`.
  @Test func aResultIsMappedFoldedAndRecovered() throws {
    let (whole, broken) = (BlockResultOperation { 20 }, BlockResultOperation<Int> { throw Broken(number: 3) })
    run(whole, broken)
    func folded(_ result: Result<Int, any Error>) -> String {
      switch result {
      case .success(let number): "made \(number)"
      case .failure(let error): "failed: \(error is Broken)"
      }
    }
    #expect([whole.output, broken.output].map(folded) == ["made 20", "failed: true"])
    #expect(try whole.output.map { $0 * 2 }.get() == 40)
    let recovered = broken.output.flatMapError { Result<Int, Never>.success(($0 as? Broken)?.number ?? 0) }
    #expect(recovered.get() == 3)
    #expect(throws: Broken(number: 3)) { try broken.output.map { $0 * 2 }.get() }
  }

  @Test func aResultIsPassedByAProducerThatHasFinished() throws {
    let producer = BlockResultOperation { 20 }
    run(producer)
    let consumer = producer.passesResult(to: BlockMapOperation { $0 + 1 })
    let combined = producer.passesResult(to: CombineOperation())
    run(consumer, combined)
    #expect(try consumer.output.get() == 21)
    #expect(try combined.output.get() == [20])
  }

  @Test func aFailureIsPassed() {
    let producer = BlockResultOperation<Int> { throw Broken(number: 3) }
    let consumer = producer.passesResult(to: BlockMapOperation { $0 + 1 })
    run(consumer)
    #expect(throws: Broken(number: 3)) { try consumer.output.get() }
  }

  @Test func aCancelledProducerPassesNothing() {
    let producer = BlockResultOperation { 1 }
    let consumer = producer.passesResult(to: BlockMapOperation { $0 + 1 })
    producer.cancel()
    run(consumer)
    #expect(!consumer.hasResult)
    guard case .failure(ResultError.noResult) = consumer.input else {
      Issue.record("\(consumer.input)")
      return
    }
  }

  /// A hook cancels the producer after its start.
  @Test func aProducerThatIsCancelledWhileItWorksPassesNothing() {
    let producer = BlockResultOperation { 1 }
    let consumer = producer.passesResult(to: BlockMapOperation(result: { _ in 5 }))
    producer.addDidStartBlock { [unowned producer] in producer.cancel() }
    run(consumer)
    #expect(!consumerHasInput(consumer.input))
    #expect((try? consumer.output.get()) == 5)
  }

  private func consumerHasInput<Value>(_ input: Result<Value, any Error>) -> Bool {
    (try? input.get()) != nil
  }

  @Test func aResultGoesToMany() throws {
    let producer = BlockResultOperation { 2 }
    let consumers = (1...5).map { factor in BlockMapOperation<Int, Int> { $0 * factor } }
    producer.passesResult(to: consumers)
    for consumer in consumers { consumer.enqueue(on: queue) }
    queue.waitUntilAllOperationsAreFinished()
    #expect(try consumers.map { try $0.output.get() } == [2, 4, 6, 8, 10])
  }

  @Test func manyResultsAreCombinedInTheirOrder() throws {
    var random = SeededGenerator()
    let delays = (0..<20).map { _ in Double(random.number(in: 0...5)) / 1000 }
    let producers = delays.enumerated().map { number, delay in
      BlockResultOperation<Int> {
        Thread.sleep(forTimeInterval: delay)
        return number
      }
    }
    let combined = producers.passesResults(to: CombineOperation())
    run(combined)
    #expect(try combined.output.get() == Array(0..<20))
  }

  @Test func failuresAreCombined() {
    let producers = (0..<4).map { number in
      BlockResultOperation<Int> {
        if number.isMultiple(of: 2) { throw Broken(number: number) }
        return number
      }
    }
    let combined = producers.passesResults(to: CombineOperation())
    run(combined)
    guard case .failure(ResultError.errors(let errors)) = combined.output else {
      Issue.record("\(combined.output)")
      return
    }
    #expect(errors.map { $0 as? Broken } == [Broken(number: 0), Broken(number: 2)])
  }

  @Test func combiningNothingHasNoResult() {
    let combined = CombineOperation<Int>()
    run(combined)
    #expect(!combined.hasResult)
  }

  @Test func aCancelledProducerIsLeftOut() throws {
    let producers = (0..<3).map { number in BlockResultOperation { number } }
    let combined = producers.passesResults(to: CombineOperation())
    producers[1].cancel()
    run(combined)
    #expect(try combined.output.get() == [0, 2])
  }

  @Test func onlyErrorsArePassed() {
    let (good, bad) = (BlockResultOperation { "text" }, BlockResultOperation<String> { throw Broken() })
    let (first, second) = (BlockMapOperation<Int, Int> { $0 }, BlockMapOperation<Int, Int> { $0 })
    good.passesError(to: first)
    bad.passesError(to: second)
    run(first, second)
    #expect(!first.hasResult)
    #expect(throws: Broken()) { try second.output.get() }
  }

  @Test func aSubclassMaps() throws {
    final class Length: MapOperation<String, Int>, @unchecked Sendable {
      // Safety: it has no properties of its own.
      override func map(_ input: String) throws -> Int { input.count }
    }
    let length = Length(input: "four")
    run(length)
    #expect(try length.output.get() == 4)
  }

  @Test func aBlockMapsResults() throws {
    let recovering = BlockResultOperation<Int> { throw Broken() }
      .passesResult(to: BlockMapOperation(result: { (try? $0.get()) ?? -1 }))
    run(recovering)
    #expect(try recovering.output.get() == -1)
    let given = BlockResultOperation(result: { Result<Int, any Error>.success(4) })
    run(given)
    #expect(try given.output.get() == 4)
  }

  // MARK: Async

  @Test(.timeLimit(.minutes(60))) func aTaskAwaitsAResult() async throws {
    let producer = BlockResultOperation { 20 }
    #expect(try await producer.passesResult(to: BlockMapOperation { $0 + 1 }).run() == 21)
    #expect(try await producer.result() == 20)
    await #expect(throws: Broken.self) { try await BlockResultOperation<Int> { throw Broken() }.run() }
  }

  @Test(.timeLimit(.minutes(60))) func cancellingTheTaskCancelsTheChain() async throws {
    let first = TaskOperation { try await Task.sleep(for: .seconds(86_400)) }
    let last = first.passesResult(to: BlockMapOperation { _ in 1 })
    let task = Task { try await last.run() }
    while first.state == .ready { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await first.finished()
    #expect(first.isCancelled && last.isCancelled)
  }

  // MARK: Retrying

  /// An operation that fails until it has been executed a given number of times.
  private final class Stubborn: RetryingOperation<Int>, @unchecked Sendable {
    // Safety: the notes have a lock, the number never changes.
    let (notes, successAt): (Notes, Int)

    init(successAt: Int = .max, _ strategy: RetryStrategy) {
      (notes, self.successAt) = (Notes(), successAt)
      super.init(retryStrategy: strategy)
    }

    override func execute() {
      notes.add("execute")
      let count = notes.all.count
      finish(with: count >= successAt ? .success(count) : .failure(Broken(number: count)))
    }
  }

  @Test func aFailureIsRetried() {
    let operation = Stubborn(RetryStrategy { count, _ in count < 3 })
    let notes = Notes()
    operation.addDidStartBlock { notes.add("started") }
    operation.addWillFinishBlock { notes.add("finished") }
    run(operation)
    #expect(operation.notes.all.count == 3 && operation.failureCount == 3)
    #expect(throws: Broken(number: 3)) { try operation.output.get() }
    #expect(notes.all == ["started", "finished"])
  }

  @Test func retryingEndsWithSuccess() throws {
    let operation = Stubborn(successAt: 4, .repeat(times: 10))
    run(operation)
    #expect(try operation.output.get() == 4)
    #expect(operation.failureCount == 3)
  }

  @Test func aStrategyMayCancel() {
    let operation = Stubborn(.none)
    operation.retryStrategy = RetryStrategy { [unowned operation] count, _ in
      operation.cancel()
      return count < 5
    }
    run(operation)
    #expect(operation.notes.all == ["execute"])
    #expect(throws: Broken(number: 1)) { try operation.output.get() }
  }

  @Test func strategiesCountTheFailures() {
    let (never, twice) = (Stubborn(.none), Stubborn(.repeat(times: 2)))
    run(never, twice)
    #expect(never.notes.all.count == 1 && twice.notes.all.count == 3)
    let often = Stubborn(.repeat(times: 20_000))
    run(often)
    #expect(often.failureCount == 20_001)
  }

  @Test func aCancelledOperationIsNotRetried() {
    let operation = Stubborn(.repeat(times: .max))
    operation.enqueue(on: queue)
    while operation.failureCount < 3 { Thread.sleep(forTimeInterval: 0.001) }
    operation.cancel()
    operation.waitUntilFinished()
    #expect(operation.isFinished)
  }
}
