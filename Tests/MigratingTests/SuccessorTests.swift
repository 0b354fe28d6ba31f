import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// The successors of old objects, and mistakes of passes with them.
struct SuccessorTests {
  @Test func valuesComeAsAnInferredChangeBringsThem() throws {
    let store = try Store.inMemory()
    let before = try Schema(entities: [
      entity(
        "Album",
        [
          attribute("rating", .int64, optional: true), attribute("size.width", .int32),
          attribute("size.depth", .int32, optional: true),
          .attribute(AttributeDescription(name: "years", kind: .coded, elementKind: .int32)),
        ]
      )
    ])
    let after = try Schema(entities: [
      entity(
        "Record",
        [
          attribute("rating", .int64, default: .int(3)), attribute("size", .bool, optional: true),
          attribute("size.width", .int64, optional: true), attribute("size.depth", .int32, optional: true),
          .attribute(AttributeDescription(name: "years", kind: .coded, elementKind: .int64)),
        ]
      )
    ])
    do {
      let context = try openStaged(store, before).context()
      try context.make(
        "Album",
        ["rating": .null, "size.width": .int(4), "size.depth": .null, "years": .string("[1970,1971]")]
      )
      try context.save()
      context.end()
    }
    try takeStage(
      store,
      to: after,
      makingAnew: ["Record"],
      .init(),
      .forEach("Album") { batch in
        for album in batch.objects {
          let record = try batch.makeSuccessor(of: album, as: "Record")
          // A required property is nil until the pass sets it.
          try record.set("rating", to: try album["rating"].isNull ? .int(3) : album["rating"])
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, after).context()
    defer { context.end() }
    let record = try #require(try context.fetch(DynamicQuery("Record")).first)
    #expect(try record["rating"] == .int(3))
    #expect(try record["size"] == .bool(true))
    #expect(try record["size.width"] == .int(4))
    #expect(try record["size.depth"] == .null)
    #expect(try record["years"] == .string("[1970,1971]"))
  }

  /// If the albums are made anew, the positions of their tracks are assigned anew as well.
  @Test func ordersAreMadeAnew() throws {
    func schema(_ album: String) throws -> Schema {
      var tracks = RelationshipDescription(
        name: "tracks",
        destination: "Track",
        cardinality: .many,
        inverse: "album"
      )
      tracks.isOrdered = true
      var back = RelationshipDescription(
        name: "album",
        destination: album,
        cardinality: .optional,
        inverse: "tracks"
      )
      back.isOrdered = true
      let classes = [
        ClassDescription(name: album, properties: ["title", "tracks"]),
        ClassDescription(name: "Sampler", parent: album),
      ]
      return try Schema(entities: [
        EntityDescription(
          name: album,
          properties: [attribute("title", .string), .relationship(tracks)],
          classes: album == "Album" ? [] : classes
        ),
        entity("Track", [attribute("title", .string), .relationship(back)]),
      ])
    }
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, schema("Album")).context()
      let album = try context.make("Album", ["title": .string("Blue")])
      for number in [3, 1, 4, 1, 5] {
        try album.add(context.make("Track", ["title": .string("\(number)")]), to: "tracks")
      }
      try context.make("Track", ["title": .string("single")])
      try context.save()
      context.end()
    }
    let after = try schema("Disc")
    try takeStage(
      store,
      to: after,
      makingAnew: ["Disc"],
      .init(chunkByteCount: 500),
      .forEach("Album") { batch in
        for album in batch.objects { try batch.makeSuccessor(of: album, as: "Sampler") }
      },
      .forEach("Album") { batch in
        for album in batch.objects {
          let disc = try #require(try batch.successor(of: album, as: "Sampler"))
          for track in try album.objects("tracks").dropLast() {
            try disc.add(try #require(try batch.successor(of: track)), to: "tracks")
          }
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, after).context()
    defer { context.end() }
    let disc = try #require(try context.fetch(DynamicQuery("Sampler")).first)
    #expect(try disc.objects("tracks").map { try $0["title"] } == ["3", "1", "4", "1"].map { .string($0) })
  }

  // MARK: Mistakes

  @Test func entitiesBecomeOneClass() throws {
    let store = try Store.inMemory()
    try Rearranging.fillApart(store)
    try takeStage(
      store,
      to: Rearranging.together(),
      makingAnew: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Album", inBatchesOf: 7, Rearranging.make),
      .forEach("Book", inBatchesOf: 7) { batch in
        for (place, book) in batch.objects.enumerated() where place % 2 == 0 {
          try batch.makeSuccessor(of: book, as: "Album").set("tracks", to: Int64(-1))
        }
      },
      .forEach("Book") { batch in
        for (place, book) in batch.objects.enumerated() {
          let title = try batch.successor(of: book, as: "Album")?["title"]
          let isThere = place % 7 % 2 == 0
          guard title == (isThere ? try book["title"] : nil) else { throw StopsStage() }
        }
      },
      .forEach("List", Rearranging.relink)
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, Rearranging.together()).context()
    defer { context.end() }
    #expect(Set(try context.texts("Album", "title")).isSuperset(of: Rearranging.titles("album")))
    #expect(try context.values("Album", "tracks").filter { $0 == .int(-1) }.count == 17)
  }

  /// In the same class or another one of the entity.
  @Test(arguments: ["Album", "Book"]) func anObjectHasOneSuccessor(className: String) throws {
    let store = try Store.inMemory()
    try Rearranging.fillApart(store)
    let error = #expect(throws: ContextError.self) {
      try takeStage(
        store,
        to: Rearranging.together(),
        makingAnew: ["Media"],
        .init(chunkByteCount: 500),
        .forEach("Album", Rearranging.make),
        .forEach("Album") { batch in
          for album in batch.objects { try batch.makeSuccessor(of: album, as: className) }
        }
      )
    }
    #expect(error?.code == .stageFailed)
    #expect((error?.underlyingError as? ContextError)?.code == .notUnique)
    let context = try openStaged(store, Rearranging.apart()).context()
    defer { context.end() }
    #expect(Set(try context.texts("Book", "title")) == Rearranging.titles("book"))
    #expect(try stagedProblems(store) == [])
  }

  /// Objects of an entity that is not made anew have their own numbers. One of them may be equal to the number of an
  /// old object.
  @Test func anEntityThatIsNotMadeAnewHasNoSuccessors() throws {
    let store = try Store.inMemory()
    try Rearranging.fillApart(store)
    let error = #expect(throws: ContextError.self) {
      try takeStage(
        store,
        to: Rearranging.apart(),
        .init(chunkByteCount: 500),
        .forEach("Album") { batch in
          for album in batch.objects { try batch.makeSuccessor(of: album, as: "Book") }
        }
      )
    }
    #expect((error?.underlyingError as? ContextError)?.code == .saveNotAllowed)
  }

  @Test func namesThatTheNewSchemaLacksAreMistakes() throws {
    let store = try Store.inMemory()
    try Rearranging.fillApart(store)
    for name in ["Vinyl", "Media"] {
      let error = #expect(throws: ContextError.self) {
        try takeStage(
          store,
          to: Rearranging.together(),
          makingAnew: ["Media"],
          .init(chunkByteCount: 500),
          .forEach("Album") { batch in
            for album in batch.objects { try batch.makeSuccessor(of: album, as: name) }
          }
        )
      }
      let code = (error?.underlyingError as? ContextError)?.code
      #expect(code == (name == "Vinyl" ? .unknownEntity : .abstractClass))
    }
    let plan = MigrationPlan(
      documents: [SchemaDocument(try Rearranging.apart()), SchemaDocument(try Rearranging.together())],
      stages: [
        .custom(from: Schema.Version(1), to: Schema.Version(2), makingAnew: ["Vinyl", "Album"])
      ]
    )
    let error = #expect(throws: ContextError.self) { try plan.check() }
    #expect(error?.message.contains("makes Vinyl anew, which version") == true)
  }

