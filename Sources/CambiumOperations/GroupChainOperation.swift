import Foundation
import Synchronization

/// A chain of operations as one operation. It succeeds or fails as the last operation of the chain does.
///
/// A group that receives a failure as input fails with it, and runs nothing: its operations are cancelled, and
/// finish. Cancelling the group cancels the operations that have not finished yet.
public final class GroupChainOperation: ResultOperation<Void>, ConsumesResult, @unchecked Sendable {
  // Safety: the slot and the flag may be used by any thread, and the other properties never change.

  /// The group's input; success if no producer sets it.
  @ResultSlot public var input: Result<Void, any Error> = .success(())
  private let last: Operation
  private let chainProgress: ObservableProgress?
  /// True if the operations of the chain were put into a queue.
  private let isChainEnqueued = Mutex(false)

  init(_ last: Operation, collatesProgress: Bool) {
    self.last = last
    chainProgress = collatesProgress ? last.chainProgress() : nil
    super.init()
    if let chainProgress { progress.addChild(chainProgress, withPendingUnitCount: progress.totalUnitCount) }
  }

  /// Runs the chain.
  public override func execute() {
    if case .failure = input { return finish(with: input) }
    // A cancelled operation stops waiting for its dependencies. So a separate operation waits for the whole chain,
    // on a queue that isn't cancelled.
    let end = BlockOperation { [self] in
      finish(with: (last as? any ProducesResult)?.outcome ?? .success(()))
    }
    for operation in last.operationChain { end.addDependency(operation) }
    isChainEnqueued.withLock { $0 = true }
    last.enqueue(on: internalQueue)
    OperationQueue().addOperation(end)
  }

  /// Ends the group. If the group hasn't run, this cancels its operations and puts them into a queue, so that they
  /// finish and no waiting code hangs.
  public override func finish() {
    let isAbandoned = isChainEnqueued.withLock { isEnqueued in
      defer { isEnqueued = true }
      return !isEnqueued
    }
    if isAbandoned { last.abandon(on: internalQueue) }
    super.finish()
  }

  /// Cancels the group and the operations that have not finished yet.
  public override func cancel() {
    super.cancel()
    for operation in last.operationChain where !operation.isFinished { operation.cancel() }
  }
}

extension Operation {
  /// Returns the operation and all its dependencies, as one operation.
  ///
  /// - Parameter collateProgress: whether the group's progress follows that of the operations. Their progresses can
  ///   then not be part of another one.
  public func group(collateProgress: Bool = false) -> GroupChainOperation {
    GroupChainOperation(self, collatesProgress: collateProgress)
  }
}
