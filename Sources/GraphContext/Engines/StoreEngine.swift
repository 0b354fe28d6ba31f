import Foundation
import Predicates

/// A store as contexts see it: it hands out sources to read from, leases object numbers, and commits saves.
///
/// The calls are coarse: a save, a query, a batch of records. A fault costs one dynamic call, and no attribute costs one.
/// ``PageStoreEngine`` conforms to it.
protocol StoreEngine: AnyObject, Sendable {
  /// The store's identifier, which every object's ID repeats.
  var storeID: UUID { get }
  var schema: StoredSchema { get }

  /// The store as its newest commit left it.
  ///
  /// - Throws: `closed`; `schemaChanged` when the store has another schema by now; `store` when it can't be read.
  func newestSource() throws(ContextError) -> any ObjectSource

  /// The changes of the commits between two sources of this engine, the oldest first. Where `new` is the older one, they are those that the
  /// way back undoes. Empty if either shows nothing.
  func changeSets(from old: any ObjectSource, to new: any ObjectSource) -> [ChangeSet]

  /// A number that no object of the entity has had, and that none will have but the one it is taken for. O(1) as a rule; it may wait for
  /// the writers' queue and for the device.
  ///
  /// - Parameter timeout: the longest wait for the writers' queue; nil for no limit.
  /// - Throws: `tooManyObjects` when no number is left; `store` when the lease can't be written or synced.
  func takeNumber(of entity: StoredEntity, timeout: Duration?) throws(ContextError) -> ObjectNumber

  /// Commits what `request` returns, all of it or nothing.
  ///
  /// - Parameters:
  ///   - durability: when the save counts as done; nil for what the store's options say.
  ///   - turn: how to get the right to write.
  ///   - showsValues: whether errors show what is stored.
  ///   - request: called once the engine has the right to write, with the state that the save builds on. It must not read from the engine for
  ///     long: other writers wait.
  ///   - review: called before anything is stored, with what the delete rules and the request change. If it returns false, nothing is stored.
  /// - Returns: nil, without having called `request`, when the right to write isn't to be had as `turn` asks for it.
  /// - Throws: what `request` throws; `conflict`, `missingDestination`, `deletionDenied`, `notUnique`, `missingValue`,
  ///   `wrongValue`, `validationFailed`, `indexedValueTooLong`; `store` when the store can't be read or written.
  func commit(
    _ durability: Durability?,
    turn: SaveTurn,
    showsValues: Bool,
    _ request: (SaveBase) throws(ContextError) -> SaveRequest,
    reviewing review: SaveReview
  ) throws(ContextError) -> SaveOutcome?

  /// Calls `attempt` until it returns true, each time with a turn that needs no waiting. Suspends in between, in the queue of all writers.
  ///
  /// What `attempt` commits is durable as `durability` says when this returns; `attempt` is told how durable its own commit must be.
  ///
  /// - Throws: `store` with a `storeError` of code `timedOut` when others write for longer than `timeout`; what `attempt` throws.
  nonisolated(nonsending) func commitWithoutBlocking(
    _ durability: Durability?,
    timeout: Duration?,
    _ attempt: (Durability?, SaveTurn) throws(ContextError) -> Bool
  ) async throws(ContextError)
}

/// Looks at what a save changes by delete rules and beyond records, and adds failures of objects. Returns whether it may be stored.
typealias SaveReview = (
  SaveRequest, RuleChanges, [ChangeSet.Relationship: ChangeSet.Links], inout SaveFailures
) throws(ContextError) -> Bool

/// The state of a store that a save builds on. It may be newer than ``StoreEngine/newestSource()``, which shows durable commits only.
struct SaveBase {
  let commit: UInt64
  /// Makes a source of the state.
  let source: () throws(ContextError) -> any StoredSource
}

/// How a save gets the right to write.
enum SaveTurn {
  /// It waits in the queue of all writers, for as long as this or without limit.
  case waiting(timeout: Duration?)
  /// Only if no other writer has it or waits for it.
  case ifFree
  /// It was reserved; the engine knows how.
  case reserved(any Sendable)
}

/// What a save has done to the store.
struct SaveOutcome {
  /// Nil when there was nothing to save, or when a review has refused it.
  var changes: ChangeSet?
  /// Those of them that delete rules have made.
  var ruleChanges = RuleChanges()

  init(changes: ChangeSet? = nil, ruleChanges: RuleChanges = RuleChanges()) {
    self.changes = changes
    self.ruleChanges = ruleChanges
  }
}
