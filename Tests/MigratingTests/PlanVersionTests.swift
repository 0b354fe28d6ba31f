import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Versions, chains, and containers that have a store open.
struct PlanVersionTests {
  // MARK: Plans

  private enum SameV1: VersionedSchema {
    static let version = Schema.Version(1)
    static func schema() throws(SchemaError) -> Schema? {
      try Schema(entities: [entity("Item", [attribute("code", .int64)])])
    }
  }
  private enum SameV2: VersionedSchema {
    static let version = Schema.Version(2)
    static func schema() throws(SchemaError) -> Schema? { try SameV1.schema() }
  }
  private enum SameV3: VersionedSchema {
    static let version = Schema.Version(3)
    static func schema() throws(SchemaError) -> Schema? { try SameV1.schema() }
  }

  private static func doubling(_ failingAt: Schema.Version? = nil) -> MigrationPlan {
    let double: @Sendable (MigrationBatch) throws -> Void = { batch in
      for item in batch.objects {
        let code: Int = try item.value("code") ?? 0
        try batch.successor(of: item)?.set("code", to: 2 * code + 1)
      }
    }
    return MigrationPlan(
      [SameV1.self, SameV2.self, SameV3.self],
      stages: [
        .custom(from: SameV1.self, to: SameV2.self, .forEach("Item", inBatchesOf: 7, double)),
        .custom(
          from: SameV2.self,
          to: SameV3.self,
          .forEach("Item", inBatchesOf: 7) { batch in
            if failingAt != nil { throw StopsStage() }
            try double(batch)
          }
        ),
      ]
    )
  }

  /// A plan whose stages change only values, with a store that has no version.
  @Test func aStageOfValuesAloneIsTakenOnAStoreWithoutAVersion() throws {
    let store = try Store.inMemory()
    try Copying.fill(store)
    do {
      let container = try PersistentContainer("x", ContainerModels(Self.doubling()), on: store)
      let context = try container.context()
      #expect(try context.values("Item", "code").last == .int(4 * 39 + 3))
      context.end()
    } catch {
      // It may be refused, too.
      #expect((error as? ContextError)?.code == .schemaMismatch)
    }
  }

  @Test(arguments: 1...14) func twoStagesAreCancelledInEach(limit: Int) throws {
    let store = try Store.inMemory()
    do {
      let context = try PersistentContainer("x", ContainerModels(MigrationPlan([SameV1.self])), on: store)
        .context()
      for code in 0..<Copying.count { try context.make("Item", ["code": .int(Int64(code))]) }
      try context.save()
      context.end()
    }
    var cancelled = 0
    while true {
      do {
        let monitor = Reports(chunkByteCount: 300).monitor(cancellingAfter: limit)
        let container = try PersistentContainer(
          "x",
          ContainerModels(Self.doubling()),
          on: store,
          ContainerOpening(monitor: monitor)
        )
        let context = try container.context()
        #expect(try context.values("Item", "code") == (0..<Int64(Copying.count)).map { .int(4 * $0 + 3) })
        context.end()
        #expect(try container.verify().map(\.description) == [])
        break
      } catch let error as ContextError where error.code == .cancelled {
        cancelled += 1
        #expect(try stagedProblems(store) == [])
        try #require(cancelled < 200)
      }
    }
    #expect(cancelled > 0)
  }

  @Test func documentsHaveACustomStageBetweenThem() throws {
    let store = try Store.inMemory()
    try Copying.fill(store)
    let versions = (Schema.Version(1), Schema.Version(2))
    let documents = [
      SchemaDocument(try Copying.before(), version: versions.0),
      SchemaDocument(try Copying.after(), version: versions.1),
    ]
    let stage = MigrationStage.custom(from: versions.0, to: versions.1, .forEach("Item", Copying.copy))
    _ = try PersistentContainer("x", plan: MigrationPlan(documents: documents, stages: [stage]), on: store)
    #expect(try Copying.problems(store) == [])
  }

