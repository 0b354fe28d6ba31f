import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Stages that make a hierarchy of entities, take one apart, or arrange it in another way.
struct RearrangedClassTests {
  // MARK: Entities become classes

  @Test func entitiesBecomeClassesOfANewParent() throws {
    let store = try Store.inMemory()
    try Rearranging.fillApart(store)
    try Rearranging.takeWholeStage(store)
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, Rearranging.together()).context()
    defer { context.end() }
    #expect(
      Set(try context.texts("Media", "title"))
        == Rearranging.titles("album").union(Rearranging.titles("book"))
    )
    #expect(Set(try context.texts("Album", "title")) == Rearranging.titles("album"))
    #expect(try context.values("Album", "tracks").count == Int(Rearranging.count))
    #expect(Set(try context.values("Book", "pages")) == Set((0..<Rearranging.count).map { .int(100 + $0) }))
    for (number, titles) in try context.linked("List", "items", "title").enumerated() {
      let expected = (0..<Rearranging.count).filter { Int($0) % 3 == number }.map {
        AttributeValue.string("album \($0)")
      }
      #expect(Set(titles) == Set(expected))
    }
    // An object that comes later has a number of its own.
    for name in ["Album", "Book"] {
      try context.make(name, ["title": .string("new"), name == "Album" ? "tracks" : "pages": .int(1)])
    }
    try context.save()
    #expect(try context.values("Media", "title").count == Int(2 * Rearranging.count + 2))
    #expect(try stagedProblems(store) == [])
  }

  @Test func aHierarchyThatGoesOnGetsAnEntityAsAClass() throws {
    let store = try Store.inMemory()
    let before = try Schema(entities: [
      EntityDescription(
        name: "Media",
        properties: [attribute("title", .string), attribute("pages", .int64, optional: true)],
        classes: [
          ClassDescription(name: "Media", properties: ["title"]),
          ClassDescription(name: "Book", parent: "Media", properties: ["pages"], required: ["pages"]),
        ]
      ),
      entity("Film", [attribute("title", .string), attribute("minutes", .int64)]),
    ])
    let after = try Schema(entities: [
      EntityDescription(
        name: "Media",
        properties: [
          attribute("title", .string), attribute("pages", .int64, optional: true),
          attribute("minutes", .int64, optional: true),
        ],
        classes: [
          ClassDescription(name: "Media", properties: ["title"]),
          ClassDescription(name: "Book", parent: "Media", properties: ["pages"], required: ["pages"]),
          ClassDescription(name: "Film", parent: "Media", properties: ["minutes"], required: ["minutes"]),
        ]
      )
    ])
    do {
      let context = try openStaged(store, before).context()
      try context.make("Book", ["title": .string("Emma"), "pages": .int(400)])
      // More objects than the numbers that media have leased.
      for minutes in 0..<Int64(1_100) {
        try context.make("Film", ["title": .string("Ran"), "minutes": .int(minutes)])
      }
      try context.save()
      context.end()
    }
    #expect(throws: ContextError.self) { try takeStage(store, to: after, .init(), .once { _ in }) }
    try takeStage(store, to: after, makingAnew: ["Film"], .init(), .forEach("Film", Rearranging.make))
    #expect(try stagedProblems(store) == [])
    do {
      let context = try openStaged(store, after).context()
      #expect(try context.values("Film", "minutes") == (0..<1_100).map { .int($0) })
      for _ in 0..<200 { try context.make("Film", ["title": .string("Ikiru"), "minutes": .int(143)]) }
      try context.save()
      #expect(try context.values("Film", "minutes").count == 1_300)
      #expect(try context.values("Book", "pages") == [.int(400)])
      #expect(Set(try context.texts("Media", "title")) == ["Emma", "Ran", "Ikiru"])
      #expect(try stagedProblems(store) == [])
      context.end()
    }
    // A later stage tells the objects apart as well.
    try takeStage(
      store,
      to: before,
      at: Schema.Version(3),
      makingAnew: ["Media", "Film"],
      .init(),
      .forEach("Media") { batch in
        for object in batch.objects {
          let book = try batch.makeSuccessor(of: object, as: "Book")
          try book.set("pages", to: try object[object.className == "Film" ? "minutes" : "pages"])
          guard try batch.successor(of: object, as: "Book") === book else { throw StopsStage() }
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let last = try openStaged(store, before).context()
    defer { last.end() }
    #expect(try last.values("Book", "pages").count == 1_301)
  }

  // MARK: Classes become entities

  @Test func aHierarchyIsTakenApart() throws {
    let store = try Store.inMemory()
    try Rearranging.fillTogether(store)
    try takeStage(
      store,
      to: Rearranging.apart(tracks: .int64),
      makingAnew: ["Album", "Book"],
      .init(chunkByteCount: 500),
      .forEach("Media", inBatchesOf: 4, Rearranging.make),
      .once { batch in
        for list in try batch.old.fetch(DynamicQuery("List")) {
          let albums = try list.objects("items").filter { $0.className == "Album" }
          try batch.successor(of: list)?
            .addAll(to: "items", try albums.compactMap { try batch.successor(of: $0) })
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, Rearranging.apart(tracks: .int64)).context()
    defer { context.end() }
    #expect(
      try context.texts("Album", "title").compactMap(Int.init).sorted()
        == stride(from: 0, to: 30, by: 2).map(\.self)
    )
    #expect(
      try context.texts("Book", "title").compactMap(Int.init).sorted()
        == stride(from: 1, to: 30, by: 2).map(\.self)
    )
    #expect(try context.linked("List", "items", "title").first?.count == 15)
  }

  /// Without a stage, the objects would be lost.
  @Test func aClassThatBecomesAnEntityIsRefused() async throws {
    let store = try ChangingStore()
    let root = EntityDescription(
      name: "Media",
      properties: [attribute("title", .string)],
      classes: [
        ClassDescription(name: "Media", isAbstract: true, properties: ["title"]),
        ClassDescription(name: "Album", parent: "Media"),
      ]
    )
    try await store.open(root) { context throws in try context.make("Album", ["title": .string("x")]) }
    for album in [
      entity("Album", [attribute("title", .string)]),
      entity("Record", was: "Album", [attribute("title", .string)]),
    ] {
      let error = try await store.refusal(of: album)
      #expect(error.code == .schemaMismatch)
      #expect(error.refusal?.obstacles.map(\.entity) == [album.name])
      #expect(error.refusal?.description.contains("Album is a subclass of Media in the store") == true)
    }
    try await store.open(root) { context throws in
      #expect(try context.texts("Album", "title") == ["x"])
    }
  }

  @Test func aClassThatMovesToAnotherHierarchyIsRefused() async throws {
    let store = try ChangingStore()
    func hierarchy(_ root: String, _ members: (name: String, was: String?)...) -> EntityDescription {
      EntityDescription(
        name: root,
        properties: [attribute("title", .string)],
        classes: [ClassDescription(name: root, properties: ["title"])]
          + members.map { ClassDescription(name: $0.name, parent: root, originalName: $0.was) }
      )
    }
    try await store.open(hierarchy("Media", ("Album", nil), ("Book", nil))) { context throws in
      try context.make("Album", ["title": .string("x")])
    }
    let wrong = [
      [hierarchy("Thing", ("Album", nil))], [hierarchy("Thing", ("Record", "Album"))],
      [hierarchy("Thing", ("Record", "Album")), entity("Album", [attribute("title", .string)])],
    ]
    for entities in wrong {
      let error = try await store.refusal(of: entities)
      #expect(error.code == .schemaMismatch)
      #expect(error.refusal?.description.contains("Album is a subclass of Media in the store") == true)
    }
    // The class continues under another name, so its old name may be used again.
    try await store.open(
      hierarchy("Media", ("Record", "Album"), ("Book", nil)),
      entity("Album", [attribute("title", .string)])
    ) { context throws in
      #expect(try context.texts("Record", "title") == ["x"])
    }
  }

  /// Only a whole hierarchy can be made anew, or a class that the hierarchy doesn't have.
  @Test func aClassThatGoesOnIsNotMadeAnew() throws {
    let store = try Store.inMemory()
    try Rearranging.fillTogether(store)
    let error = #expect(throws: ContextError.self) {
      try takeStage(store, to: Rearranging.together(), makingAnew: ["Album"], .init(), .once { _ in })
    }
    #expect(error?.refusal?.description.contains("only the whole of Media can be made anew") == true)
  }

  // MARK: Classes in other places

  @Test func aClassGoesAndItsObjectsAreOfAnother() throws {
    let store = try Store.inMemory()
    try Rearranging.fillTogether(store)
    let after = try Rearranging.together(
      Array(Rearranging.classes.prefix(2)),
      properties: [attribute("tracks", .int64, optional: true)]
    )
    try takeStage(
      store,
      to: after,
      makingAnew: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Media", inBatchesOf: 4) { batch in
        for object in batch.objects {
          let album = try batch.makeSuccessor(of: object, as: "Album")
          if object.className == "Book" { try album.set("tracks", to: try object["pages"]) }
        }
      },
      .forEach("List") { batch in
        for list in batch.objects {
          let items = try list.objects("items").compactMap { try batch.successor(of: $0, as: "Album") }
          try batch.successor(of: list)?.addAll(to: "items", items)
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, after).context()
    defer { context.end() }
    #expect(Set(try context.values("Album", "tracks")) == Set((0..<Rearranging.count).map { .int($0) }))
    #expect(try context.linked("List", "items", "title").first?.count == Int(Rearranging.count))
  }

  @Test func aClassGetsAnotherSuperclass() throws {
    let store = try Store.inMemory()
    try Rearranging.fillTogether(store)
    let after = try Rearranging.together(
      [
        Rearranging.classes[0],
        ClassDescription(
          name: "Printed",
          parent: "Media",
          isAbstract: true,
          properties: ["pages"],
          required: ["pages"]
        ),
        Rearranging.classes[1],
        ClassDescription(name: "Book", parent: "Printed"),
      ]
    )
    try takeStage(
      store,
      to: after,
      makingAnew: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Media", inBatchesOf: 4, Rearranging.make),
      .forEach("List", Rearranging.relink)
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, after).context()
    defer { context.end() }
    #expect(try context.values("Printed", "pages").count == 15)
    #expect(try context.values("Album", "tracks").count == 15)
    #expect(try context.linked("List", "items", "title").first?.count == Int(Rearranging.count))
  }

  /// An object gets another class within a hierarchy that continues: its copy is deleted first.
  @Test func anObjectChangesItsClass() throws {
    let store = try Store.inMemory()
    try Rearranging.fillTogether(store)
    try takeStage(
      store,
      to: Rearranging.together(),
      rebuilding: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Media", inBatchesOf: 4) { batch in
        for object in batch.objects where object.className == "Book" {
          if let copy = try batch.successor(of: object) { batch.new.delete(copy) }
          try batch.makeSuccessor(of: object, as: "Album").set("tracks", to: Int64(7))
        }
      },
      .forEach("Media") { batch in
        for object in batch.objects where object.className == "Book" {
          guard try batch.successor(of: object)?.className == "Album" else { throw StopsStage() }
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, Rearranging.together()).context()
    defer { context.end() }
    #expect(try context.values("Book", "pages").isEmpty)
    #expect(try context.values("Album", "tracks").filter { $0 == .int(7) }.count == 15)
  }
}
