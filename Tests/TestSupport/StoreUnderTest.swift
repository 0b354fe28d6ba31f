@_spi(Testing) import PageStore
import Synchronization

/// A store on a simulated disk, beside the model of what it has been told and has promised.
///
/// Each function drives both, and throws ``OracleMismatch`` where the store does what it must not.
@_spi(Testing)
public final class StoreUnderTest {
  /// What became of a commit.
  public enum Outcome: Sendable {
    case committed
    /// It failed, and nothing of it remains.
    case aborted(StoreError)
    /// It failed, and reopening shows whether it remains.
    case unknown(StoreError)
    /// It was acknowledged without being durable, and taken back because a later sync failed.
    case takenBack
  }

  public private(set) var disk: SimulatedDisk
  public private(set) var store: Store?
  public let ledger: ModelLedger
  public var options: StoreOptions
  private var workload: StoreWorkload
  /// What the next opening must show at the least, because only the process died.
  private var written: UInt64 = 0
  private let seed: UInt64
  private let deferred = DeferredWork()
  private let beside = BesideWork()
  /// Whether the disk knows no durable writes, nor any that takes its place.
  public var lacksDurableWrites = false

  public init(
    disk: SimulatedDisk = SimulatedDisk(),
    model: StoreModel = StoreModel(),
    options: StoreOptions,
    seed: UInt64
  ) {
    self.disk = disk
    self.options = options
    self.seed = seed
    ledger = ModelLedger(model)
    workload = StoreWorkload(seed: mixed(seed, 1))
  }

  /// Opens the store, and requires from then on what it shows: what was seen must stay.
  public func open() throws {
    if lacksDurableWrites { disk.refuseDurableWrites() }
    let store = try Store.open(
      file: disk,
      path: "simulated",
      options: options,
      environment: .simulated(seed: mixed(seed, 2), deferring: deferred, beside: beside)
    )
    self.store = store
    let model = ledger.model
    let number = store.lastCommit
    let required = max(model.required, written)
    guard number >= required else { throw LostCommits(shown: number, required: required) }
    written = 0
    guard model.uuid == nil || model.uuid == store.uuid else { throw OracleMismatch("it is another store") }
    guard number <= model.newest else {
      throw OracleMismatch("opened at commit \(number), the newest is \(model.newest)")
    }
    ledger.change {
      $0 = $0.recovered(at: number)
      $0.uuid = store.uuid
    }
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
    guard let store else { throw OracleMismatch("the store is not open") }
    return CheckedCommit(
      store: store,
      ledger: ledger,
      disk: disk,
      operations: operations,
      durability: durability
    )
  }

  /// Makes small transactions of these durabilities, each on a thread of its own: while the first one's record is about to be
  /// written the records of the others gather, and are then written together. What became of each, as far as they were
  /// begun: the first may fail alone.
  public func groupCommit(
    _ durabilities: [Durability?],
    changeCounts: ClosedRange<Int> = 0...5
  ) throws -> [Outcome] {
    let commits = try durabilities.map { durability in
      try checkedCommit(workload.groupOperations(changeCounts), durability: durability)
    }
    return try CommitGroup(commits).run()
  }

  /// Does `body` while a snapshot is held, which has to stay as it was.
  public func besideSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
    guard let store else { throw OracleMismatch("the store is not open") }
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
    guard let store else { throw OracleMismatch("the store is not open") }
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

  /// Makes everything durable by a checkpoint.
  public func checkpoint() throws {
    try store?.checkpoint()
    ledger.change { $0.requireEverything() }
  }

  /// Lets a checkpoint run beside `commits`, which is called several times until the checkpoint is done, on another thread; not
  /// while the log is so long that a commit would wait for the checkpoint.
  public func checkpointBeside(_ commits: @escaping () throws -> Void) throws {
    guard let store else { throw OracleMismatch("the store is not open") }
    let newest = ledger.model.newest
    let limit = UInt64(2 * options.checkpointLogBytes)
    try beside.perform {
      if try store.statistics.logBytes < limit { try commits() }
    } during: {
      try store.checkpointBeside()
    }
    ledger.change { $0.requireAtLeast(newest) }
  }

  /// Makes the file short, with `commits` called between its parts.
  public func compact(_ commits: () throws -> Void = {}) throws {
    guard let store else { throw OracleMismatch("the store is not open") }
    let newest = ledger.model.newest
    try store.compact { _ in
      try commits()
      return true
    }
    ledger.change { $0.requireAtLeast(newest) }
  }

  /// Lets the store do what it has put off: the sync of relaxed commits, the watermark of an idle store.
  public func idle() {
    let hadWork = deferred.run()
    // A relaxed commit is durable a little later, which is now.
    if hadWork, disk.firedFaultCount == 0, options.durability != .none {
      ledger.change { $0.requireEverything() }
    }
  }

  /// Closes the store.
  public func close() throws {
    // A close that fails closes all the same.
    defer { store = nil }
    try store?.close()
    ledger.change { $0.requireEverything() }
  }

  /// The process dies and the machine lives on: the page cache stays, the store is gone. What was acknowledged has
  /// been written, whatever its durability.
  public func die() {
    if disk.firedFaultCount == 0 { written = ledger.model.newestAcknowledged }
    let next = disk.afterProcessDeath()
    disk.cut()
    deferred.forget()
    store = nil
    disk = next
  }

  /// The power fails.
  public func loseThePower(_ damage: Damage, seed: UInt64) {
    let image = disk.crashPoint.image(damage, seed: seed)
    written = 0
    disk.cut()
    deferred.forget()
    store = nil
    disk = SimulatedDisk(image)
  }

  /// Compares what the store shows with its model, and verifies it; throws what is wrong.
  public func check(seed: UInt64) throws {
    try compare(seed: seed)
    let problems = try store?.verify() ?? []
    if let problem = problems.first { throw OracleMismatch("verify: \(problem), \(problems.count) in all") }
  }

  /// Compares what the store shows with its model; throws what is wrong.
  public func compare(seed: UInt64) throws {
    guard let store else { throw OracleMismatch("the store is not open") }
    var comparison = SnapshotComparison(seed: seed)
    let state = ledger.model.state
    if let difference = try store.read({ try comparison.difference(of: $0, from: state) }) {
      throw OracleMismatch("commit \(store.lastCommit) shows \(difference)")
    }
  }
}

/// A store opened at an earlier commit than one it has acknowledged.
public struct LostCommits: Error, CustomStringConvertible {
  public var shown: UInt64
  public var required: UInt64

  public var description: String { "opened at commit \(shown), though \(required) had been acknowledged" }
}
