@_spi(Testing) import PageStore
import Synchronization

@_spi(Testing)
extension StoreEnvironment {
  /// A clock that ticks with each look, and random numbers that the seed repeats. What the store puts off is kept in
  /// `deferred`, or forgotten.
  public static func simulated(seed: UInt64, deferring deferred: DeferredWork? = nil) -> StoreEnvironment {
    let source = SimulatedSource(seed: seed)
    return StoreEnvironment(
      now: { source.tick() },
      random: { source.random() },
      schedule: { _, work in deferred?.add(work) }
    )
  }
}

/// Work that a store wanted to be done later.
public final class DeferredWork: Sendable {
  private let state = Mutex<[@Sendable () -> Void]>([])

  public init() {}

  func add(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.append(work) } }

  /// Forgets the work: the process that would have done it is gone.
  public func forget() { state.withLock { $0 = [] } }

  /// Does what was to be done, and not what that puts off again. True if there was anything.
  public func run() -> Bool {
    let work = state.withLock { state in
      defer { state = [] }
      return state
    }
    for item in work { item() }
    return !work.isEmpty
  }
}

private final class SimulatedSource: Sendable {
  private let state: Mutex<(generator: SeededGenerator, time: Int64)>

  init(seed: UInt64) { state = Mutex((SeededGenerator(seed: seed), 1_700_000_000_000)) }

  func tick() -> Int64 {
    state.withLock { state in
      state.time += 1
      return state.time
    }
  }

  func random() -> UInt64 { state.withLock { $0.generator.next() } }
}
