import Synchronization

/// A ``CommitHistory`` that two kinds of threads share: the one that changes the store, and those that watch its disk.
public final class ModelLedger<State: Sendable>: Sendable {
  private let content: Mutex<CommitHistory<State>>

  public init(_ model: CommitHistory<State>) { content = Mutex(model) }

  /// The model at this moment.
  public var model: CommitHistory<State> { content.withLock { $0 } }

  /// Changes the model.
  public func change(_ body: (inout CommitHistory<State>) throws -> Void) rethrows {
    try content.withLock { try body(&$0) }
  }
}
