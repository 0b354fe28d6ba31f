import PageStore
import Predicates

/// Looks at what a store of objects says about itself, and at which trees it has: the schema, the leases of numbers, and nothing that
/// belongs to neither. Docs/Records.md, "The tree `schema`".
struct CatalogueVerifier {
  private let snapshot: Snapshot
  private(set) var problems: [IntegrityProblem] = []
  /// The schema in the store; nil if there is none, or none that can be read.
  private(set) var schema: Schema?
  /// The ends of the blocks of numbers that were leased, by entity; nil if they can't be read. One that makes no sense is above all.
  private(set) var leases: [String: UInt64]?

  /// - Parameter models: the schema that the store is used with, if it is.
  init(_ snapshot: Snapshot, models: Schema?) {
    self.snapshot = snapshot
    do throws(StoreError) {
      try verify(models)
    } catch {
      report(error.message)
    }
  }

  private mutating func report(_ message: String, in tree: String = TreeName.catalogue) {
    problems.append(IntegrityProblem(message: message, tree: tree))
  }

  private mutating func verify(_ models: Schema?) throws(StoreError) {
    guard let tree = try snapshot.treeIfPresent(TreeName.catalogue) else {
      // A store may hold no objects at all.
      if models != nil { report("the store has no schema") }
      return
    }
    var entries: [[UInt8]: [UInt8]] = [:]
    let isComplete = tree.forEachReadable { entries[[UInt8]($0)] = [UInt8]($1) }
    if !isComplete { report("the tree has damaged pages, so some of what it says is unknown") }
    do throws(ContextError) {
      schema = try Catalogue.schema(in: snapshot)
    } catch {
      report(error.message)
    }
    if let schema { verifyHead(entries, schema, isComplete: isComplete) }
    guard let known = schema ?? models else { return }
    verifyLeases(entries, known, isComplete: isComplete)
    if let models, let schema { verifyModels(models, schema) }
    try verifyTrees(known)
  }

  private mutating func verifyTrees(_ schema: Schema) throws(StoreError) {
    guard let owned = try? StoredSchema(schema).treeNames else { return }
    for name in try snapshot.treeNames where !owned.contains(name) {
      report("the tree belongs to no entity, index or relationship of the schema", in: name)
    }
  }

  private mutating func verifyHead(
    _ entries: [[UInt8]: [UInt8]],
    _ schema: Schema,
    isComplete: Bool
  ) {
    let format = Catalogue.formatVersion(for: schema)
    if let found = entries[Catalogue.formatKey], found != Catalogue.bytes(format) {
      report("the format is \(Catalogue.number(found)), and should be \(format) with this schema")
    }
    let folding = entries[Catalogue.foldingKey]
    if let folding, !schema.hasFoldedIndexes || !Self.isFolding(folding) {
      report("what the store says of folding makes no sense")
    } else if folding == nil, schema.hasFoldedIndexes, isComplete {
      report("the store doesn't say by what its folded indexes are folded")
    }
  }

  /// Whether this is a version of the rules, a slash and a version of Unicode.
  private static func isFolding(_ bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).wholeMatch(of: #/[0-9]+/[0-9]+(\.[0-9]+)*/#) != nil
  }

  private mutating func verifyLeases(
    _ entries: [[UInt8]: [UInt8]],
    _ schema: Schema,
    isComplete: Bool
  ) {
    if isComplete { leases = [:] }
    let heads = [Catalogue.formatKey, Catalogue.modelKey, Catalogue.foldingKey]
    var others = entries.filter { !heads.contains($0.key) }
    for entity in schema.entities {
      guard let bytes = others.removeValue(forKey: Catalogue.numbersKey(entity.name)) else { continue }
      let end = Catalogue.number(bytes)
      let isSound = bytes.count == 8 && end <= ObjectNumbers.greatest
      if !isSound { report("the lease of numbers for \(entity.name) makes no sense") }
      leases?[entity.name] = isSound ? end : .max
    }
    for key in others.keys.map({ String(decoding: $0, as: UTF8.self) }).sorted() {
      report("the key \(key) means nothing")
    }
  }

  private mutating func verifyModels(_ models: Schema, _ schema: Schema) {
    let change = SchemaChange(from: schema, to: models)
    let missing = change.addedIndexes.map { "it lacks the index \($0.index.name) of \($0.entity)" }
    let differences = change.obstacles + missing
    if !differences.isEmpty {
      report("the schema is not that of the models: " + differences.joined(separator: "; "))
    }
  }
}

extension StoredSchema {
  /// The names of all trees that a store of this schema may have.
  fileprivate var treeNames: Set<String> {
    var names: Set<String> = [TreeName.catalogue]
    for entity in entities {
      names.insert(entity.treeName)
      names.formUnion(entity.indexTreeNames)
      for case .pairs(let trees) in entity.toManys.map(\.storage) {
        names.formUnion([trees.forward, trees.backward])
      }
    }
    return names
  }
}

extension Store {
  /// Verifies pages and objects, and returns every problem: what the pages hide keeps nothing else from being looked at.
  ///
  /// - Parameter schema: what the store is used with; nil to go by the schema in the store.
  package func verifyObjects(
    as schema: StoredSchema? = nil,
    includingWarnings: Bool
  ) throws(StoreError) -> [IntegrityProblem] {
    let snapshot = try snapshot()
    var problems = try verify(includingWarnings: includingWarnings)
    let catalogue = CatalogueVerifier(snapshot, models: schema?.schema)
    problems += catalogue.problems
    guard let schema = try? schema ?? catalogue.readableSchema(in: snapshot) else { return problems }
    let damaged = problems.filter { !$0.isWarning }.compactMap { $0.page == nil ? nil : $0.tree }
    let view = StoreView(schema: schema, snapshot: snapshot)
    return problems
      + StoreVerifier(view, damagedTrees: Set(damaged), leases: catalogue.leases).problems()
  }
}

extension CatalogueVerifier {
  /// The store's schema without what this library can't read of it.
  fileprivate func readableSchema(in snapshot: Snapshot) throws(ContextError) -> StoredSchema? {
    guard schema != nil, let readable = try Catalogue.readableSchema(in: snapshot) else { return nil }
    return try StoredSchema(readable)
  }
}
