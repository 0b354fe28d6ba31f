import Predicates

/// A plan that was checked.
struct ResolvedPlan {
  struct Version {
    let number: Schema.Version
    let models: [any ManagedObject.Type]
    /// The schema; nil for a version that no stage leads to.
    let schema: Schema?
    /// The schema's stable hash; nil for a version that is known by its number only.
    let stableHash: UInt64?
  }

  /// The versions, from the oldest to the newest; at least one.
  let versions: [Version]
  let newest: Version
  let newestSchema: Schema
  /// The stages: first the given ones, then those that are inferred between neighbours.
  let stages: [MigrationStage]
  private let takesLaterVersions: Bool

  init(_ plan: MigrationPlan) throws(ContextError) {
    takesLaterVersions = plan.takesLaterVersions
    var problems: [String] = []
    versions = plan.versions.map { Version($0, &problems) }
    // A description that makes no schema is one mistake, not two.
    if problems.isEmpty { problems += Self.problems(versions, plan.stages) }
    guard problems.isEmpty, let newest = versions.last, let schema = newest.schema else {
      if problems.isEmpty { problems.append("the newest version has no schema") }
      throw ContextError(.schemaMismatch, "the plan is wrong: " + problems.joined(separator: "; "))
    }
    self.newest = newest
    newestSchema = schema
    let given = Set(plan.stages.map { [$0.from, $0.to] })
    let inferred = zip(versions, versions.dropFirst())
      .map { MigrationStage(from: $0.number, to: $1.number, custom: nil) }
      .filter { stage in !given.contains([stage.from, stage.to]) }
    let withSchema = Set(versions.filter { $0.schema != nil }.map(\.number))
    stages = plan.stages + inferred.filter { withSchema.contains($0.to) }
  }

  private static func schema(_ number: Schema.Version, _ versions: [Version]) -> Schema? {
    versions.first { $0.number == number }?.schema
  }

  private static func problems(_ versions: [Version], _ stages: [MigrationStage]) -> [String] {
    var problems: [String] = []
    if versions.isEmpty { problems.append("it has no versions") }
    for (version, next) in zip(versions, versions.dropFirst()) where version.number >= next.number {
      problems.append("version \(next.number) follows \(version.number): versions must ascend")
    }
    var seen: Set<[Schema.Version]> = []
    let numbers = Set(versions.map(\.number))
    for stage in stages {
      let name = "the stage from \(stage.from) to \(stage.to)"
      if stage.from >= stage.to { problems.append("\(name) leads to no later version") }
      if !numbers.isSuperset(of: [stage.from, stage.to]) {
        problems.append("\(name) leads from or to a version that is not in the plan")
      } else if let schema = schema(stage.to, versions) {
        let unknown = (stage.custom?.rebuiltEntities ?? []).filter { schema.entity(named: $0) == nil }
        for entity in unknown.sorted() {
          problems.append("\(name) rebuilds \(entity), which version \(stage.to) doesn't have")
        }
        let known = Set(schema.namesOfClasses)
        for made in (stage.custom?.madeAnew ?? []).subtracting(known).sorted() {
          problems.append("\(name) makes \(made) anew, which version \(stage.to) doesn't have")
        }
      } else {
        problems.append("\(name) leads to a version without a schema")
      }
      if !seen.insert([stage.from, stage.to]).inserted { problems.append("\(name) is in the plan twice") }
    }
    return problems
  }

  // MARK: Ways

  /// Returns the steps of a store with this schema to the newest version.
  ///
  /// - Throws: `schemaMismatch` when the store is of a newer version, or of a version that the plan doesn't have,
  ///   or if no stages lead on from its version.
  func steps(from known: CataloguedSchema) throws(ContextError) -> [UpgradeStep] {
    if known.entities.isEmpty { return direct }
    if let version = try version(of: known) {
      return version == newest.number ? direct : try steps(from: version)
    }
    if takesLaterVersions { return try steps(entering: versions.first) }
    // Without custom stages, the direct change leaves out inferred changes only. The versions in between matter
    // only if their changes keep something that has different names at both ends.
    if stages.allSatisfy({ $0.custom == nil }), !directLoses(of: known) { return direct }
    let hash = SchemaHash(try known.stableHash)
    throw ContextError(
      .schemaMismatch,
      "the store has no version, and no version of the plan has the store's schema (stable hash \(hash))"
    )
  }

  /// Returns true if the direct change to the newest version removes an entity or a property that the changes from
  /// version to version keep. It was renamed twice, and the newest version names only the name before the last one.
  private func directLoses(of known: CataloguedSchema) -> Bool {
    let atEnd = CataloguedNumbers(known.continued(by: [newestSchema]))
    let stepwise = CataloguedNumbers(known.continued(by: versions.compactMap(\.schema)))
    return !stepwise.intersection(CataloguedNumbers(known)).isSubset(of: atEnd)
  }

  private var direct: [UpgradeStep] { [UpgradeStep(schema: newestSchema, version: newest.number)] }

