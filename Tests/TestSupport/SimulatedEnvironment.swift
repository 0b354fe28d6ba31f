import Dispatch
import Foundation
@_spi(Testing) import PageStore
import Synchronization

@_spi(Testing)
extension StoreEnvironment {
  /// Returns an environment with a clock that ticks with each look, and random numbers that the seed repeats. The
  /// store's deferred work is kept in `deferred`, or dropped. The work beside a checkpoint is in `beside`.
  public static func simulated(
    seed: UInt64,
    deferring deferred: DeferredWork? = nil,
    beside: BesideWork? = nil
  ) -> StoreEnvironment {
    let source = SimulatedSource(seed: seed)
    var environment = StoreEnvironment(
      now: { source.tick() },
      random: { source.random() },
      schedule: { _, work in deferred?.add(work) }
    )
    // A few pages, so that writes fail, and crashes come, in the middle of a checkpoint.
    environment.pageBatchByteCount = 16 << 10
    if let beside { environment.duringCheckpoint = { beside.run() } }
    return environment
  }
}

/// The work at the points of a checkpoint at which others may commit. It runs on a thread of its own, because on a full
/// disk, or when there is much log, a commit waits for the checkpoint.
// Safety: the thread that drives the simulation changes these properties only while it has no other thread; the state
// of `Run` is locked.
public final class BesideWork: @unchecked Sendable {
  private final class Run: Sendable {
    let failure = Mutex<(any Error)?>(nil)
    let ended = DispatchSemaphore(value: 0)
  }

  private var body: (() throws -> Void)?
  private var failure: (any Error)?
  /// The run that hasn't ended yet.
  private var current: Run?

  /// The time that the checkpoint waits for the work beside it.
  private static let patience: DispatchTimeInterval = .milliseconds(50)
  /// Work that takes so long hangs.
  private static let limit: DispatchTimeInterval = .seconds(600)

  public init() {}

  /// Calls `body` while `work` runs at each point. Throws the error of either, that of `work` first.
  func perform(_ body: @escaping () throws -> Void, during work: () throws -> Void) throws {
    self.body = body
    defer {
      self.body = nil
      failure = nil
    }
    let result = Result { try work() }
    guard hasEnded(within: Self.limit) else { throw OracleMismatch("a commit beside a checkpoint hangs") }
    try result.get()
    if let failure { throw failure }
  }

  func run() {
    guard body != nil, hasEnded(within: .seconds(0)), failure == nil else { return }
    let run = Run()
    current = run
    Thread.detachNewThread { [self] in
      do { try body?() } catch { run.failure.withLock { $0 = error } }
      run.ended.signal()
    }
    _ = hasEnded(within: Self.patience)
  }

  /// Waits for the work that is running; returns true if none is running any more.
  private func hasEnded(within time: DispatchTimeInterval) -> Bool {
    guard let current else { return true }
    guard current.ended.wait(timeout: .now() + time) == .success else { return false }
    failure = failure ?? current.failure.withLock { $0 }
    self.current = nil
    return true
  }
}

/// Work that a store has deferred.
public final class DeferredWork: Sendable {
  private let state = Mutex<[@Sendable () -> Void]>([])

  public init() {}

  func add(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.append(work) } }

  /// Drops the work: the process that would have done it has ended.
  public func forget() { state.withLock { $0 = [] } }

  /// Does the deferred work, but not the work that this defers again. Returns true if there was any.
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