  @Test func aHandoverWhoseSecondStageFails() throws {
    let store = try Store.inMemory()
    let old = try PersistentContainer("x", ContainerModels(MigrationPlan([SameV1.self])), on: store)
    let context = try old.context()
    for code in 0..<Copying.count { try context.make("Item", ["code": .int(Int64(code))]) }
    try context.save()
    let error = #expect(throws: ContextError.self) {
      _ = try PersistentContainer(
        "x",
        ContainerModels(Self.doubling(Schema.Version(2))),
        on: store,
        ContainerOpening(takesOver: true)
      )
    }
    // The plan has two custom stages to run: it must not be opened as if there were none.
    #expect(error?.code == .stageFailed)
    #expect(try stagedProblems(store) == [])
    try? context.save()
    context.end()
  }

  private enum NotedV2: VersionedSchema {
    static let version = Schema.Version(2)
    static func schema() throws(SchemaError) -> Schema? {
      try Schema(entities: [
        entity("Item", [attribute("code", .int64), attribute("note", .string, optional: true)])
      ])
    }
  }
  private enum NotedV3: VersionedSchema {
    static let version = Schema.Version(3)
    static func schema() throws(SchemaError) -> Schema? {
      try Schema(entities: [
        entity("Item", [attribute("code", .string), attribute("note", .string, optional: true)])
      ])
    }
  }

  @Test func aHandoverToOtherSchemasWhoseSecondStageFails() throws {
    let store = try Store.inMemory()
    let old = try PersistentContainer("x", ContainerModels(MigrationPlan([SameV1.self])), on: store)
    let context = try old.context()
    for code in 0..<Copying.count { try context.make("Item", ["code": .int(Int64(code))]) }
    try context.save()
    try context.make("Item", ["code": .int(-1)])
    func plan(_ fails: Bool) -> MigrationPlan {
      MigrationPlan(
        [SameV1.self, NotedV2.self, NotedV3.self],
        stages: [
          .custom(
            from: NotedV2.self,
            to: NotedV3.self,
            .converting("code", of: "Item", .refusing),
            .once { _ in if fails { throw StopsStage() } }
          )
        ]
      )
    }
    let error = #expect(throws: ContextError.self) {
      _ = try PersistentContainer(
        "x",
        ContainerModels(plan(true)),
        on: store,
        ContainerOpening(takesOver: true)
      )
    }
    #expect(error?.code == .stageFailed)
    #expect(try stagedProblems(store) == [])
    let late = #expect(throws: ContextError.self) { try context.save() }
    #expect(late?.code == .schemaChanged)
    let new = try PersistentContainer(
      "x",
      ContainerModels(plan(false)),
      on: store,
      ContainerOpening(takesOver: true)
    )
    let after = try new.context()
    #expect(try after.values("Item", "code") == (0..<Copying.count).map { .string("\($0)") })
    #expect(try new.verify().map(\.description) == [])
    after.end()
    context.end()
  }

  @Test func twoThreadsOpenAPlanAtOnce() async throws {
    let store = try Store.inMemory()
    do {
      let context = try PersistentContainer("x", ContainerModels(MigrationPlan([SameV1.self])), on: store)
        .context()
      for code in 0..<Copying.count { try context.make("Item", ["code": .int(Int64(code))]) }
      try context.save()
      context.end()
    }
    let opened = try await withThrowingTaskGroup(of: PersistentContainer.self) { group in
      for _ in 0..<4 {
        group.addTask { try PersistentContainer("x", ContainerModels(Self.doubling()), on: store) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(opened.map { ObjectIdentifier($0.coordinator) }).count == 1)
    let context = try opened[0].context()
    #expect(try context.values("Item", "code") == (0..<Int64(Copying.count)).map { .int(4 * $0 + 3) })
    context.end()
  }

  /// A plan on a store that is open with an earlier version whose schema is the same.
  @Test func aPlanOnAStoreThatIsOpenWithAnEarlierVersion() throws {
    let store = try Store.inMemory()
    let old = try PersistentContainer("x", ContainerModels(MigrationPlan([SameV1.self])), on: store)
    let context = try old.context()
    try context.make("Item", ["code": .int(5)])
    try context.save()
    context.end()
    do {
      let new = try PersistentContainer("x", ContainerModels(Self.doubling()), on: store)
      let after = try new.context()
      #expect(try after.values("Item", "code") == [.int(23)])
      after.end()
    } catch let error as ContextError {
      #expect(error.code == .schemaMismatch)
    }
  }

  // MARK: Values that an earlier version fills

  private static func versions(_ schemas: [[EntityDescription]]) throws -> [MigrationPlan] {
    let documents = try schemas.enumerated().map { place, entities in
      SchemaDocument(try Schema(entities: entities), version: Schema.Version(UInt32(place + 1)))
    }
    return [MigrationPlan(documents: [documents[0]]), MigrationPlan(documents: documents)]
  }

  /// Before the second version has filled it, no song has an album.
  @Test(arguments: [true, false]) func aNewInverseIsRequiredInTheVersionAfter(isComplete: Bool) throws {
    let name = attribute("name", .string)
    let songs = link("songs", to: "Song", .many, inverse: "album", rule: .cascade)
    let plans = try Self.versions([
      [entity("Song", [name]), entity("Album", [name, link("songs", to: "Song", .many)])],
      [
        entity("Song", [name, link("album", to: "Album", inverse: "songs")]), entity("Album", [name, songs]),
      ],
      [
        entity("Song", [name, link("album", to: "Album", .required, inverse: "songs")]),
        entity("Album", [name, songs]),
      ],
    ])
    let store = try Store.inMemory()
    do {
      let context = try PersistentContainer("x", plan: plans[0], on: store).context()
      let album = try context.make("Album", ["name": .string("x")])
      try album.add(context.make("Song", ["name": .string("a")]), to: "songs")
      if !isComplete { try context.make("Song", ["name": .string("b")]) }
      try context.save()
      context.end()
    }
    guard isComplete else {
      let error = #expect(throws: ContextError.self) {
        _ = try PersistentContainer("x", plan: plans[1], on: store)
      }
      #expect(error?.code == .missingValue)
      #expect(error?.refusal?.offenders.map(\.objectID.number.rawValue) == [2])
      #expect(try SchemaTree.schema(in: store.snapshot())?.version == Schema.Version(2))
      #expect(try stagedProblems(store) == [])
      return
    }
    let container = try PersistentContainer("x", plan: plans[1], on: store)
    let context = try container.context()
    #expect(try context.linked("Song", "album", "name") == [[.string("x")]])
    context.end()
    #expect(try container.verify().map(\.description) == [])
  }

  /// The stored values of an attribute that a version derives are neither unique nor short enough for an index.
  @Test(arguments: [true, false]) func aDerivedAttributeIsIndexedInTheVersionAfter(isUnique: Bool) throws {
    let name = attribute("name", .string)
    let index = IndexDescription(["key"], isUnique: isUnique)
    let plans = try Self.versions([
      [entity("Song", [name, attribute("key", .string)])],
      [entity("Song", [name, .attribute("key", String.self, derived: "name[c]")])],
      [entity("Song", [name, attribute("key", .string)], indexes: [index])],
    ])
    let store = try Store.inMemory()
    do {
      let context = try PersistentContainer("x", plan: plans[0], on: store).context()
      let key = String(repeating: "long", count: isUnique ? 1 : 2_000)
      for name in ["A", "B"] { try context.make("Song", ["name": .string(name), "key": .string(key)]) }
      try context.save()
      context.end()
    }
    let container = try PersistentContainer("x", plan: plans[1], on: store)
    let context = try container.context()
    #expect(try context.values("Song", "key") == [.string("a"), .string("b")])
    context.end()
    #expect(try container.verify().map(\.description) == [])
  }
}
