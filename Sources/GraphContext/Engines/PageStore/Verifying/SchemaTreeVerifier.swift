import PageStore
import Predicates

/// Verifies the catalogue and the trees of a store of objects: the schema, the leases of numbers, and that there is
/// nothing that belongs to neither. Docs/Records.md, "The tree `schema`".
struct SchemaTreeVerifier {
  private let snapshot: Snapshot
  private(set) var problems: [IntegrityProblem] = []
  /// The schema in the store; nil if there is none, or none that can be read.
  private(set) var schema: CataloguedSchema?
  /// The ends of the blocks of numbers that were leased, by entity; nil if they can't be read. An end that makes no
  /// sense is replaced by the greatest number.
  private(set) var leases: [EntityNumber: UInt64]?

  /// - Parameter used: the schema that the store is used with; nil if it isn't used.
  init(_ snapshot: Snapshot, used: CataloguedSchema?) {
    self.snapshot = snapshot
    do throws(StoreError) {
      try verify(used)
    } catch {
      report(error.message)
    }
  }

  private mutating func report(_ message: String, in tree: String = SchemaTree.name) {
    problems.append(IntegrityProblem(message: message, tree: tree))
  }

  private mutating func verify(_ used: CataloguedSchema?) throws(StoreError) {
    guard let tree = try snapshot.treeIfPresent(SchemaTree.name) else {
      // A store may hold no objects at all.
      if used != nil { report("the store has no schema") }
      return
    }
    var entries: [[UInt8]: [UInt8]] = [:]
    let isComplete = tree.forEachReadable { entries[[UInt8]($0)] = [UInt8]($1) }
    if !isComplete { report("the tree has damaged pages, so some of what it says is unknown") }
    do throws(ContextError) {
      schema = try SchemaTree.schema(in: snapshot)
    } catch {
      report(error.message)
    }
    if let schema { verifyHead(entries, schema, isComplete: isComplete) }
    guard let known = schema ?? used else { return }
    // A change is read together with the schema.
    let migration = schema == nil ? nil : migrationUnderWay()
    verifyOthers(entries, known, migration, isComplete: isComplete)
    if let used, let schema, !used.isSame(as: schema) {
      report("the schema is not the one that the store is used with")
    }
    let ends = leases.map { leases in
      Dictionary(uniqueKeysWithValues: known.entities.map { ($0.number, leases[$0.number] ?? 0) })
    }
    let format = SchemaTree.number(entries[SchemaTree.formatKey])
    problems += HistoryVerifier(snapshot, format: format, leases: ends).problems
    var owned = ReservedTree.names.union(known.entities.flatMap(\.trees))
    if let migration { owned.formUnion(migration.trees(besides: known)) }
    for name in try snapshot.treeNames where !owned.contains(name) {
      report("the tree belongs to no entity, index or relationship of the schema", in: name)
    }
  }

  private mutating func migrationUnderWay() -> MigrationState? {
    do throws(ContextError) { return try SchemaTree.migration(in: snapshot) } catch {
      report(error.message)
      return nil
    }
  }

  private mutating func verifyHead(
    _ entries: [[UInt8]: [UInt8]],
    _ schema: CataloguedSchema,
    isComplete: Bool
  ) {
    let folding = entries[SchemaTree.foldingKey]
    if let folding, !schema.storesFoldedStrings || !Self.isFolding(folding) {
      report("the entry for the folding of strings is damaged, or superfluous: no strings are folded")
    } else if folding == nil, schema.storesFoldedStrings, isComplete {
      report("the entry for the folding of strings is missing")
    }
  }

  /// Returns whether the bytes are a version of the rules, a slash and a version of Unicode.
  private static func isFolding(_ bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).wholeMatch(of: #/[0-9]+/[0-9]+(\.[0-9]+)*/#) != nil
  }

  /// Verifies the layouts, of which ``SchemaTree/schema(in:)`` has read those without a gap, and the leases.
  private mutating func verifyOthers(
    _ entries: [[UInt8]: [UInt8]],
    _ schema: CataloguedSchema,
    _ migration: MigrationState?,
    isComplete: Bool
  ) {
    if isComplete { leases = [:] }
    let heads = [
      SchemaTree.formatKey, SchemaTree.modelKey, SchemaTree.foldingKey, SchemaTree.migrationKey,
      SchemaTree.spentKey,
    ]
    var others = entries.filter { !heads.contains($0.key) && !StagedBlobs.isKey($0.key) }
    for entity in schema.entities {
      for layout in entity.layouts {
        others[SchemaTree.layoutKey(layout.number, of: entity.number)] = nil
      }
      guard let bytes = others.removeValue(forKey: SchemaTree.numbersKey(entity.number)) else { continue }
      let end = SchemaTree.number(bytes)
      let isSound = bytes.count == 8 && end <= ObjectNumbers.greatest
      if !isSound { report("the lease of numbers for \(entity.name) is damaged") }
      leases?[entity.number] = isSound ? end : .max
    }
    // A custom stage leases numbers of the entities that the store is to get.
    for entity in migration?.target.entities ?? [] { others[SchemaTree.numbersKey(entity.number)] = nil }
    for key in others.keys.map({ String(decoding: $0, as: UTF8.self) }).sorted() {
      report("the key \(key) means nothing")
    }
  }
}

extension Store {
  /// Verifies pages and objects, and returns every problem: everything outside of damaged pages is checked.
  ///
  /// - Parameter schema: the schema that the store is used with; nil for the schema in the store.
  package func verifyObjects(
    as schema: ResolvedSchema? = nil,
    includingWarnings: Bool
  ) throws(StoreError) -> [IntegrityProblem] {
    let snapshot = try snapshot()
    var problems = try verify(includingWarnings: includingWarnings)
    // A store that is open for reading only is read by the schema of the models, and isn't changed.
    var catalogue = SchemaTreeVerifier(snapshot, used: options.isReadOnly ? nil : schema?.catalogue)
    let stored = schema ?? catalogue.readableSchema(in: snapshot)
    problems += catalogue.problems
    if let schema = stored {
      let damaged = problems.filter { !$0.isWarning }.compactMap { $0.page == nil ? nil : $0.tree }
      let view = StoreView(schema: schema, snapshot: snapshot)
      problems += StoreVerifier(view, damagedTrees: Set(damaged), leases: catalogue.leases).problems()
    }
    guard let labels = (schema?.catalogue ?? catalogue.schema).map(TreeLabels.init) else { return problems }
    return problems.map { problem in
      var titled = problem
      titled.treeTitle = problem.tree.map(labels.title)
      return titled
    }
  }
}

extension CataloguedSchema {
  /// Returns whether the two schemas have the same entities. The next free numbers may differ: a change that was
  /// given up has used some.
  fileprivate func isSame(as other: CataloguedSchema) -> Bool {
    version == other.version && entities == other.entities
  }
}

extension SchemaTreeVerifier {
  /// Returns the store's schema without the parts that this library can't read. Reports a schema that can't be
  /// declared, and returns nil for it: the objects of such a store can't be verified.
  fileprivate mutating func readableSchema(in snapshot: Snapshot) -> ResolvedSchema? {
    if schema == nil { return nil }
    do throws(ContextError) { return try SchemaTree.readableSchema(in: snapshot) } catch {
      report(error.message)
      return nil
    }
  }
}
