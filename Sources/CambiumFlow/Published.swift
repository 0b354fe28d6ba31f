import Synchronization

/// A value that any thread may read. Sequences emit its changes.
final class Published<Value: Sendable>: Sendable {
  private struct Core {
    var value: Value
    var audience: [Int: AsyncStream<Value>.Continuation] = [:]
    var nextKey = 0
  }

  private let core: Mutex<Core>

  init(_ value: Value) { core = Mutex(Core(value: value)) }

  deinit { core.withLock { $0.audience.values.forEach { $0.finish() } } }

  var value: Value { core.withLock(\.value) }

  /// - Parameter tells: whether the value is emitted to the audience.
  func set(_ value: Value, tells: Bool = true) {
    core.withLock { core in
      core.value = value
      // Inside the lock, so that every sequence gets the values in order.
      if tells { core.audience.values.forEach { $0.yield(value) } }
    }
  }

  /// Returns the current value, and then every value that is emitted.
  func values() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream<Value>.makeStream()
    let key = core.withLock { core in
      core.nextKey += 1
      core.audience[core.nextKey] = continuation
      continuation.yield(core.value)
      return core.nextKey
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.core.withLock { $0.audience.removeValue(forKey: key) }
    }
    return stream
  }
}
