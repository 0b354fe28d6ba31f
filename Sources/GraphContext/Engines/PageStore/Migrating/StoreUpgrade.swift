import PageStore
import Predicates

/// The way of a store to the schema that it is opened with: one step, or several with a plan.
struct StoreUpgrade {
  private let store: Store
  private let snapshot: Snapshot
  private let known: CataloguedSchema
  /// At least one.
  private let steps: [UpgradeStep]
  private let showsValues: Bool

  /// - Throws: `schemaMismatch` when the models make no schema, or the plan doesn't lead from the store to its newest
  ///   version.
  init(_ store: Store, _ models: ContainerModels, showsValues: Bool) throws {
    self.store = store
    self.showsValues = showsValues
    snapshot = try store.snapshot()
    known = try SchemaTree.schema(in: snapshot) ?? CataloguedSchema()
    steps = try models.steps(from: known)
  }

  /// Returns the schema for reading the store as it is. Nothing is written.
  ///
  /// - Throws: the error of a refused change; `schemaMismatch` also if something has to be built, or if a custom
  ///   stage has to run.
  func schemaForReading() throws -> ResolvedSchema {
    var known = known
    for step in steps.dropLast() {
      let transition = try transition(step, from: known, snapshot)
      try transition.checkForReading()
      known = transition.target
    }
    return try transition(steps[steps.count - 1], from: known, snapshot).schemaForReading()
  }

  /// Migrates the store to the schema.
  ///
  /// - Throws: the error of a refused change; before the first step runs, as far as the refusal can be known then.
  ///   After an error of a step the store has the schema of the step before.
  func run(_ monitor: MigrationMonitor) throws -> ResolvedSchema {
    if steps.count > 1 { try checkAhead() }
    var known = known
    for place in steps.indices.dropLast() {
      known = try take(place, from: known, monitor).catalogue
    }
    return try take(steps.count - 1, from: known, monitor)
  }

  private func take(
    _ place: Int,
    from known: CataloguedSchema,
    _ monitor: MigrationMonitor
  ) throws -> ResolvedSchema {
    monitor.begin(stage: place + 1, of: steps.count, to: steps[place].version)
    return try transition(steps[place], from: known, store.snapshot()).run(monitor)
  }

  private func transition(
    _ step: UpgradeStep,
    from known: CataloguedSchema,
    _ snapshot: Snapshot
  ) throws -> SchemaTransition {
    try SchemaTransition(store, snapshot, from: known, step, showsValues: showsValues)
  }

  /// Checks the steps up to the first custom one: the passes' changes of the objects aren't known before they run,
  /// nor are the values that a step fills.
  private func checkAhead() throws {
    var known = known
    var filled: Set<PropertyNumber> = []
    for step in steps {
      let transition = try transition(step, from: known, snapshot)
      try transition.check(besides: filled)
      if step.custom != nil { return }
      known = transition.target
      filled.formUnion(transition.change.filledProperties)
    }
  }
}
