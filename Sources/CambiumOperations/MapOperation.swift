import Foundation

/// An operation that makes its output from the output of another operation. A subclass overrides ``map(_:)``, or
/// ``map(result:)`` to see failures as well.
open class MapOperation<Input: Sendable, Output: Sendable>: ResultOperation<Output>, ConsumesResult,
  @unchecked Sendable  // Safety: the slot has a lock.
{
  /// The operation's input.
  @ResultSlot public final var input: Result<Input, any Error>

  /// Makes an operation whose input another operation sets.
  public override init() { super.init() }

  /// Makes an operation with an input.
  public init(input: Input) {
    super.init()
    self.input = .success(input)
  }

  /// Makes the output from a value. An error that it throws is the output.
  open func map(_ input: Input) throws -> Output {
    fatalError("\(type(of: self)) must override map(_:) or map(result:)")
  }

  /// Makes the output from the input. The default implementation returns the output of ``map(_:)`` for a value, and
  /// the same failure for a failure.
  open func map(result: Result<Input, any Error>) throws -> Output { try map(result.get()) }

  /// Maps the input.
  public final override func execute() {
    finish(with: Result { try map(result: input) })
  }
}

/// A ``MapOperation`` with a closure.
public final class BlockMapOperation<Input: Sendable, Output: Sendable>: MapOperation<Input, Output>,
  @unchecked Sendable  // Safety: the closure never changes.
{
  private let block: @Sendable (Result<Input, any Error>) throws -> Output

  /// Makes an operation that maps a value.
  ///
  /// - Parameters:
  ///   - input: the value; nil if another operation sets it.
  ///   - block: makes the output. An error that it throws is the output.
  public init(input: Input? = nil, _ block: @escaping @Sendable (Input) throws -> Output) {
    self.block = { try block($0.get()) }
    super.init()
    if let input { self.input = .success(input) }
  }

  /// Makes an operation that maps a result.
  ///
  /// - Parameters:
  ///   - input: the value; nil if another operation sets it.
  ///   - block: makes the output from a value or a failure. An error that it throws is the output.
  @_disfavoredOverload
  public init(
    input: Input? = nil,
    result block: @escaping @Sendable (Result<Input, any Error>) throws -> Output
  ) {
    self.block = block
    super.init()
    if let input { self.input = .success(input) }
  }

  /// Calls the closure.
  public override func map(result: Result<Input, any Error>) throws -> Output { try block(result) }
}

/// An operation that calls a closure for its output.
public final class BlockResultOperation<Output: Sendable>: ResultOperation<Output>, @unchecked Sendable {
  // Safety: the closure never changes.
  private let block: @Sendable () -> Result<Output, any Error>

  /// Makes an operation whose output is the closure's value, or the error that it throws.
  public init(_ block: @escaping @Sendable () throws -> Output) {
    self.block = { Result { try block() } }
    super.init()
  }

  /// Makes an operation whose output is the closure's result.
  // A trailing closure has no label, so a closure that fits both initialisers selects the one above.
  @_disfavoredOverload
  public init(result block: @escaping @Sendable () -> Result<Output, any Error>) {
    self.block = block
    super.init()
  }

  /// Calls the closure.
  public override func execute() { finish(with: block()) }
}

/// An operation that gathers the outputs of several others: all the values in the order in which the others were
/// connected, or ``ResultError/errors(_:)`` with every failure. Without any input its output stays
/// ``ResultError/noResult``.
public final class CombineOperation<Value: Sendable>: ResultOperation<[Value]>, ConsumesMultipleResults,
  @unchecked Sendable  // Safety: the list has a lock.
{
  /// The inputs that the operation has received so far.
  public let inputs = ResultList<Value>()

  /// Makes an operation that receives the outputs of others.
  public override init() { super.init() }

  /// Gathers the inputs.
  public override func execute() {
    if input.isEmpty { return finish() }
    var (values, errors) = ([Value](), [any Error]())
    for result in input {
      switch result {
      case .success(let value): values.append(value)
      case .failure(let error): errors.append(error)
      }
    }
    finish(with: errors.isEmpty ? .success(values) : .failure(ResultError.errors(errors)))
  }
}
