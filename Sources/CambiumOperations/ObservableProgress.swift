import Foundation

/// A Foundation `Progress` that notifies observers of changes, and that any thread may use.
///
/// Foundation on Linux has no key-value observing, and its `Progress` has no lock. This class calls closures, and
/// uses one lock for all trees of progresses. While other threads make progress, read ``fraction``, and not
/// `fractionCompleted`, which can't be overridden.
///
/// ```swift
/// let observation = operation.progress.onChange { print("\(Int($0 * 100)) %") }
/// ```
public final class ObservableProgress: Progress, @unchecked Sendable {
  // Safety: what this class adds, and every member of the superclass that it overrides, is read and written under
  // `lock`. Members that can't be overridden, such as `fractionCompleted`, are read without it.

  /// One lock for all, because a child writes to its parent.
  private static let lock = NSRecursiveLock()
  /// A lock that is held while the closures are called, so that they receive the fractions in order.
  private let telling = NSRecursiveLock()
  private var observers: [Observer] = []

  private struct Observer {
    let key: Int
    let body: @Sendable (Double) -> Void
    /// The fraction that the observer received last; nil for none.
    var told: Double?
  }
  private var nextKey = 0
  private weak var whole: ObservableProgress?
  private var parts: [ObservableProgress] = []

  /// Makes a progress without a parent.
  ///
  /// - Parameter total: the number of units to complete.
  public init(total: Int64) {
    super.init(parent: nil, userInfo: nil)
    super.totalUnitCount = total
  }

  /// The number of units to complete.
  public override var totalUnitCount: Int64 {
    get { Self.lock.withLock { super.totalUnitCount } }
    set {
      Self.lock.withLock { super.totalUnitCount = newValue }
      tell()
    }
  }

  /// The number of completed units.
  public override var completedUnitCount: Int64 {
    get { Self.lock.withLock { super.completedUnitCount } }
    set {
      Self.lock.withLock { super.completedUnitCount = newValue }
      tell()
    }
  }

  /// The completed fraction, from 0 to 1, including that of the children.
  public var fraction: Double { Self.lock.withLock { fractionCompleted } }

  /// Completes one more unit, or several, atomically: several threads may call this at the same time.
  public func advance(by units: Int64 = 1) {
    Self.lock.withLock { super.completedUnitCount += units }
    tell()
  }

  /// Makes another progress a child of this one. A progress can have one parent.
  public override func addChild(_ child: Progress, withPendingUnitCount units: Int64) {
    Self.lock.withLock {
      super.addChild(child, withPendingUnitCount: units)
      guard let child = child as? ObservableProgress else { return }
      child.whole = self
      parts.append(child)
    }
    tell()
  }

  /// Cancels this progress and its children.
  public override func cancel() { Self.lock.withLock { super.cancel() } }

  /// True once the program has cancelled this progress or one of its ancestors.
  public override var isCancelled: Bool {
    get { Self.lock.withLock { super.isCancelled } }
    set { Self.lock.withLock { super.isCancelled = newValue } }
  }

  /// Completes every unit, those of the children included.
  public func complete() {
    // A progress of no units, or of an unknown number, never counts as completed.
    if totalUnitCount <= 0 { totalUnitCount = max(1, completedUnitCount) }
    let parts = Self.lock.withLock { self.parts }
    for part in parts where part.fraction < 1 { part.complete() }
    if completedUnitCount != totalUnitCount { completedUnitCount = totalUnitCount }
  }
}

// MARK: - Observing

extension ObservableProgress {
  /// Calls `body` with each new fraction, on the thread that has made the progress. The closure must not wait for a
  /// thread that makes progress.
  ///
  /// - Returns: an object that keeps the closure and the progress; no call begins once the program has released it.
  public func onChange(_ body: @escaping @Sendable (_ fraction: Double) -> Void) -> ProgressObservation {
    let key = add(body, told: fraction)
    return ProgressObservation { self.remove(key) }
  }

  /// Returns the fractions, beginning with the current one, for a task on any executor. A task that is slower than
  /// the work gets only the newest fraction. The sequence ends once everything is completed.
  public func fractions() -> AsyncStream<Double> {
    let (stream, continuation) = AsyncStream<Double>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let next: @Sendable (Double) -> Void = { fraction in
      continuation.yield(fraction)
      if fraction >= 1 { continuation.finish() }
    }
    let key = add(next, told: nil)
    // Until then the sequence keeps the progress.
    continuation.onTermination = { _ in self.remove(key) }
    tell()
    return stream
  }

  private func add(_ body: @escaping @Sendable (Double) -> Void, told: Double?) -> Int {
    Self.lock.withLock {
      nextKey += 1
      observers.append(Observer(key: nextKey, body: body, told: told))
      return nextKey
    }
  }

  private func remove(_ key: Int) { Self.lock.withLock { observers.removeAll { $0.key == key } } }

  /// Returns the observers that haven't received the fraction, and marks them as notified. The caller holds the lock.
  private func takeUntold() -> ([Observer], Double) {
    let fraction = fractionCompleted
    var untold: [Observer] = []
    for index in observers.indices where observers[index].told != fraction {
      observers[index].told = fraction
      untold.append(observers[index])
    }
    return (untold, fraction)
  }

  /// Returns whether an observer is registered, and this fraction is the newest one for it. The caller holds the lock.
  private func isNewest(_ fraction: Double, _ key: Int) -> Bool {
    observers.first { $0.key == key }?.told == fraction
  }

  /// Notifies the observers of this progress and of its ancestors, unless they have received the fraction.
  private func tell() {
    var next: ObservableProgress? = self
    while let progress = next {
      progress.telling.withLock {
        let (untold, fraction) = Self.lock.withLock { progress.takeUntold() }
        // A closure may end the observation of another one, or make progress, of which all observers are notified
        // before it returns.
        for observer in untold where Self.lock.withLock({ progress.isNewest(fraction, observer.key) }) {
          observer.body(fraction)
        }
      }
      next = Self.lock.withLock { progress.whole }
    }
  }
}

/// An object that keeps a closure that observes a progress, and the progress. The observation ends when the program
/// releases this object.
public final class ProgressObservation: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Ends the observation.
  public func cancel() { end() }
}