  private func version(of known: CataloguedSchema) throws(ContextError) -> Schema.Version? {
    if let version = known.version { return version }
    let hash = try known.stableHash
    // Of several versions with one schema, the first is taken: the stages between them change values, and haven't
    // run yet.
    return versions.first { $0.stableHash == hash }?.number
  }

  private func steps(from version: Schema.Version) throws(ContextError) -> [UpgradeStep] {
    if version > newest.number {
      throw ContextError(
        .schemaMismatch,
        "a newer version of the app wrote the store: its schema is version \(version), this one knows up to \(newest.number)"
      )
    }
    guard versions.contains(where: { $0.number == version }) else {
      if takesLaterVersions { return try steps(entering: versions.first { $0.number > version }) }
      throw ContextError(
        .schemaMismatch,
        "the store's schema is version \(version), which is not in the plan"
      )
    }
    guard let way = way(from: version) else {
      throw ContextError(.schemaMismatch, "no stages lead from version \(version) to \(newest.number)")
    }
    return way.compactMap { step(to: $0.to, $0.custom) }
  }

  /// Returns the steps of a store that has none of the versions: to one of them, and on from there.
  private func steps(entering version: Version?) throws(ContextError) -> [UpgradeStep] {
    guard let version, let first = step(to: version.number, nil) else { return direct }
    return version.number == newest.number ? [first] : [first] + (try steps(from: version.number))
  }

  private func step(to version: Schema.Version, _ custom: CustomStage?) -> UpgradeStep? {
    Self.schema(version, versions).map { UpgradeStep(schema: $0, version: version, custom: custom) }
  }

  /// Returns the fewest stages that lead from a version to the newest, by breadth-first search; of several such
  /// ways, the one whose stages are given first.
  private func way(from version: Schema.Version) -> [MigrationStage]? {
    var ways: [(end: Schema.Version, stages: [MigrationStage])] = [(version, [])]
    var seen: Set<Schema.Version> = [version]
    var place = 0
    while place < ways.count {
      let (end, taken) = ways[place]
      if end == newest.number { return taken }
      for stage in stages where stage.from == end && seen.insert(stage.to).inserted {
        ways.append((stage.to, taken + [stage]))
      }
      place += 1
    }
    return nil
  }
}

extension ResolvedPlan.Version {
  fileprivate init(_ version: MigrationPlan.Version, _ problems: inout [String]) {
    number = version.number
    models = version.models
    var described: Schema?
    switch version.schema {
    case .success(let schema): described = schema
    case .failure(let error): problems.append("version \(number): \(error)")
    }
    if let schema = described, let lock = version.stableHash, lock != schema.stableHash {
      problems.append(
        "the models of version \(number) have changed: their stable hash is \(SchemaHash(schema.stableHash)), and was \(SchemaHash(lock))"
      )
    }
    schema = described
    stableHash = described?.stableHash ?? version.stableHash
  }
}

extension CataloguedSchema {
  fileprivate var stableHash: UInt64 {
    get throws(ContextError) { try ResolvedSchema(self).schema.stableHash }
  }
}

/// A schema's stable hash as people write it: `0x` and 16 hexadecimal digits.
package struct SchemaHash: CustomStringConvertible {
  package let description: String

  package init(_ hash: UInt64) {
    let digits = String(hash, radix: 16)
    description = "0x" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension CataloguedSchema {
  /// Returns the catalogue after the inferred changes to schemas, one after the other.
  fileprivate func continued(by schemas: [Schema]) -> CataloguedSchema {
    schemas.reduce(self) { SchemaChange(from: $0, to: $1).target }
  }
}

/// The numbers of the entities of a catalogue, and of the properties that hold values or links of their own. They
/// keep these numbers for as long as later schemas continue them.
private struct CataloguedNumbers {
  private let entities: Set<EntityNumber>
  private let properties: Set<PropertyNumber>

  init(_ schema: CataloguedSchema) {
    self.init(
      entities: Set(schema.entities.map(\.number)),
      properties: Set(schema.entities.flatMap { $0.properties.filter(\.holdsContent).map(\.number) })
    )
  }

  private init(entities: Set<EntityNumber>, properties: Set<PropertyNumber>) {
    (self.entities, self.properties) = (entities, properties)
  }

  func intersection(_ other: CataloguedNumbers) -> CataloguedNumbers {
    CataloguedNumbers(
      entities: entities.intersection(other.entities),
      properties: properties.intersection(other.properties)
    )
  }

  func isSubset(of other: CataloguedNumbers) -> Bool {
    entities.isSubset(of: other.entities) && properties.isSubset(of: other.properties)
  }
}

extension CataloguedProperty {
  /// False for a property that the store can compute from other properties: a derived value, or the other end of
  /// links.
  fileprivate var holdsContent: Bool {
    switch content {
    case .attribute: derivation == nil
    case .relationship(let relationship): relationship.tree != nil
    }
  }
}
