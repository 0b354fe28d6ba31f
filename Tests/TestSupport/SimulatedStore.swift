@_spi(Testing) import PageStore

/// A store on a simulated disk, and the machine around it, with the history of its commits. The store is opened,
/// checkpointed, compacted and closed; the process is killed, and the power fails.
///
/// Subclasses define the changes of a commit. Each function drives the store and the history, and throws
/// ``OracleMismatch`` if the store does something wrong.
@_spi(Testing)
open class SimulatedStore<State: Sendable> {
  public private(set) var disk: SimulatedDisk
  public private(set) var store: Store?
  public let ledger: ModelLedger<State>
  public var options: StoreOptions
  public let seed: UInt64
  /// Whether the disk supports neither durable writes nor a replacement for them.
  public var lacksDurableWrites = false
  /// The commit that the next opening must show at least, because only the process died.
  private var written: UInt64 = 0
  private let deferred = DeferredWork()
  private let beside = BesideWork()

  public init(disk: SimulatedDisk, history: CommitHistory<State>, options: StoreOptions, seed: UInt64) {
    self.disk = disk
    self.options = options
    self.seed = seed
    ledger = ModelLedger(history)
  }

  /// The store.
  ///
  /// - Throws: ``OracleMismatch`` when it isn't open.
  public final func openStore() throws -> Store {
    guard let store else { throw OracleMismatch("the store is not open") }
    return store
  }

  /// Opens the store, and from then on requires the commit that it shows: a commit that was seen must stay.
  open func open() throws {
    if lacksDurableWrites { disk.refuseDurableWrites() }
    let store = try Store.open(
      file: disk,
      path: "simulated",
      options: options,
      environment: .simulated(seed: mixed(seed, 2), deferring: deferred, beside: beside)
    )
    self.store = store
    try ledger.change { try $0.reopen(at: store.lastCommit, as: store.uuid, atLeast: written) }
    written = 0
  }

  /// Releases everything that works with the store, which is closed or whose process dies.
  open func leave() {}

  /// Makes everything durable by a checkpoint.
  public final func checkpoint() throws {
    try store?.checkpoint()
    ledger.change { $0.requireEverything() }
  }

  /// Runs a checkpoint beside `commits`, which is called on another thread several times until the checkpoint is done.
  /// It isn't called while the log is so long that a commit would wait for the checkpoint.
  public final func checkpointConcurrently(_ commits: @escaping () throws -> Void) throws {
    let store = try openStore()
    let newest = ledger.model.newest
    let limit = UInt64(2 * options.checkpointLogBytes)
    try beside.perform {
      if try store.statistics.logBytes < limit { try commits() }
    } during: {
      try store.checkpointConcurrently()
    }
    ledger.change { $0.requireAtLeast(newest) }
  }

  /// Makes the file short, with `commits` called between its parts.
  public final func compact(_ commits: () throws -> Void = {}) throws {
    let store = try openStore()
    let newest = ledger.model.newest
    try store.compact { _ in
      try commits()
      return true
    }
    ledger.change { $0.requireAtLeast(newest) }
  }

  /// Lets the store do the work that it has deferred: the sync of relaxed commits, the watermark of an idle store.
  public final func idle() {
    let hadWork = deferred.run()
    // A relaxed commit is durable a little later, which is now.
    if hadWork, disk.firedFaultCount == 0, options.durability != .none {
      ledger.change { $0.requireEverything() }
    }
  }

  /// Closes the store.
  public final func close() throws {
    leave()
    // A close that fails closes all the same.
    defer { store = nil }
    try store?.close()
    ledger.change { $0.requireEverything() }
  }

  /// Lets the process die while the machine lives on: the page cache stays, the store in memory is lost. Acknowledged
  /// commits have been written, whatever their durability.
  public final func die() {
    if disk.firedFaultCount == 0 { written = ledger.model.newestAcknowledged }
    let next = disk.afterProcessDeath()
    disk.cut()
    leave()
    deferred.forget()
    store = nil
    disk = next
  }

  /// The power fails.
  public final func loseThePower(_ damage: Damage, seed: UInt64) {
    let image = disk.crashPoint.image(damage, seed: seed)
    written = 0
    disk.cut()
    leave()
    deferred.forget()
    store = nil
    disk = SimulatedDisk(image)
  }
}
