import Foundation
import Predicates
import Synchronization

@testable import GraphContext

/// A store of dictionaries: the oracle of the engine of apps. A save changes a copy of the whole store, in the
/// simplest way.
final class DictionaryEngine: StoreEngine {
  let storeID = UUID()
  let schema: ResolvedSchema
  private let state: Mutex<State>

  private struct State {
    var newest: PlainStore
    var nextSequence: [UInt64]
    var changeSets: [ChangeSet] = []
  }

  init(_ schema: ResolvedSchema) {
    self.schema = schema
    state = Mutex(State(newest: PlainStore(schema), nextSequence: schema.entities.map { _ in 1 }))
  }

  func newestSource() throws(ContextError) -> any ObjectSource { try storedSource() }

  private func storedSource() throws(ContextError) -> any StoredSource {
    DictionarySource(state.withLock { $0.newest }, schema)
  }

  func changeSets(from old: any ObjectSource, to new: any ObjectSource) -> [ChangeSet] {
    let (first, last) = (min(old.commit, new.commit), max(old.commit, new.commit))
    let changes = state.withLock { $0.changeSets.filter { $0.commit > first && $0.commit <= last } }
    return new.commit < old.commit ? changes.reversed().map(\.undone) : changes
  }

  func takeNumber(of entity: StoredEntity, timeout: Duration?) throws(ContextError) -> ObjectNumber {
    let sequence = state.withLock { state in
      defer { state.nextSequence[entity.ordinal] += 1 }
      return state.nextSequence[entity.ordinal]
    }
    guard let number = ObjectNumber(sequence: sequence) else {
      throw ContextError(.tooManyObjects, "no number is left for another \(entity.name)")
    }
    return number
  }

  func commit(
    _ durability: Durability?,
    turn: SaveTurn,
    showsValues: Bool,
    _ request: (SaveBase) throws(ContextError) -> SaveRequest,
    reviewing review: SaveReview
  ) throws(ContextError) -> SaveOutcome? {
    let base = state.withLock { $0.newest.commit }
    let request = try request(SaveBase(commit: base, source: storedSource))
    guard !request.isEmpty else { return SaveOutcome() }
    let old = state.withLock { $0.newest }
    var save = PlainSave(old, schema, storeID)
    try save.apply(request)
    let changes = ChangeSet(from: old, to: save.store, schema)
    var failures = SaveFailures()
    guard try review(request, save.ruleChanges, changes.links, &failures) else { return SaveOutcome() }
    try failures.throwIfAny()
    state.withLock { state in
      state.newest = save.store
      state.changeSets.append(changes)
    }
    return SaveOutcome(changes: changes, ruleChanges: save.ruleChanges)
  }

  nonisolated(nonsending) func commitWithoutBlocking(
    _ durability: Durability?,
    timeout: Duration?,
    _ attempt: (Durability?, SaveTurn) throws(ContextError) -> Bool
  ) async throws(ContextError) {
    while try !attempt(durability, .ifFree) { await Task.yield() }
  }
}

/// Everything that a store has, as plain values.
struct PlainStore {
  struct Row: Equatable {
    /// By slot.
    var values: [AttributeValue]
    var commit: UInt64
  }
  struct Link: Hashable {
    var owner: ObjectNumber
    var element: ObjectNumber
  }

  var commit: UInt64 = 0
  /// By the entity's ordinal.
  var rows: [[ObjectNumber: Row]]
  /// The links of many-to-many relationships, by the entity's ordinal and the position of the relationship.
  var pairs: [[Set<Link>]]

  init(_ schema: ResolvedSchema) {
    rows = schema.entities.map { _ in [:] }
    pairs = schema.entities.map { entity in entity.toManys.map { _ in [] } }
  }

  func row(_ number: ObjectNumber, of ordinal: Int) -> Row? { rows[ordinal][number] }

  func reference(_ slot: Int, of number: ObjectNumber, _ ordinal: Int) -> ObjectNumber? {
    guard case .reference(let target)? = rows[ordinal][number]?.values[slot] else { return nil }
    return target
  }

  /// The numbers linked to an owner, ascending.
  func elements(of owner: ObjectNumber, in table: LinkTable) -> [ObjectNumber] {
    switch table.origin {
    case .reference(let entity, let slot):
      rows[entity].filter { $0.value.values[slot] == .reference(owner) }.keys.sorted()
    case .pairs(let entity, let position):
      pairs[entity][position].filter { $0.owner == owner }.map(\.element).sorted()
    }
  }

  mutating func link(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    _ relationship: StoredToMany,
    _ entity: Int
  ) {
    guard case .pairs(let trees) = relationship.storage else { return }
    pairs[entity][relationship.ordinal].insert(Link(owner: owner, element: element))
    guard let inverse = trees.inverse else { return }
    pairs[relationship.destination][inverse].insert(Link(owner: element, element: owner))
  }

  mutating func unlink(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    _ relationship: StoredToMany,
    _ entity: Int
  ) {
    guard case .pairs(let trees) = relationship.storage else { return }
    pairs[entity][relationship.ordinal].remove(Link(owner: owner, element: element))
    guard let inverse = trees.inverse else { return }
    pairs[relationship.destination][inverse].remove(Link(owner: element, element: owner))
  }
}
