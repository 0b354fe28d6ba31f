import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

// Helpers that tests of custom stages share.

struct StopsStage: Error {}

func stagedModels(_ schema: Schema) -> ContainerModels {
  ContainerModels(classes: [], others: .schema(schema))
}

func openStaged(
  _ store: Store,
  _ schema: Schema,
  _ opening: ContainerOpening = ContainerOpening()
) throws -> PersistentContainer {
  try PersistentContainer("attack", stagedModels(schema), on: store, opening)
}

/// Takes a custom stage on a store that no container has open.
func takeStage(
  _ store: Store,
  to schema: Schema,
  at version: Schema.Version = Schema.Version(2),
  rebuilding: Set<String>? = nil,
  makingAnew madeAnew: Set<String> = [],
  _ monitor: MigrationMonitor = MigrationMonitor(chunkByteCount: 500),
  _ passes: MigrationPass...
) throws {
  try takeStage(
    store,
    to: schema,
    at: version,
    rebuilding: rebuilding,
    makingAnew: madeAnew,
    monitor,
    passes: passes
  )
}

func takeStage(
  _ store: Store,
  to schema: Schema,
  at version: Schema.Version = Schema.Version(2),
  rebuilding: Set<String>? = nil,
  makingAnew madeAnew: Set<String> = [],
  _ monitor: MigrationMonitor = MigrationMonitor(chunkByteCount: 500),
  passes: [MigrationPass]
) throws {
  let known = try SchemaTree.schema(in: store.snapshot()) ?? CataloguedSchema()
  let step = UpgradeStep(
    schema: schema,
    version: version,
    custom: CustomStage(rebuiltEntities: rebuilding, madeAnew: madeAnew, passes: passes)
  )
  _ = try SchemaTransition(store, store.snapshot(), from: known, step, showsValues: true).run(monitor)
}

func stagedProblems(_ store: Store) throws -> [String] {
  try store.verifyObjects(includingWarnings: false).map(\.description)
}

func stagedStore(_ disk: SimulatedDisk) throws -> Store {
  try Store.open(
    file: disk,
    path: "simulated",
    options: StoreOptions(),
    environment: .simulated(seed: 1)
  )
}

/// Items, and in the second version a copy of each.
enum Copying {
  static let count = 40
  static func before() throws -> Schema {
    try Schema(entities: [entity("Item", [attribute("code", .int64)])])
  }
  static func after() throws -> Schema {
    try Schema(entities: [
      entity("Item", [attribute("code", .int64), link("copy", to: "Copy", .required, inverse: "item")]),
      entity("Copy", [attribute("code", .int64), link("item", to: "Item", inverse: "copy", rule: .deny)]),
    ])
  }
  static func fill(_ store: Store) throws {
    let context = try openStaged(store, before()).context()
    for code in 0..<count { try context.make("Item", ["code": .int(Int64(code))]) }
    try context.save()
    context.end()
  }
  @Sendable static func copy(_ batch: MigrationBatch) throws {
    for item in batch.objects {
      let copy = try batch.new.insert(entity: "Copy")
      try copy.set("code", to: item["code"])
      try batch.successor(of: item)?.setObject("copy", to: copy)
    }
  }
  static func problems(_ store: Store) throws -> [String] {
    var problems = try stagedProblems(store)
    let context = try openStaged(store, after()).context()
    defer { context.end() }
    let codes = try context.values("Copy", "code")
    if codes.map({ "\($0)" }).sorted() != (0..<count).map({ "\(AttributeValue.int(Int64($0)))" }).sorted() {
      problems.append("\(codes.count) copies, \(Set(codes.map { "\($0)" }).count) different")
    }
    let linked = try context.linked("Item", "copy", "code")
    if linked != (0..<count).map({ [.int(Int64($0))] }) { problems.append("links differ") }
    return problems
  }
}
