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
    work.withLock { $0.context = context }
    do {
      try context.performAndWait { context in
        countSaves(of: context)
        try performWork(in: context)
      }
    } catch {
      // If the work has ended the operation, or this attempt, the result is set already.
      if operationContext === context { finish(with: .failure(error)) }
    }
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

  /// Ends the operation, and releases the context.
  open override func finish() {
    work.withLock { ($0.context, $0.saves) = (nil, nil) }
    super.finish()
  }
}

/// An error of a ``StoreOperation`` itself.
public enum StoreOperationError: Error, Sendable, Hashable {
  /// The subclass of this name has no `performWork(in:)`.
  case notOverridden(String)
}
