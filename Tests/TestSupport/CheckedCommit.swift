@_spi(Testing) import PageStore

/// A transaction of a store and of its model. Any thread may make it: the model follows the writer's turn.
struct CheckedCommit: Sendable {
  let store: Store
  let ledger: ModelLedger<StoreState>
  let disk: SimulatedDisk
  let operations: [StoreOperation]
  /// The store's own if nil.
  let durability: Durability?

  /// Makes the transaction, and records its result in the model. Throws ``OracleMismatch``.
  func run() throws -> StoreUnderTest.Outcome {
    var begun: UInt64?
    do {
      try store.write(durability: durability) { begun = try makeChanges(in: &$0) }
    } catch let error as StoreError {
      if error.code == .outcomeUnknown { return .unknown(error) }
      if begun != nil { ledger.change { $0.abort() } }
      return .aborted(error)
    }
    guard let begun else { throw OracleMismatch("a transaction was committed without having been run") }
    if store.lastCommit < begun {
      if disk.firedFaultCount > 0, durability ?? store.options.durability != .full { return .takenBack }
      // A transaction that changes nothing gets no number.
      guard ledger.model.newestChangesNothing else { throw OracleMismatch("a transaction was not committed") }
      ledger.change { $0.abort() }
    } else {
      ledger.change { $0.acknowledge(begun) }
    }
    return .committed
  }

  /// Called with the writer's turn; returns the commit's number.
  private func makeChanges(in transaction: inout WriteTransaction) throws -> UInt64 {
    let model = ledger.model
    let expected = model.newest + 1
    guard transaction.commit == expected else {
      throw OracleMismatch("a transaction got the number \(transaction.commit) instead of \(expected)")
    }
    var state = model.state
    try transaction.apply(operations, and: &state)
    ledger.change { $0.begin(state, durability: durability ?? store.options.durability) }
    return expected
  }
}

extension WriteTransaction {
  /// Makes the changes here and in the oracle's state.
  mutating func apply(_ operations: [StoreOperation], and state: inout StoreState) throws {
    for operation in operations {
      let removed = state.apply(operation)
      if let told = try apply(operation), told != removed {
        throw OracleMismatch("\(told) entries removed instead of \(removed)")
      }
    }
  }
}
