import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Folding, values, counts and wrong use.
struct StageMisuseTests {
  // MARK: Folding

  @Test func theOldGraphIsAskedByAFoldedIndexOfOtherTables() throws {
    func schema(_ extra: [PropertyDescription]) throws -> Schema {
      try Schema(entities: [
        entity(
          "Song",
          [attribute("title", .string)] + extra,
          indexes: [IndexDescription(["title"], folding: [.case, .diacritics])]
        )
      ])
    }
    let store = try Store.inMemory()
    let tree: String
    do {
      let container = try openStaged(store, schema([]))
      let context = try container.context()
      for title in ["Élan", "elan", "other"] { try context.make("Song", ["title": .string(title)]) }
      try context.save()
      context.end()
      tree = container.coordinator.schema.catalogue.entities[0].indexes[0].tree
    }
    try store.write { transaction in
      try transaction.tree(SchemaTree.name).put(SchemaTree.foldingKey, Array("1/1.0".utf8))
      try transaction.dropTree(tree)
    }
    let counts = Mutex<[Int]>([])
    try takeStage(
      store,
      to: schema([attribute("note", .string, optional: true)]),
      .init(chunkByteCount: 500),
      .once { batch in
        let query = try DynamicQuery("Song", where: PredicateTree(format: "title ==[cd] 'elan'"))
        let (old, new) = (try batch.old.count(query), try batch.new.count(query))
        counts.withLock { $0 += [old, new] }
      }
    )
    #expect(counts.withLock(\.self) == [2, 2])
    #expect(try stagedProblems(store) == [])
  }

  // MARK: Values

  @Test func everyKindIsConvertedToEveryKind() throws {
    let values: [AttributeValue] = [
      .int(.min), .int(.max), .int(0), .uint(.max), .double(.infinity), .double(.nan), .double(-0.0),
      .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude), .double(1e40),
      .decimal(.nan), .decimal(.greatestFiniteMagnitude), .decimal(.leastNonzeroMagnitude),
      .decimal(Decimal(string: "1e127")!), .decimal(Decimal(string: "-99999999999999999999.5")!),
      .string(""), .string("nan"), .string("inf"), .string("1e400"), .string("-1e400"), .string("1e127"),
      .string("9e999999999999"), .string("18446744073709551616"), .string("1e-400"), .string("0x1p3"),
      .string("+5"), .string("0.1"), .string(String(repeating: "9", count: 400)), .bool(true),
      .uuid(UUID()), .date(.distantFuture), .data(Data([1])), .null,
    ]
    for kind in AttributeKind.allCases {
      for value in values {
        for rule in [ConversionRule.refusing, .clamping, .orNil] {
          guard let converted = rule.convert(value, to: kind), !converted.isNull else { continue }
          guard kind != .reference else { continue }
          #expect(converted.stored(as: kind) != nil, "\(value) → \(kind): \(converted)")
        }
      }
    }
  }

  @Test(arguments: [
    AttributeValue.string("x"), .reference(ObjectNumber(rawValue: 1)), .double(.nan), .int(1 << 40),
    .data(Data()),
  ])
  func aRuleThatReturnsAnotherKindFailsTheStage(_ value: AttributeValue) throws {
    let store = try Store.inMemory()
    try Copying.fill(store)
    let schema = try Schema(entities: [entity("Item", [attribute("code", .int8, optional: true)])])
    let error = #expect(throws: ContextError.self) {
      try takeStage(
        store,
        to: schema,
        .init(chunkByteCount: 500),
        .converting("code", of: "Item", .custom { _ in value })
      )
    }
    #expect(error?.code == .stageFailed)
    #expect(try stagedProblems(store) == [])
    _ = try openStaged(store, Copying.before())
  }

  // MARK: Traps

  @Test func documentsWithTheGreatestVersion() async {
    await #expect(processExitsWith: .success) {
      let schema = try Schema(entities: [entity("Song", [attribute("title", .string)])])
      let plan = MigrationPlan(documents: [
        SchemaDocument(schema, version: Schema.Version(.max)), SchemaDocument(schema),
      ])
      _ = try? plan.check()
    }
  }

  @Test func aHostileCountOfRows() async {
    await #expect(processExitsWith: .success) {
      let store = try Store.inMemory()
      try Copying.fill(store)
      let stop = Reports(chunkByteCount: 100).monitor(cancellingAfter: 1)
      _ = try? takeStage(store, to: Copying.after(), stop, .forEach("Item", inBatchesOf: 5, Copying.copy))
      let row = try #require(try store.snapshot().tree(SchemaTree.name).value(for: SchemaTree.migrationKey))
      let text = String(decoding: row, as: UTF8.self)
        .replacing(#/"totalRowCount":[0-9]+/#, with: "\"totalRowCount\":\(Int.max)")
      try store.write { try $0.tree(SchemaTree.name).put(SchemaTree.migrationKey, Array(text.utf8)) }
      let monitor = MigrationMonitor(chunkByteCount: 100)
      monitor.begin(stage: 1, of: 2, to: nil)
      do {
        try takeStage(store, to: Copying.after(), monitor, .forEach("Item", inBatchesOf: 5, Copying.copy))
      } catch let error as ContextError {
        #expect(error.code == .corrupt)
      }
    }
  }

  @Test func aMonitorIsUsedTwice() throws {
    let store = try Store.inMemory()
    let monitor = MigrationMonitor(chunkByteCount: 100)
    try Copying.fill(store)
    for version in 2...4 as ClosedRange<UInt32> {
      try takeStage(
        store,
        to: Copying.before(),
        at: .init(version),
        monitor,
        .forEach("Item", inBatchesOf: 5) { _ in }
      )
      monitor.finish()
    }
    #expect(try stagedProblems(store) == [])
  }

  // MARK: Wrong use

  @Test func aBatchThatAPassKeepsCanBeAskedNothing() throws {
    // The threads use it one after the other.
    final class Kept: @unchecked Sendable {
      var batch: MigrationBatch?
    }
    let kept = Kept()
    let store = try Store.inMemory()
    try Copying.fill(store)
    try takeStage(
      store,
      to: Copying.before(),
      .init(chunkByteCount: 500),
      .forEach("Item", inBatchesOf: 7) { batch in
        if let earlier = kept.batch {
          #expect(throws: ContextError.self) { _ = try earlier.new.fetch(DynamicQuery("Item")) }
          #expect(throws: ContextError.self) { _ = try earlier.successor(of: batch.objects[0]) }
        }
        kept.batch = batch
      }
    )
    #expect(try stagedProblems(store) == [])
  }

  @Test func aPassThatEndsItsContexts() throws {
    for body: @Sendable (MigrationBatch) throws -> Void in [
      { $0.new.end() }, { $0.old.end() },
      {
        try $0.new.insert(entity: "Item"); $0.new.rollback()
      },
      { try $0.new.refresh() }, { try $0.old.refresh() }, { $0.old.rollback() },
      { for object in $0.objects { $0.old.delete(object) } },
      { for object in $0.objects { $0.new.delete(object) } },
    ] {
      let store = try Store.inMemory()
      try Copying.fill(store)
      do {
        try takeStage(
          store,
          to: Copying.before(),
          .init(chunkByteCount: 500),
          .forEach("Item", inBatchesOf: 7, body)
        )
      } catch let error as ContextError {
        #expect(error.code == .stageFailed, "\(error)")
      }
      #expect(try stagedProblems(store) == [])
      let context = try openStaged(store, Copying.before()).context()
      #expect(try context.values("Item", "code").count == Copying.count)
      context.end()
    }
  }
}
