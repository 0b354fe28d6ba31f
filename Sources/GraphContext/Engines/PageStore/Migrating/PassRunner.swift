import PageStore
import Predicates

/// Runs the passes of a custom stage, batch by batch. Each batch that changes something is one commit, which notes
/// the progress of the stage. A batch that changes nothing commits nothing, and runs again if the change is
/// interrupted before the next commit.
struct PassRunner {
  private let passes: [MigrationPass]
  private let old: OpenedStore
  private let new: OpenedStore
  private let saves: StageSaves
  private let entityNames: [String: String]
  private let successors: SuccessorNumbers

  init(_ stage: CustomStage, _ change: SchemaChange, on store: Store, _ monitor: MigrationMonitor) throws {
    passes = stage.passes
    let (known, after) = try (ResolvedSchema(change.old), ResolvedSchema(change.loosenedTarget))
    let before = try change.isRefolding ? known.withoutFoldedIndexes() : known
    // A new entity has no data that could be lost.
    let untouched = after.entities.filter {
      !change.rebuilt.contains($0.name) && change.old.entity($0.number) != nil
    }
    saves = StageSaves(
      after,
      untouched: Set(untouched.map(\.ordinal)),
      liveTrees: Set(change.old.entities.flatMap(\.trees)),
      monitor
    )
    let leased = try SchemaTree.leasedNumbers(in: try store.snapshot(), before)
    old = try Self.graph(of: before, on: store, leased, companion: ReadOnlyGraph())
    let view = try old.engine.newestView()
    successors = SuccessorNumbers(
      Dictionary(
        uniqueKeysWithValues: try before.entities.map { ($0.number, try view.greatestSequence(of: $0)) }
      ),
      ending: change.old.entities.filter { change.target.entity($0.number) == nil },
      madeAnew: stage.madeAnew
    )
    // Only successors get the numbers of successors.
    let following = try SchemaTree.leasedNumbers(in: try store.snapshot(), after)
      .map { [successors] in max($0, successors.greatest + 1) }
    new = try Self.graph(of: after, on: store, following, companion: saves)
    let earlier = change.old.entities.dictionary(by: \.number)
    entityNames = Dictionary(
      uniqueKeysWithValues: change.target.entities.compactMap { entity in
        earlier[entity.number].map { ($0.name, entity.name) }
      }
    )
  }

  /// Runs a pass on its next batch.
  ///
  /// - Throws: `stageFailed` for an error of the pass or of the save of its changes; `store` when the store can't
  ///   be read or written.
  func run(_ place: Int, of entity: EntityNumber?, _ state: inout MigrationState) throws {
    let view = try old.engine.newestView()
    let before = ManagedObjectContext(old.coordinator, showing: view)
    let after = try ManagedObjectContext(coordinator: new.coordinator)
    defer { for context in [before, after] { context.endForGood() } }
    let pass = passes[place]
    var objects: [ManagedRecord] = []
    var position: [UInt8]?
    if let entity, case .objects(_, let count) = pass.subject {
      (objects, position) = try before.records(of: entity, in: view, after: state.position, count)
    }
    state.advance(to: position, rowCount: entity == nil ? 1 : objects.count)
    if entity != nil, objects.isEmpty { return }
    let batch = MigrationBatch(
      old: before,
      new: after,
      objects: objects,
      entityNames: entityNames,
      successors: successors
    )
    do {
      try pass.body(batch)
      try before.checkUsable()
      try saves.withProgress(state) { () throws(ContextError) in try after.save() }
    } catch {
      throw failure(of: place, objects, error)
    }
  }

  private func failure(of place: Int, _ objects: [ManagedRecord], _ error: any Error) -> any Error {
    if let error = error as? ContextError, error.code == .store { return error }
    if error is StoreError { return error }
    var which = ""
    if let first = objects.first, let last = objects.last {
      let numbers = "\(first._$state.number) to \(last._$state.number)"
      which = " at the objects \(numbers) of \(first.entity.name)"
    }
    return ContextError(
      .stageFailed,
      "the pass \(place + 1) failed\(which): \(error)",
      context: (error as? ContextError)?.context ?? ContextError.Context(),
      underlyingError: error
    )
  }
}

extension PassRunner {
  /// Makes a graph for a stage. Its objects are records.
  private static func graph(
    of schema: ResolvedSchema,
    on store: Store,
    _ leased: [UInt64],
    companion: any SaveCompanion
  ) throws -> OpenedStore {
    let engine = PageStoreEngine(
      store: store.uncounted(),
      schema: schema,
      numbers: ObjectNumbers(leased: leased),
      companion: companion
    )
    return OpenedStore(engine, types: schema.entities.map { _ in ManagedRecord.self })
  }
}

extension StoreView {
  /// Returns the greatest sequence of the objects of an entity; 0 if there are none. O(classes · log *n*).
  fileprivate func greatestSequence(of entity: StoredEntity) throws -> UInt64 {
    guard let tree = try records(of: entity) else { return 0 }
    let tags = entity.classes.isEmpty ? [0] : entity.classes.map(\.tag)
    return try tags.reduce(0) { greatest, tag in
      let last = ObjectNumber(sequence: ObjectNumber.greatestSequence, classTag: tag) ?? .none
      let first = ObjectNumber(sequence: 1, classTag: tag) ?? .none
      var cursor = tree.cursor(
        in: KeyRange(
          lower: .including(KeyCoder.key(of: first)),
          upper: .including(KeyCoder.key(of: last))
        )
      )
      guard try cursor.previous() else { return greatest }
      return max(greatest, KeyCoder.number(ending: try cursor.key())?.sequence ?? 0)
    }
  }
}

extension ManagedObjectContext {
  /// Ends the context of a pass that has returned. Later uses of the context throw an error.
  fileprivate func endForGood() {
    end()
    deferred.note(ContextError(.closed, "the pass that the context was made for has returned"))
  }

  /// Returns at most a given number of an entity's records that follow a key, and the key of the last one, or nil
  /// if no more follow.
  fileprivate func records(
    of number: EntityNumber,
    in view: StoreView,
    after position: [UInt8]?,
    _ count: Int
  ) throws -> (records: [ManagedRecord], position: [UInt8]?) {
    guard let entity = coordinator.schema.entity(number), let tree = try view.records(of: entity) else {
      return ([], nil)
    }
    let reader = RecordReader(entity)
    var records: [ManagedRecord] = []
    var cursor = tree.cursor(in: position.map { KeyRange(lower: .excluding($0)) } ?? .all)
    while try cursor.next() {
      let key = try cursor.key()
      let number = KeyCoder.number(ending: key) ?? .none
      guard let record = reader.newest(try cursor.value()) else {
        throw ContextError.damagedRecord(number, of: entity.name)
      }
      let kept = view.keep(record, of: entity)
      guard !kept.isEmpty else { throw ContextError.damagedRecord(number, of: entity.name) }
      records.append(object(ManagedRecord.self, number: number, record: kept, entity.ordinal))
      if records.count == count { return (records, [UInt8](key)) }
    }
    return (records, nil)
  }
}
