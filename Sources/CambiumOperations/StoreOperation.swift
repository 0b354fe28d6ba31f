import Foundation
import GraphContext
import Synchronization

/// An operation that works in a context of its own.
///
/// A subclass overrides ``performWork(in:)``, and ends with ``saveAndFinish()`` or `finish()`.
///
/// ```swift
/// final class InsertSongs: StoreOperation<Void>, @unchecked Sendable {
///   // Safety: it has no properties of its own.
///   override func performWork(in context: ManagedObjectContext) throws {
///     for title in ["Carey", "River"] { context.insert(Song(title)) }
///     saveAndFinish()
///   }
/// }
/// ```
///
/// Operations of one container run at the same time, unless they depend on each other; the merge policy resolves
/// changes of two operations to the same object. The view context follows their saves like those of any other
/// context, as long as its `automaticallyMergesChangesFromParent` is true.
open class StoreOperation<Output: Sendable>: RetryingOperation<Output>, @unchecked Sendable {
  // Safety: a lock protects what changes, and the rest never changes.

  /// The container.
  public let container: PersistentContainer
  /// The policy of saves for objects that other contexts have changed since.
  public let mergePolicy: MergePolicy

  private struct Work {
    var context: BackgroundContext?
    /// The subscription to the saves of the context.
    var saves: ContextSubscription?
    var saved = Changeset()
    /// True while ``StoreOperation/performWork(in:)`` runs.
    var isRunning = false
    /// True if the operation was ended meanwhile, perhaps with a success.
    var endsAfterwards = false
    /// The error of the work, or of a value that the work couldn't read.
    var failure: (any Error)?
  }

  private let work = Mutex(Work())

  /// Makes an operation.
  ///
  /// - Parameters:
  ///   - container: the container.
  ///   - mergePolicy: what saves do with objects that other contexts have changed since.
  ///   - retryStrategy: whether to work again after a failure, in a new context.
  public init(
    _ container: PersistentContainer,
    mergePolicy: MergePolicy = .mergeByPropertyObjectTrump,
    retryStrategy: RetryStrategy = .none
  ) {
    (self.container, self.mergePolicy) = (container, mergePolicy)
    super.init(retryStrategy: retryStrategy)
  }

  /// The context of the operation, while it works. Its objects can't leave the blocks that work with them.
  public final var operationContext: BackgroundContext? { work.withLock(\.context) }

  /// The changes that the operation has saved so far, in all its attempts. An object that the operation has
  /// inserted and deleted again is in no set.
  public final var savedChanges: Changeset { work.withLock(\.saved) }

  /// Does the work, on the context's queue, while a thread of the operation's queue waits. The method ends the
  /// operation by ``saveAndFinish()`` or `finish()`; these may also be called later, from any thread. An error that
  /// the method throws is the operation's output, and ends the operation.
  ///
  /// If the method itself or another thread ends the operation with a success while the method runs, the operation
  /// ends when the method has returned. So an error that the method throws afterwards is the output, too. What the
  /// method has saved before the error stays stored, and another attempt would do it again. A method that waits for the
  /// end of its operation waits for ever.
  ///
  /// A getter that can't read returns a placeholder, and its context notes the error. If the method or a later block of
  /// ``operationContext`` ends the operation then, the error is the output. Work that continues later ends the
  /// operation after its last block, with what the block has returned or thrown. A block may also end it as its last
  /// step: only the block's caller gets an error that the block throws after that.
  ///
  /// Save by ``saveAndFinish()`` or ``saveOperationContext()``: they drop errors that hooks and listeners cause after
  /// the commit. After `context.save()` such an error is the output, and another attempt would do again what is stored.
  open func performWork(in context: ManagedObjectContext) throws {
    throw StoreOperationError.notOverridden("\(type(of: self))")
  }

  /// Returns the output of an operation that has succeeded without setting an output. The default implementation
  /// returns `()` for an operation for `Void`, and nil for any other.
  open func outputAfterSaving() -> Output? { () as? Output }

