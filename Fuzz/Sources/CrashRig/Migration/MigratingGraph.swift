@_spi(Testing) import GraphContext
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport

/// The expected state of a store whose schema changes.
struct MigratingState: Sendable {
  var trial: SchemaTrial
  /// The objects under the store's current schema.
  var content = GraphContent()
  var hasNewSchema = false
  /// The rows that the change under way has done; nil if no change is under way.
  var completedRowCount: Int?
  /// The rows done after each commit of the change, up to the switch.
  var reports: [Int] = []

  var schema: Schema { trial.schema(isNew: hasNewSchema) }

  /// The reports that the change under way may still make.
  var remainingReports: [[Int]] { reports.rests(after: completedRowCount ?? 0) }
}

/// A graph in a store on a simulated disk, whose schema changes in many small commits.
///
/// A run on a copy of the disk shows how many commits a change takes, and which of them switches. The history then has
/// each of these commits. So a crash has to show the old schema or the new one according to the commit that it leaves.
final class MigratingGraph: SimulatedStore<MigratingState>, CrashSubject {
  /// The schema with which the container is opened.
  enum Goal {
    case oldSchema, newSchema
    /// Sometimes the old schema, which gives up the change.
    case either
  }

  static var layer: Layer { .graph }

  var goal = Goal.either
  private var container: PersistentContainer?
  private var openingCount: UInt64 = 0

  convenience init(_ trial: SchemaTrial, options: StoreOptions, seed: UInt64) {
    let history = CommitHistory(MigratingState(trial: trial))
    self.init(disk: SimulatedDisk(), history: history, options: options, seed: seed)
    goal = .oldSchema
  }

  override init(
    disk: SimulatedDisk,
    history: CommitHistory<MigratingState>,
    options: StoreOptions,
    seed: UInt64
  ) {
    super.init(disk: disk, history: history, options: options, seed: seed)
  }

  override func leave() { container = nil }

  // MARK: Opening

  override func open() throws {
    try super.open()
    openingCount += 1
    let store = try openStore()
    let state = ledger.model.state
    let found = store.lastCommit > 0 ? try SchemaChangeState(store) : nil
    if let found { try compare(found, with: state) }
    if options.isReadOnly {
      container = try state.trial.container(isNew: state.hasNewSchema, on: store)
    } else {
      let isNew = state.hasNewSchema || wantsNewSchema
      try carryOut(isNew: isNew, on: store, isCleaningUp: found?.isCleaningUp ?? false)
    }
  }

  private var wantsNewSchema: Bool {
    switch goal {
    case .oldSchema: false
    case .newSchema: true
    case .either: mixed(seed, 20 + openingCount) % 3 > 0
    }
  }

  /// Compares the contents of the store before a container is opened: a crash leaves the old schema or the new one,
  /// whole.
  private func compare(_ found: SchemaChangeState, with state: MigratingState) throws {
    guard found.schema == state.schema else {
      throw OracleMismatch("the store has not the \(state.hasNewSchema ? "new" : "old") schema")
    }
    guard found.completedRowCount == state.completedRowCount else {
      let (shown, expected) = (found.completedRowCount ?? -1, state.completedRowCount ?? -1)
      throw OracleMismatch("the change has done \(shown) rows instead of \(expected)")
    }
    if let problem = found.problems.first { throw OracleMismatch("verify, before the change: \(problem)") }
  }

  /// Opens the container, which changes the schema, continues an interrupted change, gives it up, or removes its
  /// remains.
  private func carryOut(isNew: Bool, on store: Store, isCleaningUp: Bool) throws {
    let before = ledger.model.state
    let commit = store.lastCommit
    // The remains of an earlier change are removed first.
    let cleaned =
      isCleaningUp
      ? try MigrationCourse(before.trial, isNew: before.hasNewSchema, copyOfStore()).end : commit
    let course = try MigrationCourse(before.trial, isNew: isNew, copyOfStore())
    // A continued change repeats exactly the rows that no commit has done.
    if isNew, before.completedRowCount != nil, !before.remainingReports.contains(course.rows) {
      let (done, reports) = (before.completedRowCount ?? -1, before.reports)
      throw OracleMismatch("rows \(course.rows) after an interruption behind \(done) of \(reports)")
    }
    for state in course.states(isNew: isNew, after: before, from: commit, cleaned: cleaned) {
      ledger.change { $0.begin(state, durability: options.durability) }
    }
    let reports = Mutex<[Int]>([])
    let ledger = ledger
    container = try before.trial.container(isNew: isNew, on: store) { rows in
      reports.withLock { $0.append(rows) }
      ledger.change { $0.acknowledge(store.lastCommit) }
    }
    guard store.lastCommit == ledger.model.newest, reports.withLock(\.self) == course.rows else {
      throw OracleMismatch("a change takes another course on a copy of the disk")
    }
    ledger.change { $0.acknowledge(store.lastCommit) }
  }

  private func copyOfStore() throws -> Store {
    try Store.open(
      file: disk.afterProcessDeath(),
      path: "copy",
      options: options,
      environment: .simulated(seed: mixed(seed, 2))
    )
  }

  // MARK: Saves

  /// Makes the first objects.
  func fill(_ filling: SongFilling) throws {
    try perform { try filling.save(in: $0) }
    var state = ledger.model.state
    state.content = filling.content
    try noteCommits(leadingTo: state, durability: options.durability)
  }

  func commitOnce() throws { try edit() }

