import Foundation
import PageStore
import Predicates

/// One step of a store from its schema to another schema.
struct SchemaTransition {
  private let store: Store
  private let snapshot: Snapshot
  private let step: UpgradeStep
  private let showsValues: Bool
  /// The change without the trees that are made from whole records: its entities have the trees of the store.
  let change: SchemaChange
  let isFoldedElsewhere: Bool

  /// The catalogue after the step.
  var target: CataloguedSchema { change.target }

  /// - Parameters:
  ///   - known: the schema before the step. If the snapshot is of an earlier schema, the schema after the steps in
  ///     between.
  ///   - isForWriting: whether the step will run; nil if it runs unless the store is open for reading only.
  init(
    _ store: Store,
    _ snapshot: Snapshot,
    from known: CataloguedSchema,
    _ step: UpgradeStep,
    isForWriting: Bool? = nil,
    showsValues: Bool
  ) throws {
    self.store = store
    self.snapshot = snapshot
    self.step = step
    self.showsValues = showsValues
    let empty = try known.emptyEntities(in: snapshot)
    isFoldedElsewhere = try known.storesFoldedStrings && !SchemaTree.isFoldedAsHere(snapshot)
    var change = SchemaChange.inferred(
      from: known,
      to: step.schema,
      rebuilding: step.rebuilding,
      isRefolding: isFoldedElsewhere && isForWriting ?? !store.options.isReadOnly
    ) { empty.contains($0.number) }
    // A schema that has changed without a version has no version.
    change.target.version = step.version ?? (change.isEmpty ? known.version : nil)
    self.change = change
  }

  func schemaForReading() throws -> ResolvedSchema {
    try checkForReading()
    let schema = try ResolvedSchema(change.target, as: step.schema)
    return isFoldedElsewhere ? try schema.withoutFoldedIndexes() : schema
  }

  /// - Throws: the error of a refused change; `schemaMismatch` if the step has to write.
  func checkForReading() throws {
    if step.custom != nil {
      throw ContextError(
        .schemaMismatch,
        "the store has to be opened for writing: a custom stage leads to version \(step.version.map(\.description) ?? "?")"
      )
    }
    try check()
    try change.checkNothingToBuild()
  }

  /// Runs the step, or continues it.
  func run(_ monitor: MigrationMonitor) throws -> ResolvedSchema {
    try check()
    var whole = wholeChange
    let interrupted = try SchemaTree.migration(in: snapshot)
    var resumed = interrupted.flatMap { [whole] in $0.canGoOn(as: whole) ? $0 : nil }
    if let resumed { whole.target = resumed.target }
    // The bytes of the store don't decide which trees are removed.
    resumed?.droppedTrees = whole.droppedTrees
    if let interrupted, resumed == nil {
      try giveUp(interrupted, monitor)
      return try startingAfresh().run(monitor)
    }
    let schema = try ResolvedSchema(whole.target, as: step.schema)
    if whole.isEmpty && !whole.old.entities.isEmpty { return schema }
    var migrator = try SchemaMigrator(
      store,
      whole,
      schema,
      resuming: resumed,
      custom: step.custom,
      showsValues: showsValues,
      monitor: monitor
    )
    try migrator.run()
    return schema
  }

  /// Returns the step after another change was given up: the numbers of that change are not given again.
  private func startingAfresh() throws -> SchemaTransition {
    let snapshot = try store.snapshot()
    let known = try SchemaTree.schema(in: snapshot) ?? CataloguedSchema()
    return try SchemaTransition(store, snapshot, from: known, step, showsValues: showsValues)
  }

  /// The change with the trees that are made from whole records.
  var wholeChange: SchemaChange {
    var whole = change
    if let custom = step.custom { whole.rebuild(passes: custom.passes) }
    whole.fillNewInverses()
    whole.fillDerived()
    return whole
  }

  private func giveUp(_ interrupted: MigrationState, _ monitor: MigrationMonitor) throws {
    let cleaner = SchemaCleaner(store, monitor)
    if interrupted.isSwitched {
      try cleaner.run(interrupted)
    } else {
      try cleaner.giveUp(interrupted, of: change.old)
    }
  }

  /// - Parameter unknown: the properties whose values aren't in the snapshot yet, and are not checked.
  /// - Throws: the error of a refused change, which lists every object that breaks a rule.
  func check(besides unknown: Set<PropertyNumber> = []) throws {
    let refusal = try refusal(besides: unknown)
    if !refusal.isEmpty { throw ContextError.refused(refusal) }
    try step.custom?.check(change.old)
  }

  /// Returns all obstacles and offenders before the step.
  func refusal(besides unknown: Set<PropertyNumber> = []) throws -> SchemaRefusal {
    // The catalogue of a change with obstacles need not be sound.
    if !change.obstacles.isEmpty { return SchemaRefusal(obstacles: change.obstacles) }
    let schema = try ResolvedSchema(change.target, as: step.schema)
    let checker = SchemaChecker(
      change,
      schema,
      snapshot,
      store: UUID(store.uuid),
      besides: unknown,
      showsValues: showsValues
    )
    var refusal = try checker.refusal()
    for pass in step.custom?.passes ?? [] {
      guard let conversion = pass.conversion else { continue }
      try checker.findUnconverted(conversion, from: change.old, to: step.schema, &refusal)
    }
    return refusal
  }
}

extension CataloguedSchema {
  /// Returns the catalogue that a store with this catalogue gets when it is migrated to a schema. Nothing is
  /// written. If there are obstacles, the returned catalogue need not be sound.
  package func successor(with schema: Schema, in store: Store) throws -> CataloguedSchema {
    let step = UpgradeStep(schema: schema, version: nil)
    return try SchemaTransition(
      store,
      store.snapshot(),
      from: self,
      step,
      isForWriting: true,
      showsValues: false
    ).target
  }
}
