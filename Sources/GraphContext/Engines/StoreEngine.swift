import Foundation
import Predicates

/// A store as contexts see it: it hands out sources to read from, leases object numbers, and commits saves.
///
/// The calls are coarse: a save, a query, a batch of records. A fault costs one dynamic call, and no attribute costs
/// one. ``PageStoreEngine`` conforms to it.
protocol StoreEngine: AnyObject, Sendable {
  /// The store's identifier, which every object's ID repeats.
  var storeID: UUID { get }
  var schema: ResolvedSchema { get }

  /// Returns the store as its newest commit left it.
  ///
  /// - Throws: `closed`; `schemaChanged` when the store has another schema by now; `store` when it can't be read.
  func newestSource() throws(ContextError) -> any ObjectSource

  /// Returns the changes of the commits between two sources of this engine, the oldest first. If `new` is the older
  /// source, because the store has taken commits back, returns the changes that undo these commits, the newest first.
  /// Empty if either shows nothing.
  func changeSets(from old: any ObjectSource, to new: any ObjectSource) -> [ChangeSet]

  /// Returns a number that no object of the entity has had, and that only the object it is taken for will have.
  /// O(1) as a rule; it may wait for the writers' queue and for the device.
  ///
  /// - Parameter timeout: the longest wait for the writers' queue; nil for no limit.
  /// - Throws: `tooManyObjects` when no number is left; `store` when the lease can't be written or synced.
  func takeNumber(of entity: StoredEntity, timeout: Duration?) throws(ContextError) -> ObjectNumber

  /// Commits the changes that `request` returns: all of them or none.
  ///
  /// - Parameters:
  ///   - durability: when the save counts as done; nil for the durability of the store's options.
  ///   - turn: how to get the right to write.
  ///   - showsValues: whether errors show stored values.
  ///   - request: called once the engine has the right to write, with the state that the save builds on. It must not
  ///     read from the engine for long: other writers wait.
  ///   - review: called before anything is stored, with the changes of the delete rules and the request. If it
  ///     returns false, nothing is stored.
  /// - Returns: nil, without a call of `request`, if the engine can't get the right to write in the way that `turn`
  ///   describes.
  /// - Throws: what `request` throws; `conflict`, `missingDestination`, `deletionDenied`, `notUnique`, `missingValue`,
  ///   `wrongValue`, `validationFailed`, `indexedValueTooLong`; `store` when the store can't be read or written.
  func commit(
    _ durability: Durability?,
    turn: SaveTurn,
    showsValues: Bool,
    _ request: (SaveBase) throws(ContextError) -> SaveRequest,
    reviewing review: SaveReview
  ) throws(ContextError) -> SaveOutcome?

  /// Calls `attempt` until it returns true, each time with a turn that needs no waiting. Suspends in between, in the
  /// queue of all writers.
  ///
  /// When this returns, the commits of `attempt` are as durable as `durability` says. `attempt` gets the durability
  /// that its own commit must have.
  ///
  /// - Throws: `store` with a `storeError` of code `timedOut` when others write for longer than `timeout`; the
  ///   errors of `attempt`.
  nonisolated(nonsending) func commitWithoutBlocking(
    _ durability: Durability?,
    timeout: Duration?,
    _ attempt: (Durability?, SaveTurn) throws(ContextError) -> Bool
  ) async throws(ContextError)
}

/// A commit that is held, so that a context can read it while others save.
protocol HeldCommit: Sendable {
  /// Makes a separate source that shows the commit.
  ///
  /// - Throws: `commitNotHeld` after the release; `schemaChanged` when the store has another schema by now.
  func source() throws(ContextError) -> any ObjectSource
}

/// Reviews the changes of a save by delete rules and beyond records, and adds failures of objects. Returns whether
/// it may be stored.
typealias SaveReview = (
  SaveRequest, RuleChanges, [ChangeSet.Relationship: ChangeSet.Links], inout SaveFailures
) throws(ContextError) -> Bool

/// The state of a store that a save builds on. It may be newer than ``StoreEngine/newestSource()``, which shows durable
/// commits only.
struct SaveBase {
  let commit: UInt64
  /// Makes a source of the state.
  let source: () throws(ContextError) -> any StoredSource
}

/// How a save gets the right to write.
enum SaveTurn {
  /// The save waits in the queue of all writers: at most for the timeout, or without limit if that is nil.
  case waiting(timeout: Duration?)
  /// The save gets the right only if no other writer has it or waits for it.
  case ifFree
  /// The right was reserved; the engine knows how.
  case reserved(any Sendable)
}

/// The result of a save in the store.
struct SaveOutcome {
  /// Nil when there was nothing to save, or when a review has refused it.
  var changes: ChangeSet?
  /// The changes among them that delete rules have made.
  var ruleChanges = RuleChanges()

  init(changes: ChangeSet? = nil, ruleChanges: RuleChanges = RuleChanges()) {
    self.changes = changes
    self.ruleChanges = ruleChanges
  }
}
