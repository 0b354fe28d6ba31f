import Foundation

// The notifications and hooks of an operation's steps.

extension Notification.Name {
  /// The notification that a ``ConcurrentOperation`` posts before it starts. The object is the operation; `userInfo`
  /// has its `name` and that of its `queue`, where they have one.
  public static let operationWillStart = Notification.Name("CambiumOperations.willStart")
  /// The notification that is posted when the operation has a start date, before it works.
  public static let operationDidStart = Notification.Name("CambiumOperations.didStart")
  /// The notification that is posted when the work is done. An operation that is cancelled before it was started posts
  /// this, too.
  public static let operationWillFinish = Notification.Name("CambiumOperations.willFinish")
  /// The notification that is posted when the operation has a finish date.
  public static let operationDidFinish = Notification.Name("CambiumOperations.didFinish")
}

extension ConcurrentOperation.Moment {
  /// The notification of the moment.
  var notification: Notification.Name {
    switch self {
    case .willStart: .operationWillStart
    case .didStart: .operationDidStart
    case .willFinish: .operationWillFinish
    case .didFinish: .operationDidFinish
    }
  }
}

extension ConcurrentOperation {
  /// Calls `block` before the operation starts. Blocks are called in the order in which they were added.
  public func addWillStartBlock(_ block: @escaping @Sendable () -> Void) { add(block, at: .willStart) }

  /// Calls `block` when the operation has a start date, before it works.
  public func addDidStartBlock(_ block: @escaping @Sendable () -> Void) { add(block, at: .didStart) }

  /// Calls `block` when the work is done, before the operation counts as finished.
  public func addWillFinishBlock(_ block: @escaping @Sendable () -> Void) { add(block, at: .willFinish) }

  /// Calls `block` when the operation has a finish date; immediately if it has one already.
  public func addDidFinishBlock(_ block: @escaping @Sendable () -> Void) { add(block, at: .didFinish) }

  /// Returns when the operation has finished, with or without success.
  public func finished() async {
    await withCheckedContinuation { continuation in
      whenFinished { continuation.resume() }
    }
  }
}
