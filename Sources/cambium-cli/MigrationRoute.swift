import Foundation
import GraphContext
import PageStore

/// The way of a store to the last of the schemas that `cambium migrate` is given.
enum MigrationRoute {
  /// To one schema that has no version.
  case schema(Schema)
  /// To schemas with versions.
  case plan(MigrationPlan)

  /// The schemas are taken in their order, from the first one that the store has not passed.
  ///
  /// - Throws: a failure for schemas without versions, or whose versions don't ascend, and for a store of a later
  ///   version than the last.
  init(of path: String, to targets: [MigrationTarget]) throws {
    try Self.checkVersions(targets)
    let store = try Store.open(at: path, options: .readOnly)
    var known = try SchemaTree.schema(in: store.snapshot()) ?? CataloguedSchema()
    try Self.checkNotLater(known, path, than: targets.last)
    var documents: [SchemaDocument] = []
    for target in try Self.pending(targets, from: known) {
      let schema = try target.schema(following: known, of: store.uuid)
      guard let version = target.version else {
        self = .schema(schema)
        return
      }
      documents.append(SchemaDocument(schema, version: version))
      known = try known.successor(with: schema, in: store)
    }
    self = .plan(MigrationPlan(documents: documents))
  }

  /// Returns the forecast of each stage, up to the first that isn't possible.
  func forecasts(at url: URL) throws -> [MigrationForecast] {
    switch self {
    case .schema(let schema):
      return [try MigrationForecast(at: url, to: schema)]
    case .plan(let plan):
      let copies = RehearsalFolder()
      defer { copies?.remove() }
      return try plan.forecasts(at: url, copyingTo: copies?.url)
    }
  }

  /// Brings the store to the last schema.
  func take(at url: URL, _ monitor: MigrationMonitor) async throws {
    var options = StoreOptions()
    options.createsIfMissing = false
    let container =
      switch self {
      case .schema(let schema):
        try await PersistentContainer("cambium", schema: schema, at: url, options: options, monitor: monitor)
      case .plan(let plan):
        try await PersistentContainer("cambium", plan: plan, at: url, options: options, monitor: monitor)
      }
    try await container.close()
  }

  // MARK: Versions

  private static func checkVersions(_ targets: [MigrationTarget]) throws {
    if targets.count > 1, let target = targets.first(where: { $0.version == nil }) {
      throw use("\(target.path) has no version: where there are several schemas, each must have one")
    }
    for (target, next) in zip(targets, targets.dropFirst()) {
      guard let version = target.version, let following = next.version, version >= following else { continue }
      throw use("version \(following) of \(next.path) is not later than \(version) of \(target.path)")
    }
  }

  private static func use(_ message: String) -> Failure {
    Failure(.use, EscapedText.line("error: \(message)"))
  }

  private static func checkNotLater(
    _ known: CataloguedSchema,
    _ path: String,
    than target: MigrationTarget?
  ) throws {
    guard let version = known.version, let target, let newest = target.version, version > newest else {
      return
    }
    let what = "the store's version \(version) is later than version \(newest) of \(target.path)"
    throw Failure(.store, EscapedText.line("error: \(path) can't be migrated to the schema: \(what)"))
  }

  /// Returns the schemas after the one that the store has; at least the last. The store's schema is identified by
  /// its version, or by its hash if it has no version.
  private static func pending(
    _ targets: [MigrationTarget],
    from known: CataloguedSchema
  ) throws -> ArraySlice<MigrationTarget> {
    let hash = try ResolvedSchema(known).schema.stableHash
    let passed = targets.lastIndex { target in
      guard let version = known.version else { return target.schema.stableHash == hash }
      return target.version.map { $0 <= version } ?? false
    }
    return targets[min(passed.map { $0 + 1 } ?? 0, targets.count - 1)...]
  }
}
