@_spi(Testing) import PageStore

/// A store on a simulated disk whose trees are compared with sorted arrays.
@_spi(Testing)
public final class StoreUnderTest: SimulatedStore<StoreState> {
  /// The outcome of a commit.
  public enum Outcome: Sendable {
    case committed
    /// It failed, and nothing of it remains.
    case aborted(StoreError)
    /// It failed, and reopening shows whether it remains.
    case unknown(StoreError)
    /// It was acknowledged without being durable, and taken back because a later sync failed.
    case takenBack
  }

  private var workload: StoreWorkload

  public override init(disk: SimulatedDisk, history: StoreModel, options: StoreOptions, seed: UInt64) {
    workload = StoreWorkload(seed: mixed(seed, 1))
    super.init(disk: disk, history: history, options: options, seed: seed)
  }

  public convenience init(
    disk: SimulatedDisk = SimulatedDisk(),
    model: StoreModel = StoreModel(),
    options: StoreOptions,
    seed: UInt64
  ) {
    self.init(disk: disk, history: model, options: options, seed: seed)
  }

  /// Makes one transaction of the given shape. `durability` is the store's own if nil.
  public func commit(_ shape: StoreWorkload.Shape, durability: Durability? = nil) throws -> Outcome {
    try commit(workload.operations(shape, on: ledger.model.state), durability: durability)
  }

  /// Makes one transaction of these operations.
  public func commit(_ operations: [StoreOperation], durability: Durability? = nil) throws -> Outcome {
    try checkedCommit(operations, durability: durability).run()
  }

  /// Makes a transaction with a single small change.
  public func commitOneChange(durability: Durability? = nil) throws -> Outcome {
    try commit(workload.groupOperations(0...0), durability: durability)
  }

  private func checkedCommit(_ operations: [StoreOperation], durability: Durability?) throws -> CheckedCommit
  {
    let store = try openStore()
    return CheckedCommit(
      store: store,
      ledger: ledger,
      disk: disk,
      operations: operations,
      durability: durability
    )
  }

  /// Makes small transactions of these durabilities, each on a thread of its own. While the first one's record is about
  /// to be written, the records of the others gather, and are then written together. Returns the outcome of each
  /// transaction that was begun: the first may fail alone.
  ///
  /// - Parameter patience: how long the first one waits for each of the others. A transaction that waits for the first
  ///   one to end isn't written together with it.
  public func groupCommit(
    _ durabilities: [Durability?],
    changeCounts: ClosedRange<Int> = 0...5,
    patience: Duration = .milliseconds(20)
  ) throws -> [Outcome] {
    let commits = try durabilities.map { durability in
      try checkedCommit(workload.groupOperations(changeCounts), durability: durability)
    }
    return try CommitGroup(commits, patience: patience).run()
  }

  /// Calls `body` while a snapshot is held, which must not change.
  public func besideSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
    let store = try openStore()
    let held = try store.snapshot()
    let state = ledger.model.commits[Int(held.commit)].state
    let result = try body()
    var comparison = SnapshotComparison(seed: seed)
    if let difference = try comparison.difference(of: held, from: state) {
      throw OracleMismatch("a snapshot that was held shows \(difference)")
    }
    return result
  }

  /// Makes changes in a transaction and throws out of it.
  public func abort() throws {
    let store = try openStore()
    struct Deliberate: Error {}
    var state = ledger.model.state
    let operations = workload.operations(.small, on: state)
    do {
      try store.write { transaction in
        try transaction.apply(operations, and: &state)
        throw Deliberate()
      }
    } catch is Deliberate {}
  }

  /// Compares the store's contents with its model, and verifies the store. Throws an error if anything is wrong.
  public func check(seed: UInt64) throws {
    try compare(seed: seed)
    let problems = try store?.verify() ?? []
    if let problem = problems.first { throw OracleMismatch("verify: \(problem), \(problems.count) in all") }
  }

  /// Compares the store's contents with its model. Throws an error if anything is wrong.
  public func compare(seed: UInt64) throws {
    let store = try openStore()
    var comparison = SnapshotComparison(seed: seed)
    let state = ledger.model.state
    if let difference = try store.read({ try comparison.difference(of: $0, from: state) }) {
      throw OracleMismatch("commit \(store.lastCommit) shows \(difference)")
    }
  }
}
