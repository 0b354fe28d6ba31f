@_spi(Testing) import GraphContext
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport

/// The commits of a store with the graph after each: the first commit adds the models to the store.
typealias GraphHistory = CommitHistory<GraphState>

/// A graph in a store on a simulated disk, whose objects are compared with plain values.
final class GraphUnderTest: SimulatedStore<GraphState>, CrashSubject {
  /// The context that saves: one of two that stay, or one made for the save.
  enum Saver: Sendable, CaseIterable { case first, second, passing }

  static var layer: Layer { .graph }

  private var container: PersistentContainer?
  private var contexts: [Saver: BackgroundContext] = [:]
  private var workload: GraphWorkload

  convenience init(options: StoreOptions, seed: UInt64) {
    self.init(disk: SimulatedDisk(), history: GraphHistory(GraphState()), options: options, seed: seed)
  }

  override init(disk: SimulatedDisk, history: GraphHistory, options: StoreOptions, seed: UInt64) {
    workload = GraphWorkload(seed: mixed(seed, 1))
    super.init(disk: disk, history: history, options: options, seed: seed)
  }

  override func open() throws {
    try super.open()
    let store = try openStore()
    let takesUpModels = store.lastCommit == 0
    if takesUpModels { ledger.change { $0.begin(GraphState(), durability: options.durability) } }
    let container = try PersistentContainer(
      "Graph",
      models: GraphModels.all,
      entities: LibraryEntities.all,
      on: store
    )
    if takesUpModels { ledger.change { $0.acknowledge(1) } }
    self.container = container
    contexts = [
      .first: try container.newBackgroundContext(name: "first"),
      .second: try container.newBackgroundContext(name: "second"),
    ]
    // A store that is only read leases nothing.
    if options.isReadOnly { return }
    try keepHistory(container)
    try leaseNumbers()
  }

  /// Makes the commit that begins the history, if the store has none yet. It changes no object.
  private func keepHistory(_ container: PersistentContainer) throws {
    guard try container.historyPolicy == nil else { return }
    let durability = options.durability
    ledger.change { $0.begin($0.state, durability: durability) }
    try waiting { try await container.keepHistory(durability: durability) }
    ledger.change { $0.acknowledge($0.newest) }
  }

  /// Makes the commit that the first insertion after opening makes: it leases more numbers than the saves of a run use, and
  /// changes no object.
  private func leaseNumbers() throws {
    ledger.change { $0.begin($0.state, durability: options.durability == .none ? .none : .full) }
    let begun = ledger.model.newest
    try perform(by: .passing) { context in
      context.insert(Publisher(code: 0, name: ""))
      try context.refresh()
      context.rollback()
    }
    let shown = try openStore().lastCommit
    guard shown == begun else { throw OracleMismatch("a lease has the number \(shown) instead of \(begun)") }
    ledger.change { $0.acknowledge(begun) }
  }

  override func leave() {
    contexts = [:]
    container = nil
  }

  // MARK: Saves

  /// Makes one save. `durability` is the store's own if nil.
  func save(_ shape: GraphWorkload.Shape, durability: Durability? = nil, by saver: Saver) throws {
    try save(workload.edits(shape, on: ledger.model.state), durability: durability, by: saver)
  }

  func commitOnce() throws {
    try save(workload.oneEdit(on: ledger.model.state), durability: .full, by: .passing)
  }

  private func save(_ edits: [GraphEdit], durability: Durability?, by saver: Saver) throws {
    let store = try openStore()
    let old = ledger.model.state
    var state = old
    for edit in edits { state.apply(edit) }
    ledger.change { $0.begin(state, durability: durability ?? options.durability) }
    let begun = ledger.model.newest
    try perform(by: saver) { context in
      try GraphEditor(context: context).apply(edits)
      context.author = "\(begun)"
      try context.save(durability: durability)
    }
    if store.lastCommit < begun, state == old {
      // A save that changes nothing is no commit.
      ledger.change { $0.abort() }
    } else {
      guard store.lastCommit == begun else {
        throw OracleMismatch("a save has the number \(store.lastCommit) instead of \(begun)")
      }
      ledger.change { $0.acknowledge(begun) }
    }
  }

  /// Tries to save changes that break a rule, if the graph has objects to break it with.
  func refusedSave(by saver: Saver) throws {
    guard let refusal = workload.refusal(on: ledger.model.state) else { return }
    let before = try openStore().lastCommit
    try perform(by: saver) { context in
      try GraphEditor(context: context).apply(refusal.edits)
      do throws(ContextError) { try context.save() } catch {
        guard error.code == refusal.code else { throw error }
        return context.rollback()
      }
      throw OracleMismatch("a save that must be refused with \(refusal.code) passes")
    }
    guard try openStore().lastCommit == before else { throw OracleMismatch("a refused save is a commit") }
  }

  // MARK: Comparison

  func check(seed: UInt64) throws {
    let state = ledger.model.state
    let commit = try openStore().lastCommit
    // Before the first commit there are no models that could be fetched.
    guard commit > 0 else { return }
    do {
      try perform(by: .passing) { try GraphComparison(context: $0, state: state).run() }
    } catch let difference as GraphDifference {
      throw OracleMismatch("commit \(commit) shows \(difference)")
    }
    try checkHistory(through: commit)
    guard let problem = try container?.verify().first else { return }
    throw OracleMismatch("verify: \(problem)")
  }

  /// Checks the history: it has every commit that changed the graph, with the author of its save, and no commit that
  /// the store doesn't show.
  private func checkHistory(through last: UInt64) throws {
    guard let container, try container.historyPolicy != nil else { return }
    let authors = Mutex<Set<String?>>([])
    try waiting {
      let transactions = try await container.history()
      authors.withLock { $0 = Set(transactions.map(\.author)) }
    }
    let noted = authors.withLock { $0 }
    let commits = ledger.model.commits
    for number in commits.indices.dropFirst() where number <= last {
      guard commits[number].state != commits[number - 1].state, !noted.contains("\(number)") else { continue }
      throw OracleMismatch("commit \(number) is not in the history")
    }
    for author in noted {
      guard let number = author.flatMap({ UInt64($0) }), number <= last else {
        throw OracleMismatch("the history has the commit \(author ?? "nil"), the store shows \(last)")
      }
    }
  }

  private func perform(
    by saver: Saver,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Void
  ) throws {
    guard let container else { throw OracleMismatch("the container is not open") }
    let context = contexts[saver]
    try waiting {
      if let context {
        try await context.perform(body)
      } else {
        try await container.performBackgroundTask(body)
      }
    }
  }
}