  // MARK: Interruptions

  /// After some calls to the disk, the store has one of the two graphs, whole, and the stage can continue to its end.
  @Test func aFailureOfThePowerLeavesOneOfTheGraphs() throws {
    var generator = SeededGenerator()
    let disk = SimulatedDisk()
    do {
      let store = try stagedStore(disk)
      try Rearranging.fillApart(store)
      try store.close()
    }
    let points = Mutex<[CrashPoint]>([])
    let store = try stagedStore(disk)
    disk.observe { _, point in points.withLock { $0.append(point) } }
    try Rearranging.takeWholeStage(store)
    disk.observe(nil)
    var versions: Set<String> = []
    let taken = points.withLock(\.self)
    for point in taken.enumerated().filter({ $0.offset % max(1, taken.count / 40) == 0 }).map(\.element) {
      let damaged = SimulatedDisk(point.image(generator.pick(Damage.allCases), seed: generator.next()))
      let reopened = try stagedStore(damaged)
      let version = try SchemaTree.schema(in: reopened.snapshot())?.version?.description ?? "-"
      versions.insert(version)
      #expect(try stagedProblems(reopened) == [])
      if version == "-" { try Rearranging.takeWholeStage(reopened) }
      #expect(try stagedProblems(reopened) == [])
      let context = try openStaged(reopened, Rearranging.together()).context()
      defer { context.end() }
      #expect(
        Set(try context.texts("Media", "title"))
          == Rearranging.titles("album").union(Rearranging.titles("book"))
      )
      #expect(
        try context.linked("List", "items", "title").map(\.count).reduce(0, +) == Int(Rearranging.count)
      )
    }
    #expect(versions == ["-", "2.0.0"])
  }
}
