import Foundation
import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// Changes of indexes that opening a store infers.
struct InferredIndexTests {
  private let store: ChangingStore
  private let properties = [attribute("title", .string), attribute("seconds", .int32, optional: true)]

  init() throws { store = try ChangingStore() }

  private func song(_ indexes: IndexDescription...) -> EntityDescription {
    entity("Song", properties, indexes: indexes)
  }

  private func fill(
    _ indexes: IndexDescription...,
    titles: [String] = ["Carey", "blue", "Blue", "River"]
  ) async throws {
    try await store.open(entity("Song", properties, indexes: indexes)) { context throws in
      for (place, title) in titles.enumerated() {
        let seconds = place == 0 ? AttributeValue.null : .int(Int64(200 - place))
        try context.make("Song", ["title": .string(title), "seconds": seconds])
      }
    }
  }

  /// Opens the store twice with these indexes, and compares queries with what the objects have.
  private func check(_ indexes: IndexDescription...) async throws {
    for _ in 0..<2 {
      try await store.open(entity("Song", properties, indexes: indexes)) { context throws in
        let titles = try context.values("Song", "title")
        let blue = try context.numbers("Song", "title == 'Blue'")
        #expect(blue.count == titles.filter { $0 == .string("Blue") }.count)
        #expect(try context.numbers("Song", "title ==[c] 'blue'").count >= blue.count)
        #expect(
          try context.numbers("Song", "seconds == NIL").count
            == context.values("Song", "seconds").filter(\.isNull).count
        )
        let sorted = try context.fetch(DynamicQuery("Song", sort: [.init("title")])).map { try $0["title"] }
        #expect(sorted.map { "\($0)" } == titles.map { "\($0)" }.sorted())
        try context.make("Song", ["title": .string("New \(titles.count)")])
      }
    }
  }

  @Test func anIndexIsAdded() async throws {
    try await fill()
    try await check(IndexDescription(["title"]), IndexDescription(["seconds", "title"]))
  }

  @Test func anIndexIsRemoved() async throws {
    try await fill(IndexDescription(["title"]), IndexDescription(["seconds"], isUnique: true))
    try await check()
    try await store.open(song()) { context throws in
      #expect(try context.newestView().snapshot.treeNames.filter { $0.hasPrefix("i/") } == [])
      try context.make("Song", ["title": .string("Twin"), "seconds": .int(199)])
    }
  }

  @Test func aPlainIndexBecomesUnique() async throws {
    try await fill(IndexDescription(["title"]))
    let before = try await store.open(song(IndexDescription(["title"]))) { try trees(of: $0) }
    try await check(IndexDescription(["title"], isUnique: true))
    try await store.open(song(IndexDescription(["title"], isUnique: true))) { context throws in
      #expect(try trees(of: context) == before)
      try context.make("Song", ["title": .string("River")])
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
    }
    try await check(IndexDescription(["title"]))
  }

  private func trees(of context: ManagedObjectContext) throws -> [String] {
    try context.newestView().snapshot.treeNames.sorted()
  }

  @Test func uniquenessIsRefusedWithEveryTwin() async throws {
    try await fill(titles: ["Blue", "Carey", "Blue", "River", "Carey"])
    let error = try await store.refusal(of: song(IndexDescription(["title"], isUnique: true)))
    #expect(error.code == .notUnique)
    #expect(error.refusal?.offenders.map(\.objectID.number.rawValue) == [1, 2, 3, 5])
    #expect(error.refusal?.offenders.first?.values == [.string("Blue")])
    // Two nils are not equal, so they don't violate uniqueness.
    try await store.open(song(IndexDescription(["title", "seconds"], isUnique: true))) { _ in }
  }

  @Test func theFoldingOfAnIndexIsChanged() async throws {
    try await fill(IndexDescription(["title"]))
    try await check(IndexDescription(["title"], folding: .case))
    try await check(IndexDescription(["title"], folding: [.case, .diacritics]), IndexDescription(["title"]))
    let error = try await store.refusal(of: song(IndexDescription(["title"], isUnique: true, folding: .case)))
    #expect(error.code == .notUnique)
    #expect(error.refusal?.offenders.map(\.objectID.number.rawValue) == [2, 3])
  }

  @Test func valuesTooLongForAnIndexAreRefused() async throws {
    try await fill(titles: ["short", String(repeating: "long", count: 2_000)])
    let error = try await store.refusal(of: song(IndexDescription(["title"])))
    #expect(error.code == .indexedValueTooLong)
    #expect(error.refusal?.offenders.map(\.objectID.number.rawValue) == [2])
  }

  @Test func anIndexFollowsItsRenamedProperties() async throws {
    try await fill(IndexDescription(["title", "seconds"]))
    let before = try await store.open(song(IndexDescription(["title", "seconds"]))) { try trees(of: $0) }
    let renamed = entity(
      "Song",
      [attribute("name", .string, was: "title"), properties[1]],
      indexes: [IndexDescription(["name", "seconds"])]
    )
    try await store.open(renamed) { context throws in
      #expect(try trees(of: context) == before)
      #expect(try context.numbers("Song", "name == 'Blue'") == [3])
    }
  }

  /// A process whose library folds strings by other tables has begun an index, and was killed.
  @Test(arguments: [false, true]) func anIndexThatOtherTablesFoldedInPartBeginsAnew(
    isForeign: Bool
  ) throws {
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, Schema(entities: [song()])).context()
      for number in 0..<40 { try context.make("Song", ["title": .string("Élan \(number)")]) }
      try context.save()
      context.end()
    }
    let next = try Schema(entities: [song(IndexDescription(["title"], folding: [.case, .diacritics]))])
    let cancelled = Reports(chunkByteCount: 200)
    #expect(throws: ContextError.self) {
      let opening = ContainerOpening(monitor: cancelled.monitor(cancellingAfter: 3))
      _ = try openStaged(store, next, opening)
    }
    if isForeign { try makeForeign(store) }
    let again = Reports(chunkByteCount: 200)
    let container = try openStaged(store, next, ContainerOpening(monitor: again.monitor()))
    #expect((again.first > cancelled.last) == !isForeign)
    #expect(try container.verify().map(\.description) == [])
    let context = try container.context()
    #expect(try context.numbers("Song", "title ==[cd] 'elan 0'") == [1])
    context.end()
  }

  /// Changes the state of the interrupted change so that other tables seem to have folded the index, and removes the
  /// tree of the index.
  private func makeForeign(_ store: Store) throws {
    let state = try #require(try SchemaTree.migration(in: store.snapshot()))
    try store.write { transaction in
      let catalogue = try transaction.tree(SchemaTree.name)
      let bytes = Data(try catalogue.value(for: SchemaTree.migrationKey) ?? [])
      var content = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
      content["folding"] = "1/1.0"
      try catalogue.put(
        SchemaTree.migrationKey,
        [UInt8](JSONSerialization.data(withJSONObject: content, options: .sortedKeys))
      )
      try transaction.dropTree(state.target.entities[0].indexes[0].tree)
    }
  }
}
