import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Names, IDs, and records of earlier layouts.
struct StageIdentityTests {
  // MARK: Names and IDs

  @Test func anEntityIsRenamedAndItsNameUsedAgain() throws {
    let store = try Store.inMemory()
    try Copying.fill(store)
    let id: ManagedObjectID
    do {
      let context = try openStaged(store, Copying.before()).context()
      id = try context.fetch(DynamicQuery("Item"))[3].objectID
      context.end()
    }
    let schema = try Schema(entities: [
      entity("Thing", was: "Item", [attribute("code", .string)]),
      entity("Item", [attribute("name", .string), link("thing", to: "Thing", .required)]),
    ])
    for limit in [3, 5, 8, Int.max] {
      do {
        try takeStage(
          store,
          to: schema,
          Reports(chunkByteCount: 300).monitor(cancellingAfter: limit),
          .converting("code", of: "Item", .refusing),
          .forEach("Item", inBatchesOf: 3) { batch in
            for item in batch.objects {
              let thing = try #require(try batch.successor(of: item))
              #expect(thing.entity.name == "Thing")
              let new = try batch.new.insert(entity: "Item")
              try new.set("name", to: item["code"].description)
              try new.setObject("thing", to: thing)
            }
          }
        )
        break
      } catch let error as ContextError where error.code == .cancelled {
        #expect(try stagedProblems(store) == [])
      }
    }
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, schema).context()
    let found = try context.existingObject(ManagedRecord.self, with: id)
    #expect(found.entity.name == "Thing")
    #expect(try found["code"] == .string("3"))
    #expect(try context.fetch(DynamicQuery("Item")).count == Copying.count)
    #expect(try context.linked("Item", "thing", "code") == (0..<Copying.count).map { [.string("\($0)")] })
    context.end()
  }

  @Test func aRequiredRelationshipLeadsToAnotherEntity() throws {
    let before = try Schema(entities: [
      entity("Song", [attribute("code", .int64), link("of", to: "Album", .required, inverse: "songs")]),
      entity(
        "Album",
        [attribute("name", .string), link("songs", to: "Song", .many, inverse: "of", rule: .cascade)]
      ),
    ])
    let after = try Schema(entities: [
      entity("Song", [attribute("code", .int64), link("of", to: "Disc", .required, inverse: "songs")]),
      entity(
        "Disc",
        [attribute("name", .string), link("songs", to: "Song", .many, inverse: "of", rule: .cascade)]
      ),
    ])
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, before).context()
      let albums = try (0..<3).map { try context.make("Album", ["name": .string("\($0)")]) }
      for code in 0..<20 {
        let song = try context.make("Song", ["code": .int(Int64(code))])
        try song.setObject("of", to: albums[code % 3])
      }
      try context.save()
      context.end()
    }
    let ends = [4, 6, 9, Int.max]
    for limit in ends {
      do {
        try takeStage(
          store,
          to: after,
          rebuilding: ["Song"],
          Reports(chunkByteCount: 200).monitor(cancellingAfter: limit),
          .forEach("Album", inBatchesOf: 1) { batch in
            for album in batch.objects {
              #expect(try batch.successor(of: album) == nil)
              let disc = try batch.new.insert(entity: "Disc")
              try disc.set("name", to: album["name"])
              for song in try album.objects("songs") {
                try batch.successor(of: song)?.setObject("of", to: disc)
              }
            }
          }
        )
        break
      } catch let error as ContextError where error.code == .cancelled {
        #expect(try stagedProblems(store) == [])
      }
    }
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, after).context()
    #expect(try context.linked("Song", "of", "name") == (0..<20).map { [.string("\($0 % 3)")] })
    context.end()
  }

  @Test func uniqueValuesAreExchangedBetweenBatches() throws {
    func schema(_ unique: Bool, _ kind: AttributeKind) throws -> Schema {
      try Schema(entities: [
        entity("Item", [attribute("code", kind)], indexes: [IndexDescription(["code"], isUnique: unique)])
      ])
    }
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, schema(false, .int64)).context()
      for code in 0..<20 { try context.make("Item", ["code": .int(Int64(code))]) }
      try context.save()
      context.end()
    }
    try takeStage(
      store,
      to: schema(true, .int64),
      .init(chunkByteCount: 300),
      .forEach("Item", inBatchesOf: 3) { batch in
        for item in batch.objects {
          let code: Int = try item.value("code") ?? 0
          try batch.successor(of: item)?.set("code", to: 19 - code)
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, schema(true, .int64)).context()
    #expect(try context.values("Item", "code") == (0..<20).map { .int(19 - $0) })
    #expect(try context.numbers("Item", "code == 5") == [15])
    context.end()
  }

  // MARK: Records of earlier layouts

  @Test func queriesOfRecordsOfEarlierLayouts() throws {
    let store = try Store.inMemory()
    let first = [
      attribute("s1", .string), attribute("n1", .int16, optional: true),
      attribute("s2", .string, optional: true),
    ]
    let second = [
      attribute("d0", .string, default: .string("dd")), attribute("s2", .string, optional: true),
      attribute("n2", .decimal, default: .decimal(3)), attribute("n1", .int64, default: .int(-5)),
      attribute("s0", .string, optional: true), attribute("s1", .string),
      attribute("u", .uuid, optional: true),
    ]
    do {
      let context = try openStaged(store, Schema(entities: [entity("E", first)])).context()
      for n in 0..<50 {
        let record = try context.make("E", ["s1": .string("v\(n % 7)")])
        if n % 3 != 0 { try record.set("n1", to: n) }
        if n % 4 != 0 { try record.set("s2", to: String(repeating: "z", count: n)) }
      }
      try context.save()
      context.end()
    }
    let schema = try Schema(entities: [
      entity("E", second, indexes: [IndexDescription(["s1", "n1"]), IndexDescription(["d0"])])
    ])
    let context = try openStaged(store, schema).context()
    defer { context.end() }
    let all = try context.fetch(DynamicQuery("E")).map { record in try second.map { try record[$0.name] } }
    let conditions = [
      "n1 == -5", "n1 > 10", "s2 == nil", "s2 BEGINSWITH 'zzzz'", "s1 == 'v3' AND n1 == -5", "d0 == 'dd'",
      "n2 == 3 AND s2 != nil",
      "u == nil AND s0 == nil", "s1 == 'v2' AND s2.length > 5", "n1 IN {1, 2, -5} AND d0 == 'dd'",
    ]
    for condition in conditions {
      guard let tree = try? PredicateTree(format: condition) else { continue }
      for key in [nil, "s2", "s1", "n1", "s0"] as [String?] {
        guard
          let found = try? context.fetch(
            DynamicQuery(
              "E",
              where: tree,
              sort: key.map { [DynamicQuery.SortKey($0)] } ?? []
            )
          )
        else { continue }
        for record in found {
          let number = Int(record.objectID.number.rawValue) - 1
          #expect(try second.map { try record[$0.name] } == all[number], "\(condition) \(key ?? "-")")
        }
        #expect(try context.count(DynamicQuery("E", where: tree)) == found.count)
      }
    }
    #expect(try context.numbers("E", "n1 == -5").count == 17)
    #expect(all.map { $0[0] } == Array(repeating: .string("dd"), count: 50))
  }
}
