@_spi(Testing) import PageStore

/// A store on a simulated disk, and the machine around it: opened, checkpointed, compacted, closed, the process killed, the power
/// lost, beside the history of what it has been told and has promised.
///
/// Subclasses say what a commit changes. Each function drives both, and throws ``OracleMismatch`` where the store does what it must
/// not.
@_spi(Testing)
open class SimulatedStore<State: Sendable> {
  public private(set) var disk: SimulatedDisk
  public private(set) var store: Store?
  public let ledger: ModelLedger<State>
  public var options: StoreOptions
  public let seed: UInt64
  /// Whether the disk knows no durable writes, nor any that takes its place.
  public var lacksDurableWrites = false
  /// What the next opening must show at the least, because only the process died.
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

  /// Opens the store, and requires from then on what it shows: what was seen must stay.
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

  /// Lets go of what works with the store, which is closed or whose process dies.
  open func leave() {}

  /// Makes everything durable by a checkpoint.
  public final func checkpoint() throws {
    try store?.checkpoint()
    ledger.change { $0.requireEverything() }
  }

  /// Lets a checkpoint run beside `commits`, which is called several times until the checkpoint is done, on another thread; not
  /// while the log is so long that a commit would wait for the checkpoint.
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

  /// Lets the store do what it has put off: the sync of relaxed commits, the watermark of an idle store.
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

  /// The process dies and the machine lives on: the page cache stays, the store is gone. What was acknowledged has
  /// been written, whatever its durability.
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