  /// Adds an object and changes another one.
  ///
  /// - Parameter next: the change that the store's schema is to get afterwards; nil to leave the one that it has.
  func edit(before next: SchemaTrial? = nil) throws {
    var state = ledger.model.state
    let text = "label \(mixed(seed, openingCount) % 1_000)"
    let code = (state.content.rows["Label", default: [:]].keys.max() ?? -1) + 1
    try perform { context in
      let label = try context.insert(entity: "Label")
      try label.set(GraphContent.code, to: .int(Int64(code)))
      try label.set("name", to: .string(text))
      for label in try context.fetch(DynamicQuery("Label")) where try GraphContent.code(of: label) == 0 {
        try label.set("name", to: .string(text))
      }
      try context.save(durability: .full)
    }
    var row: GraphContent.Row = [GraphContent.code: .value(.int(Int64(code))), "name": .value(.string(text))]
    if state.schema.entity(named: "Label")?.property(named: "songs") != nil { row["songs"] = .codes([]) }
    state.content.rows["Label", default: [:]][code] = row
    state.content.rows["Label"]?[0]?["name"] = .value(.string(text))
    if let next { state = MigratingState(trial: next, content: state.content) }
    try noteCommits(leadingTo: state, durability: .full)
  }

  /// Records the commits since the last call: of several commits the last one is the save, and the others are leases.
  private func noteCommits(leadingTo state: MigratingState, durability: Durability) throws {
    let newest = try openStore().lastCommit
    ledger.change { history in
      while history.newest + 1 < newest {
        history.begin(history.state, durability: options.durability == .none ? .none : .full)
        history.acknowledge(history.newest)
      }
      history.begin(state, durability: durability)
      history.acknowledge(newest)
    }
  }

  // MARK: Comparison

  func check(seed: UInt64) throws {
    let state = ledger.model.state
    let commit = try openStore().lastCommit
    guard commit > 0 else { return }
    do {
      try perform { try GraphContent(of: state.schema, in: $0).compare(with: state.content) }
    } catch let difference as GraphDifference {
      throw OracleMismatch("commit \(commit) shows \(difference)")
    }
    guard let problem = try container?.verify().first else { return }
    throw OracleMismatch("verify: \(problem)")
  }

  private func perform(_ body: @Sendable @escaping (ManagedObjectContext) throws -> Void) throws {
    guard let container else { throw OracleMismatch("the container is not open") }
    try waiting { try await container.performBackgroundTask(body) }
  }
}

extension [Int] {
  /// Returns the reports of the commits after `done` rows, out of the rows done after each commit of a change.
  ///
  /// A commit may do no rows: the last one, or one that finds the end of a tree before a pass begins. Several commits
  /// then have the same count, and the count alone doesn't tell which of them was the last. So the result has the rest
  /// after each of them, the longest first.
  func rests(after done: Int) -> [[Int]] {
    let rests = indices.filter { self[$0] == done }.map { Array(self[($0 + 1)...]) }
    return rests.isEmpty ? [filter { $0 > done }] : rests
  }
}

/// The effect of opening a container on a copy of a store.
private struct MigrationCourse {
  /// The newest commit afterwards.
  let end: UInt64
  /// The reports, each with the commit after which it was made.
  private let reports: [(commit: UInt64, rows: Int)]

  /// The rows done after each commit of the change, up to the switch.
  var rows: [Int] { reports.map(\.rows) }

  init(_ trial: SchemaTrial, isNew: Bool, _ copy: Store) throws {
    let reports = Mutex<[(commit: UInt64, rows: Int)]>([])
    _ = try trial.container(isNew: isNew, on: copy) { rows in
      reports.withLock { $0.append((copy.lastCommit, rows)) }
    }
    end = copy.lastCommit
    self.reports = reports.withLock(\.self)
  }

  /// Returns the states of the store after each commit from `commit` on.
  ///
  /// - Parameter cleaned: the commit after which no remains of an earlier change are left.
  func states(
    isNew: Bool,
    after before: MigratingState,
    from commit: UInt64,
    cleaned: UInt64
  ) -> [MigratingState] {
    guard end > commit else { return [] }
    // A change without rows reports nothing. A stage with passes then records in a commit of its own that it is under
    // way. A store without a commit has no schema to be changed: it gets the new one at once.
    let isChanged = commit > 0 && before.completedRowCount == nil
    let isNotedFirst = reports.isEmpty && before.trial.isStaged && isChanged
    let switching =
      before.hasNewSchema || !isNew ? nil : reports.last?.commit ?? cleaned + (isNotedFirst ? 2 : 1)
    // A batch commits nothing if it changes nothing, or if it has no rows because the one before was the last. Then
    // there is a second report after the same commit.
    let rows = Dictionary(reports.map { ($0.commit, $0.rows) }, uniquingKeysWith: { first, _ in first })
    var completedRowCount = before.completedRowCount
    return (commit + 1...end).map { number in
      if let switching, number >= switching {
        let content = before.trial.altered(before.content)
        return MigratingState(trial: before.trial, content: content, hasNewSchema: true)
      }
      var state = before
      // A commit that leases numbers for a pass does no rows.
      completedRowCount = isNew ? rows[number] ?? completedRowCount : nil
      if isNew, isNotedFirst, number > cleaned { completedRowCount = 0 }
      state.completedRowCount = completedRowCount
      if before.completedRowCount == nil { state.reports = self.rows }
      return state
    }
  }
}
