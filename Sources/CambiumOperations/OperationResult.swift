import Foundation
import Synchronization

/// An error that an operation has instead of a value.
public enum ResultError: Error, Sendable {
  /// Nothing has made a result yet: the operation hasn't run, was cancelled, or has received no input.
  case noResult
  /// Several operations have failed.
  case errors([any Error])
}

/// An operation that makes an output.
public protocol ProducesResult<Output>: ConcurrentOperation {
  /// The type of the output.
  associatedtype Output: Sendable
  /// The output; a failure with ``ResultError/noResult`` until then.
  var output: Result<Output, any Error> { get set }
}

/// An operation whose input is the output of another one.
public protocol ConsumesResult<Input>: Operation {
  /// The type of the input.
  associatedtype Input: Sendable
  /// The input; a failure with ``ResultError/noResult`` until then.
  var input: Result<Input, any Error> { get set }
}

/// An operation whose inputs are the outputs of several others.
public protocol ConsumesMultipleResults<Input>: Operation {
  /// The type of each input.
  associatedtype Input: Sendable
  /// The inputs received so far.
  var inputs: ResultList<Input> { get }
}

extension ConsumesMultipleResults {
  /// The results received so far, in the order in which their producers were connected.
  public var input: [Result<Input, any Error>] { inputs.results }
}

/// A property with a result, which any thread may read and set:
/// `@ResultSlot var input: Result<[Song.Values], any Error>`.
@propertyWrapper public struct ResultSlot<Value: Sendable>: Sendable {
  private final class Storage: Sendable {
    let result: Mutex<Result<Value, any Error>>

    init(_ result: Result<Value, any Error>) { self.result = Mutex(result) }
  }

  private let storage: Storage

  /// Makes a property that has no result yet.
  public init() { self.init(wrappedValue: .failure(ResultError.noResult)) }

  /// Makes a property with a result.
  public init(wrappedValue: Result<Value, any Error>) { storage = Storage(wrappedValue) }

  /// The result.
  public var wrappedValue: Result<Value, any Error> {
    get { storage.result.withLock { $0 } }
    nonmutating set { storage.result.withLock { $0 = newValue } }
  }
}

/// Results of several operations, in the order in which these were connected.
public final class ResultList<Value: Sendable>: Sendable {
  private let places = Mutex<[Result<Value, any Error>?]>([])

  /// Makes a list of no results.
  public init() {}

  /// The results that have come so far. A cancelled producer gives no result.
  public var results: [Result<Value, any Error>] { places.withLock { $0.compactMap { $0 } } }

  /// Appends a result.
  public func append(_ result: Result<Value, any Error>) { places.withLock { $0.append(result) } }

  /// Reserves a position for a later result.
  func makePlace() -> Int {
    places.withLock { places in
      places.append(nil)
      return places.count - 1
    }
  }

  func put(_ result: Result<Value, any Error>, at place: Int) { places.withLock { $0[place] = result } }
}

/// An operation that makes and stores an output. A subclass overrides `execute()`, sets ``output`` and calls
/// `finish()`, or calls ``finish(with:)``.
open class ResultOperation<Output: Sendable>: ConcurrentOperation, ProducesResult, @unchecked Sendable {
  // Safety: the slot has a lock, and the flag is atomic.

  /// True once ``finish(with:)`` has begun to set the output.
  private let hasOutcome = Atomic(false)

  /// The output of the operation; a failure with ``ResultError/noResult`` until then.
  @ResultSlot public final var output: Result<Output, any Error>

  /// Makes an operation without a result.
  public override init() { super.init() }

  /// Sets the output and finishes. Does nothing once the operation, or its attempt, has begun to end.
  public final func finish(with result: Result<Output, any Error>) {
    if isEnding || isBetweenAttempts { return }
    // Of two threads, one ends the attempt.
    if hasOutcome.exchange(true, ordering: .relaxed) { return }
    output = result
    finish()
  }

  /// Ends the operation. An operation for `Void` that isn't cancelled succeeds, unless it has set another
  /// output.
  open override func finish() {
    let isDone = !isCancelled && state == .executing && !hasResult && !hasOutcome.load(ordering: .relaxed)
    if isDone, Output.self == Void.self, let done = () as? Output { output = .success(done) }
    super.finish()
  }

  /// Makes ``finish(with:)`` accept a result again. Called when the next attempt has begun: before that, a late result
  /// of the last attempt would be held back, and leave no place for the result of the next one.
  final func acceptOutcome() { hasOutcome.store(false, ordering: .relaxed) }

  /// True from the end of an attempt until the next attempt begins.
  var isBetweenAttempts: Bool { false }
}

extension ProducesResult {
  /// True if the operation has an output or a failure.
  public var hasResult: Bool {
    if case .failure(ResultError.noResult) = output { return false }
    return true
  }

  /// Calls `block` with the output once the operation has finished, at once if it has already. Any number of blocks
  /// are called, in the order in which they were added.
  public func addResultBlock(_ block: @escaping @Sendable (Result<Output, any Error>) -> Void) {
    addDidFinishBlock { [unowned self] in block(output) }
  }

  /// Waits for the output of an operation that is, or will be, in a queue. If the waiting task is cancelled, the
  /// operation is cancelled.
  ///
  /// - Throws: the operation's failure; `CancellationError` where it was cancelled and has no result.
  @discardableResult
  public func result() async throws -> Output {
    try await result { self.cancel() }
  }

  /// Puts the operation and all its dependencies into a queue, and waits for its output. If the waiting task is
  /// cancelled, all these operations are cancelled.
  ///
  /// - Throws: the operation's failure; `CancellationError` where it was cancelled and has no result.
  @discardableResult
  public func run(on queue: OperationQueue = OperationQueue()) async throws -> Output {
    enqueue(on: queue)
    return try await result { self.operationChain.forEach { $0.cancel() } }
  }

  private func result(cancelling cancel: @escaping @Sendable () -> Void) async throws -> Output {
    await withTaskCancellationHandler {
      await finished()
    } onCancel: {
      cancel()
    }
    if isCancelled, !hasResult { throw CancellationError() }
    return try output.get()
  }

  /// The output without its value.
  var outcome: Result<Void, any Error> { output.map { _ in } }
}
