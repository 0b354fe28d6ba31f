import Foundation
import Synchronization

/// An operation that says itself when it has finished, and tells of every step on the way.
///
/// A subclass overrides ``execute()``, which may return before its work is done, and calls ``finish()`` when it is.
///
/// ```swift
/// final class Ping: ConcurrentOperation, @unchecked Sendable {
///   // Safety: it has no properties of its own.
///   override func execute() {
///     DispatchQueue.global().async { self.finish() }
///   }
/// }
/// ```
///
/// Operations order work that is put together by code which can't await. Code that can await needs none of this: Docs/Operations.md names the asynchronous equivalent of each.
open class ConcurrentOperation: Operation, @unchecked Sendable {
  // Safety: everything that changes is in `core`, which has a lock, and `Operation` has locks of its own. A subclass states the same for what it adds.

  /// The states of an operation, in their order.
  public enum State: Int, Sendable {
    /// It has not been started.
    case ready
    /// It works.
    case executing
    /// It has finished, or was cancelled before it was started.
    case finished
  }

  /// The points at which hooks are called.
  enum Moment: CaseIterable {
    case willStart, didStart, willFinish, didFinish
  }

  typealias Hook = @Sendable () -> Void

  private struct Core {
    var state = State.ready
    var startDate: Date?
    var finishDate: Date?
    /// The hooks that have not been called yet, by moment.
    var hooks: [Moment: [Hook]] = [:]
    /// Closures that ``finish()`` calls last, when queues know of the end.
    var waiting: [Hook] = []
    var isFinishing = false
    /// Whether queues and waiting threads were told of the end.
    var isFinished = false
    var isEnqueued = false
    var internalQueue: OperationQueue?
  }

  private let core = Mutex(Core())

  /// How far the operation is: 100 units, all of them completed when it has finished.
  public let progress = ObservableProgress(total: 100)

  /// Makes an operation that is not in a queue.
  public override init() { super.init() }

  // MARK: What a subclass does

  /// Does the work, and calls ``finish()`` when it is done. Called once, on a thread of the queue; it may look at `isCancelled` now and then. A ``RetryingOperation`` calls it for each attempt.
  open func execute() {
    fatalError("\(type(of: self)) must override execute(), and not call super")
  }

  /// Ends the operation. A second call does nothing.
  ///
  /// By the time that queues, waiting threads and dependent operations learn of the end, every hook has returned.
  open func finish() {
    guard core.withLock({ core in !exchange(&core.isFinishing, with: true) }) else { return }
    run(.willFinish)
    if !managesProgress { progress.complete() }
    let hooks = core.withLock { core in
      core.state = .finished
      core.finishDate = Date()
      // The moments of an operation that was never started don't come any more. Released outside of the lock: what hooks have captured may look at the operation.
      return exchange(&core.hooks, with: [:])
    }
    post(.operationDidFinish)
    hooks[.didFinish]?.forEach { $0() }
    willChangeValue(for: \.isFinished)
    core.withLock { $0.isFinished = true }
    didChangeValue(for: \.isFinished)
    core.withLock { core in exchange(&core.waiting, with: []) }.forEach { $0() }
  }

  /// Whether the operation leaves ``progress`` as it is when it finishes; false if not overridden.
  open var managesProgress: Bool { false }

  // MARK: Operation

  /// Starts the operation: what its queue calls. One that was cancelled before finishes at once; one that has finished does nothing.
  public final override func start() {
    if isCancelled || core.withLock(\.isFinishing) { return finish() }
    run(.willStart)
    prepareToExecute()
    // A hook may have finished it.
    let isStarted = core.withLock { core in
      if core.isFinishing { return false }
      core.state = .executing
      core.startDate = Date()
      return true
    }
    if !isStarted { return }
    didChangeValue(for: \.isExecuting)
    run(.didStart)
    if core.withLock(\.isFinishing) { return }
    executeOnce()
  }

  /// Called before the operation can be finished as one that executes.
  func prepareToExecute() {}

  /// Calls ``execute()``.
  func executeOnce() { execute() }

  /// Cancels the operation and everything on its ``internalQueue``. Work that is under way goes on until it looks at `isCancelled`.
  open override func cancel() {
    super.cancel()
    core.withLock(\.internalQueue)?.cancelAllOperations()
  }

  /// True: the operation finishes when it says so.
  public final override var isAsynchronous: Bool { true }
  /// Whether the operation works.
  public final override var isExecuting: Bool { state == .executing }
  /// Whether the operation has finished, and all its hooks have returned.
  public final override var isFinished: Bool { core.withLock(\.isFinished) }

  /// Type, name and state.
  open override var description: String {
    "\(type(of: self))(name: '\(name ?? "nil")', state: \(state.rawValue))"
  }

  // MARK: What it tells

  /// The state.
  public final var state: State { core.withLock(\.state) }
  /// When the operation was started; nil before.
  public final var startDate: Date? { core.withLock(\.startDate) }
  /// When the operation finished; nil before.
  public final var finishDate: Date? { core.withLock(\.finishDate) }

  /// How long the operation has worked so far, in seconds: 0 before its start, and no more after its end.
  public final var executionTime: TimeInterval {
    let (start, end) = core.withLock { ($0.startDate, $0.finishDate) }
    return start.map { (end ?? Date()).timeIntervalSince($0) } ?? 0
  }

  /// A queue for operations that this one is made of; made when it is first asked for.
  public final var internalQueue: OperationQueue {
    core.withLock { core in
      if let queue = core.internalQueue { return queue }
      let queue = OperationQueue()
      core.internalQueue = queue
      return queue
    }
  }

  /// True for one call: the one that puts the operation into a queue.
  final func beginEnqueuing() -> Bool {
    core.withLock { core in core.state == .ready && !exchange(&core.isEnqueued, with: true) }
  }

  // MARK: Hooks

  /// Adds a hook for a moment. One for a moment that has passed is called at once if the moment is the last.
  final func add(_ hook: @escaping Hook, at moment: Moment) {
    let isLate = core.withLock { core in
      if core.state == .finished { return moment == .didFinish }
      core.hooks[moment, default: []].append(hook)
      return false
    }
    if isLate { hook() }
  }

  /// Calls `hook` once `isFinished` is true and every other hook has returned; at once if that is so.
  final func whenFinished(_ hook: @escaping Hook) {
    let isLate = core.withLock { core in
      if !core.isFinished { core.waiting.append(hook) }
      return core.isFinished
    }
    if isLate { hook() }
  }

  private func run(_ moment: Moment) {
    post(moment.notification)
    core.withLock { $0.hooks.removeValue(forKey: moment) }?.forEach { $0() }
  }

  private func post(_ notification: Notification.Name) {
    var info: [String: String] = [:]
    info["name"] = name
    info["queue"] = OperationQueue.current?.name
    NotificationCenter.default.post(name: notification, object: self, userInfo: info)
  }
}

/// Sets a value, and returns the one before.
private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
  defer { value = new }
  return value
}
