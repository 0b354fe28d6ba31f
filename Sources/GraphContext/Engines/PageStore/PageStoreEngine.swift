import Dispatch
import Foundation
import PageStore
import Predicates
import Synchronization

/// The engine of apps: a store of pages, its trees named by the schema's catalogue.
final class PageStoreEngine: StoreEngine {
  /// Usable until the last container is closed. Only the handles of the containers are counted.
  let store: Store
  let schema: ResolvedSchema
  let storeID: UUID
  let numbers: ObjectNumbers
  /// The companion of the engine's saves; nil if nothing is added to them.
  private let companion: (any SaveCompanion)?
  let phase = Mutex(Phase.current)
  let queryLogging = QueryLogging(.asked(by: ProcessInfo.processInfo.environment))

  init(
    store: Store,
    schema: ResolvedSchema,
    numbers: ObjectNumbers,
    companion: (any SaveCompanion)? = nil
  ) {
    self.store = store
    self.schema = schema
    self.numbers = numbers
    self.companion = companion
    storeID = UUID(store.uuid)
  }

  func newestSource() throws(ContextError) -> any ObjectSource { try newestView() }

  /// Returns the store as its last commit left it.
  ///
  /// - Throws: `schemaChanged` when another container has taken the store over.
  func newestView() throws(ContextError) -> StoreView {
    try view { () throws(StoreError) in try store.snapshot() }
  }

  /// Returns the store as the running write transaction has found it.
  private func viewOfWriter() throws(ContextError) -> any StoredSource {
    try view { () throws(StoreError) in try store.snapshotOfWriter() }
  }

  private func view(_ take: () throws(StoreError) -> Snapshot) throws(ContextError) -> StoreView {
    try source(of: ContextError.mapping(take))
  }

  /// Returns a source that shows a snapshot of the store.
  ///
  /// - Throws: `schemaChanged` when the snapshot may have another schema than the engine.
  func source(of snapshot: Snapshot) throws(ContextError) -> StoreView {
    try checkShows(snapshot)
    return view(of: .success(snapshot))
  }

  /// - Parameter snapshot: the snapshot, or the error that the view throws because there is no snapshot.
  func view(of snapshot: Result<Snapshot, ContextError>) -> StoreView {
    let view = StoreView(schema, snapshot)
    view.queryLogging = queryLogging
    return view
  }

  func changeSets(from old: any ObjectSource, to new: any ObjectSource) -> [ChangeSet] {
    guard let old = old as? StoreView, let new = new as? StoreView else { return [] }
    let changes = new.changeSets(since: old)
    // A store that has taken commits back has an older state: the last of these commits is undone first.
    return new.commit < old.commit ? changes.reversed().map(\.undone) : changes
  }
}

// MARK: - Saving

extension PageStoreEngine {
  /// Saves what `request` returns in the writer's turn, and attaches the change set to the commit.
  func commit(
    _ durability: Durability?,
    turn: SaveTurn,
    showsValues: Bool,
    _ request: (SaveBase) throws(ContextError) -> SaveRequest,
    reviewing review: SaveReview
  ) throws(ContextError) -> SaveOutcome? {
    var leased: [LeaseEnd] = []
    do {
      let outcome = try store.write(durability: durability, turn: TurnRequest(turn)) { transaction in
        try checkWritable()
        let request = try request(SaveBase(commit: transaction.baseCommit, source: viewOfWriter))
        guard !request.isEmpty else { return SaveOutcome() }
        var save = SaveTransaction(
          request,
          schema: schema,
          numbers: numbers,
          storeID: storeID,
          commit: transaction.commit,
          showsValues: showsValues,
          keepsHistory: companion == nil
        )
        let changes = try save.run(&transaction, reviewing: review)
        leased = save.leasedEnds
        if let companion {
          try companion.accompany(request, changes, &transaction)
        } else {
          transaction.attach(changes)
        }
        // If other contexts have made the same changes of links, nothing is left to store, and there may be no
        // commit.
        if changes.isEmpty { return SaveOutcome() }
        return SaveOutcome(changes: changes, ruleChanges: save.ruleChanges)
      }
      numbers.didLease(leased, isDurable: (durability ?? store.options.durability) != .relaxed)
      return outcome
    } catch is SaveTransaction.Refusal {
      return SaveOutcome()
    } catch {
      throw ContextError(any: error)
    }
  }

  nonisolated(nonsending) func commitWithoutBlocking(
    _ durability: Durability?,
    timeout: Duration?,
    _ attempt: (Durability?, SaveTurn) throws(ContextError) -> Bool
  ) async throws(ContextError) {
    let wanted = durability ?? store.options.durability
    let first = wanted == .full ? .relaxed : durability
    var queue = SaveQueue(store, timeout: timeout)
    while try !attempt(first, .ifFree) {
      let reservation = try await queue.reserveTurn()
      defer { store.cancel(reservation) }
      if try attempt(first, .reserved(reservation)) { break }
    }
    if wanted == .full, !store.options.isReadOnly { try await makeDurable() }
  }

  /// Makes all saves so far durable. Waits on a thread of the global queue, not on the caller's thread.
  private func makeDurable() async throws(ContextError) {
    try await DispatchQueue.global().run { () throws(ContextError) in
      try ContextError.mapping { () throws(StoreError) in try self.makeLeasesDurable() }
    }
  }
}

extension TurnRequest {
  fileprivate init(_ turn: SaveTurn) {
    switch turn {
    case .waiting(let timeout): self = .waiting(timeout: timeout)
    case .reserved(let reservation as TurnReservation): self = .reserved(reservation)
    // A reservation of another engine isn't valid here.
    case .ifFree, .reserved: self = .ifFree
    }
  }
}

/// A participant in the saves of an engine.
protocol SaveCompanion: Sendable {
  /// Adds to the transaction of a save, at its end. The save fails with the error that this throws. Contexts of
  /// other engines don't get the changes.
  func accompany(
    _ request: SaveRequest,
    _ changes: ChangeSet,
    _ transaction: inout WriteTransaction
  ) throws
}