  /// Makes the context and works in it.
  public final override func execute() {
    let context: BackgroundContext
    do {
      context = try container.newBackgroundContext(
        name: "CambiumOperations.StoreOperation",
        mergePolicy: mergePolicy
      )
    } catch {
      return finish(with: .failure(error))
    }
    work.withLock { ($0.context, $0.failure) = (context, nil) }
    do {
      try context.performAndWait { context in
        countSaves(of: context)
        work.withLock { $0.isRunning = true }
        try performWork(in: context)
      }
      leaveWork(in: context, failure: nil)
    } catch {
      leaveWork(in: context, failure: error)
    }
  }

  /// Ends the operation if its work has failed, or if it was ended during the work.
  private func leaveWork(in context: BackgroundContext, failure: (any Error)?) {
    let endsAfterwards = work.withLock { work -> Bool? in
      defer { (work.isRunning, work.endsAfterwards) = (false, false) }
      // If a failure or a cancellation has ended the operation, or this attempt, the result is set already.
      guard work.context === context else { return nil }
      // Another thread may have set a success, and be about to call `finish()`. Without an error, a later block's
      // failure stays.
      work.failure = failure ?? work.failure
      return work.endsAfterwards
    }
    guard let endsAfterwards else { return }
    if endsAfterwards { end() } else if let failure { finish(with: .failure(failure)) }
  }

  /// Adds the changes of every save of the context to ``savedChanges``, also of saves that hooks and listeners make.
  private func countSaves(of context: ManagedObjectContext) {
    let saves = context.onDidSave { [weak self] changes in self?.work.withLock { $0.saved.add(changes) } }
    work.withLock { $0.saves = saves }
  }

  /// Saves the context, any number of times; ends the operation if it was cancelled. A failure is the output from
  /// now on.
  ///
  /// - Returns: whether everything is saved.
  @discardableResult
  public final func saveOperationContext() -> Bool {
    guard !isCancelled, let operationContext else {
      finish()
      return false
    }
    do {
      try operationContext.performAndWait { try $0.saveLast() }
      return true
    } catch {
      output = .failure(error)
      return false
    }
  }

  /// Saves the context, and ends the operation. If the output isn't set, it is ``outputAfterSaving()``; the failure
  /// of this or an earlier save remains the output.
  public final func saveAndFinish() {
    if isCancelled { return finish() }
    if saveOperationContext(), !hasResult, let output = outputAfterSaving() { self.output = .success(output) }
    finish()
  }

  /// Ends the operation, and releases the context. If this is called with a success while ``performWork(in:)`` runs,
  /// the operation ends when that method has returned.
  open override func finish() {
    // An operation for `Void` succeeds without setting an output.
    let maySucceed = !hasFailed && (hasResult || !isCancelled)
    guard maySucceed else { return end() }
    if let context = operationContext, context.isCurrent { noteUnreadValue(in: context) }
    let waits = work.withLock { work -> Bool in
      guard work.isRunning, work.context != nil else { return false }
      // Until its block has returned, the work may still throw, or fail to read a value.
      work.endsAfterwards = true
      return true
    }
    if !waits { end() }
  }

  /// Notes the error of a getter as the failure of the work. Called in a block of the context: in that of
  /// ``performWork(in:)``, or in one that code has enqueued on the context.
  private func noteUnreadValue(in context: BackgroundContext) {
    do {
      // The thread has the context already, so this is a part of its block.
      try context.performAndWait { try $0.checkUsable() }
    } catch {
      work.withLock { work in
        // Another thread may have ended this attempt meanwhile.
        if work.context === context { work.failure = error }
      }
    }
  }

  private func end() {
    let failure = work.withLock { work in
      // The failure is one of this attempt. A late call must not make it the output of the next one.
      defer { work.failure = nil }
      (work.context, work.saves) = (nil, nil)
      return work.failure
    }
    if let failure, !hasFailed { output = .failure(failure) }
    super.finish()
  }

  /// True if the output is a failure.
  private var hasFailed: Bool {
    if case .failure = output { return hasResult }
    return false
  }
}

/// An error of a ``StoreOperation`` itself.
public enum StoreOperationError: Error, Sendable, Hashable {
  /// The subclass of this name has no `performWork(in:)`.
  case notOverridden(String)
}
