import Foundation
import Synchronization

/// An operation that says itself when it has finished, and calls hooks at each step.
///
/// A subclass overrides ``execute()``, which may return before its work is done, and calls ``finish()`` when
/// the work is done.
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
/// Operations order work that is composed by code which can't await. Code that can await doesn't need operations:
/// Docs/Operations.md names the asynchronous equivalent of each.
open class ConcurrentOperation: Operation, @unchecked Sendable {
  // Safety: everything that changes is in `core`, which has a lock, and `Operation` has locks of its own. A
  // subclass has to protect its own properties, too, and to state how.

  /// The states of an operation, in their order.
  public enum State: Int, Sendable {
    /// The operation has not been started.
    case ready
    /// The operation is executing.
    case executing
    /// The operation has finished, or was cancelled before it was started.
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
    /// Closures that ``finish()`` calls last, after the queues were notified of the end.
    var waiting: [Hook] = []
    var isFinishing = false
    /// True if queues and waiting threads were notified of the end.
    var isFinished = false
    var isEnqueued = false
    var internalQueue: OperationQueue?
  }

  private let core = Mutex(Core())

  /// The progress of the operation: 100 units, all of them completed when it has finished.
  public let progress = ObservableProgress(total: 100)

  /// Makes an operation that is not in a queue.
  public override init() { super.init() }

  // MARK: Work of a subclass

  /// Does the work, and calls ``finish()`` when it is done. Called once, on a thread of the queue; it may check
  /// `isCancelled` from time to time. A ``RetryingOperation`` calls it for each attempt.
  open func execute() {
    fatalError("\(type(of: self)) must override execute(), and not call super")
  }

  /// Ends the operation. A second call does nothing.
  ///
  /// Every hook has returned before queues, waiting threads and dependent operations are notified of the end.
  open func finish() {
    guard core.withLock({ core in !exchange(&core.isFinishing, with: true) }) else { return }
    run(.willFinish)
    if !managesProgress { progress.complete() }
    let hooks = core.withLock { core in
      core.state = .finished
      core.finishDate = Date()
      // The remaining moments of an operation that was never started don't come any more. Hooks are released
      // outside of the lock, because the deinitialisers of captured objects may use the operation.
      return exchange(&core.hooks, with: [:])
    }
    post(.operationDidFinish)
    hooks[.didFinish]?.forEach { $0() }
    willChangeValue(for: \.isFinished)
    core.withLock { $0.isFinished = true }
    didChangeValue(for: \.isFinished)
    core.withLock { core in exchange(&core.waiting, with: []) }.forEach { $0() }
  }

  /// True once ``finish()`` has begun to end the operation.
  final var isEnding: Bool { core.withLock(\.isFinishing) }

  /// True if the operation leaves ``progress`` as it is when it finishes; false if not overridden.
  open var managesProgress: Bool { false }

  // MARK: Operation

  /// Starts the operation; its queue calls this. An operation that was cancelled before finishes at once; an
  /// operation that has finished does nothing.
  public final override func start() {
    if isCancelled || isEnding { return finish() }
    run(.willStart)
    prepareToExecute()
    // A hook may have finished the operation.
    let isStarted = core.withLock { core in
      if core.isFinishing { return false }
      core.state = .executing
      core.startDate = Date()
      return true
    }
    if !isStarted { return }
    didChangeValue(for: \.isExecuting)
    run(.didStart)
    if isEnding { return }
    executeOnce()
  }

  /// Prepares the execution. Called before the executing operation can be finished.
  func prepareToExecute() {}

  /// Calls ``execute()``.
  func executeOnce() { execute() }

  /// Cancels the operation and everything on its ``internalQueue``. Running work continues until it checks
  /// `isCancelled`.
  open override func cancel() {
    super.cancel()
    core.withLock(\.internalQueue)?.cancelAllOperations()
  }

  /// True: the operation says itself when it has finished.
  public final override var isAsynchronous: Bool { true }
  /// True while the operation is executing.
  public final override var isExecuting: Bool { state == .executing }
  /// True once the operation has finished, and all its hooks have returned.
  public final override var isFinished: Bool { core.withLock(\.isFinished) }

  /// Type, name and state.
  open override var description: String {
    "\(type(of: self))(name: '\(name ?? "nil")', state: \(state.rawValue))"
  }

  // MARK: State

  /// The state.
  public final var state: State { core.withLock(\.state) }
  /// The date at which the operation was started; nil before.
  public final var startDate: Date? { core.withLock(\.startDate) }
  /// The date at which the operation finished; nil before.
  public final var finishDate: Date? { core.withLock(\.finishDate) }

  /// The execution time so far, in seconds: 0 before the start, and constant after the end.
  public final var executionTime: TimeInterval {
    let (start, end) = core.withLock { ($0.startDate, $0.finishDate) }
    return start.map { (end ?? Date()).timeIntervalSince($0) } ?? 0
  }

  /// A queue for the parts of this operation; it is made at its first use.
  public final var internalQueue: OperationQueue {
    core.withLock { core in
      if let queue = core.internalQueue { return queue }
      let queue = OperationQueue()
      core.internalQueue = queue
      return queue
    }
  }

  /// Returns true once, for the call that puts the operation into a queue.
  final func beginEnqueuing() -> Bool {
    core.withLock { core in core.state == .ready && !exchange(&core.isEnqueued, with: true) }
  }

  // MARK: Hooks

  /// Adds a hook for a moment. If the moment has passed, a hook for the last moment is called at once; other hooks
  /// aren't called.
  final func add(_ hook: @escaping Hook, at moment: Moment) {
    let isLate = core.withLock { core in
      if core.state == .finished { return moment == .didFinish }
      core.hooks[moment, default: []].append(hook)
      return false
    }
    if isLate { hook() }
  }

  /// Calls `hook` once `isFinished` is true and every other hook has returned; immediately if both hold already.
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

/// Sets a value, and returns the previous one.
private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
  defer { value = new }
  return value
}
