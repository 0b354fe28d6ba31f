import Foundation
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Stages that make a hierarchy of entities, take one apart, or arrange it in another way.
struct RearrangedClassTests {
  private static let count: Int64 = 30

  /// Albums and books are entities, and lists lead to albums.
  static func apart(tracks: AttributeKind = .int32) throws -> Schema {
    try Schema(entities: [
      entity(
        "Album",
        [
          attribute("title", .string), attribute("tracks", tracks),
          attribute("note", .string, optional: true),
          link("lists", to: "List", .many, inverse: "items"),
        ],
        indexes: [IndexDescription(["title"])]
      ),
      entity("Book", [attribute("title", .string), attribute("pages", .int64)]),
      entity("List", [attribute("name", .string), link("items", to: "Album", .many, inverse: "lists")]),
    ])
  }

  /// Both are media, and lists lead to any.
  static func together(
    _ classes: [ClassDescription] = Self.classes,
    properties: [PropertyDescription] = [
      attribute("tracks", .int64, optional: true), attribute("pages", .int64, optional: true),
    ]
  ) throws -> Schema {
    try Schema(entities: [
      EntityDescription(
        name: "Media",
        properties: [attribute("title", .string)] + properties + [
          link("lists", to: "List", .many, inverse: "items")
        ],
        indexes: [IndexDescription(["title"])],
        classes: classes
      ),
      entity("List", [attribute("name", .string), link("items", to: "Media", .many, inverse: "lists")]),
    ])
  }

  static let classes = [
    ClassDescription(name: "Media", isAbstract: true, properties: ["title", "lists"]),
    ClassDescription(name: "Album", parent: "Media", properties: ["tracks"], required: ["tracks"]),
    ClassDescription(name: "Book", parent: "Media", properties: ["pages"], required: ["pages"]),
  ]

  private func fillApart(_ store: Store) throws {
    let context = try openStaged(store, Self.apart()).context()
    let lists = try (0..<3).map { try context.make("List", ["name": .string("list \($0)")]) }
    for number in 0..<Self.count {
      let title = AttributeValue.string("album \(number)")
      let album = try context.make("Album", ["title": title, "tracks": .int(number)])
      try context.make("Book", ["title": .string("book \(number)"), "pages": .int(100 + number)])
      try album.addAll(to: "lists", [lists[Int(number) % 3]])
    }
    try context.save()
    context.end()
  }

  private func fillTogether(_ store: Store) throws {
    let context = try openStaged(store, Self.together()).context()
    let list = try context.make("List", ["name": .string("all")])
    for number in 0..<Self.count {
      let isAlbum = number % 2 == 0
      let medium = try context.make(
        isAlbum ? "Album" : "Book",
        ["title": .string("\(number)"), isAlbum ? "tracks" : "pages": .int(number)]
      )
      try medium.addAll(to: "lists", [list])
    }
    try context.save()
    context.end()
  }

  @Sendable static func make(_ batch: MigrationBatch) throws {
    for object in batch.objects { try batch.makeSuccessor(of: object) }
  }

  @Sendable static func relink(_ batch: MigrationBatch) throws {
    for list in batch.objects {
      let items = try list.objects("items").compactMap { try batch.successor(of: $0) }
      try batch.successor(of: list)?.addAll(to: "items", items)
    }
  }

  private static func titles(_ kind: String) -> Set<String> {
    Set((0..<count).map { "\(kind) \($0)" })
  }

  // MARK: Entities become classes

  @Test func entitiesBecomeClassesOfANewParent() throws {
    let store = try Store.inMemory()
    try fillApart(store)
    try takeWholeStage(store)
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, Self.together()).context()
    defer { context.end() }
    #expect(Set(try context.texts("Media", "title")) == Self.titles("album").union(Self.titles("book")))
    #expect(Set(try context.texts("Album", "title")) == Self.titles("album"))
    #expect(try context.values("Album", "tracks").count == Int(Self.count))
    #expect(Set(try context.values("Book", "pages")) == Set((0..<Self.count).map { .int(100 + $0) }))
    for (number, titles) in try context.linked("List", "items", "title").enumerated() {
      let expected = (0..<Self.count).filter { Int($0) % 3 == number }.map {
        AttributeValue.string("album \($0)")
      }
      #expect(Set(titles) == Set(expected))
    }
    // An object that comes later has a number of its own.
    for name in ["Album", "Book"] {
      try context.make(name, ["title": .string("new"), name == "Album" ? "tracks" : "pages": .int(1)])
    }
    try context.save()
    #expect(try context.values("Media", "title").count == Int(2 * Self.count + 2))
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
      // More than the numbers that media have leased.
      for minutes in 0..<Int64(1_100) {
        try context.make("Film", ["title": .string("Ran"), "minutes": .int(minutes)])
      }
      try context.save()
      context.end()
    }
    #expect(throws: ContextError.self) { try takeStage(store, to: after, .init(), .once { _ in }) }
    try takeStage(store, to: after, makingAnew: ["Film"], .init(), .forEach("Film", Self.make))
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, after).context()
    defer { context.end() }
    #expect(try context.values("Film", "minutes") == (0..<1_100).map { .int($0) })
    for _ in 0..<200 { try context.make("Film", ["title": .string("Ikiru"), "minutes": .int(143)]) }
    try context.save()
    #expect(try context.values("Film", "minutes").count == 1_300)
    #expect(try context.values("Book", "pages") == [.int(400)])
    #expect(Set(try context.texts("Media", "title")) == ["Emma", "Ran", "Ikiru"])
    #expect(try stagedProblems(store) == [])
  }

  // MARK: Classes become entities

  @Test func aHierarchyIsTakenApart() throws {
    let store = try Store.inMemory()
    try fillTogether(store)
    try takeStage(
      store,
      to: Self.apart(tracks: .int64),
      makingAnew: ["Album", "Book"],
      .init(chunkByteCount: 500),
      .forEach("Media", inBatchesOf: 4, Self.make),
      .once { batch in
        for list in try batch.old.fetch(DynamicQuery("List")) {
          let albums = try list.objects("items").filter { $0.className == "Album" }
          try batch.successor(of: list)?
            .addAll(to: "items", try albums.compactMap { try batch.successor(of: $0) })
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, Self.apart(tracks: .int64)).context()
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

  /// Without a stage the objects would be gone.
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

  // MARK: Classes in other places

  @Test func aClassGoesAndItsObjectsAreOfAnother() throws {
    let store = try Store.inMemory()
    try fillTogether(store)
    let after = try Self.together(
      Array(Self.classes.prefix(2)),
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
    #expect(Set(try context.values("Album", "tracks")) == Set((0..<Self.count).map { .int($0) }))
    #expect(try context.linked("List", "items", "title").first?.count == Int(Self.count))
  }

  @Test func aClassGetsAnotherSuperclass() throws {
    let store = try Store.inMemory()
    try fillTogether(store)
    let after = try Self.together(
      [
        Self.classes[0],
        ClassDescription(
          name: "Printed",
          parent: "Media",
          isAbstract: true,
          properties: ["pages"],
          required: ["pages"]
        ),
        Self.classes[1],
        ClassDescription(name: "Book", parent: "Printed"),
      ]
    )
    try takeStage(
      store,
      to: after,
      makingAnew: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Media", inBatchesOf: 4, Self.make),
      .forEach("List", Self.relink)
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, after).context()
    defer { context.end() }
    #expect(try context.values("Printed", "pages").count == 15)
    #expect(try context.values("Album", "tracks").count == 15)
    #expect(try context.linked("List", "items", "title").first?.count == Int(Self.count))
  }

  /// The class of an object within a hierarchy that goes on: the copy is deleted first.
  @Test func anObjectChangesItsClass() throws {
    let store = try Store.inMemory()
    try fillTogether(store)
    try takeStage(
      store,
      to: Self.together(),
      rebuilding: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Media", inBatchesOf: 4) { batch in
        for object in batch.objects where object.className == "Book" {
          if let copy = try batch.successor(of: object) { batch.new.delete(copy) }
          try batch.makeSuccessor(of: object, as: "Album").set("tracks", to: Int64(7))
        }
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, Self.together()).context()
    defer { context.end() }
    #expect(try context.values("Book", "pages").isEmpty)
    #expect(try context.values("Album", "tracks").filter { $0 == .int(7) }.count == 15)
  }

  // MARK: Mistakes

  @Test func twoObjectsHaveNoSuccessorOfOneNumber() throws {
    let store = try Store.inMemory()
    try fillApart(store)
    let error = #expect(throws: ContextError.self) {
      try takeStage(
        store,
        to: Self.together(),
        makingAnew: ["Media"],
        .init(chunkByteCount: 500),
        .forEach("Album", Self.make),
        .forEach("Book") { batch in
          for book in batch.objects { try batch.makeSuccessor(of: book, as: "Album") }
        }
      )
    }
    #expect(error?.code == .stageFailed)
    #expect((error?.underlyingError as? ContextError)?.code == .notUnique)
    let context = try openStaged(store, Self.apart()).context()
    defer { context.end() }
    #expect(Set(try context.texts("Book", "title")) == Self.titles("book"))
    #expect(try stagedProblems(store) == [])
  }

  /// What is not made anew has numbers of its own, which an old object's may be one of.
  @Test func anEntityThatIsNotMadeAnewHasNoSuccessors() throws {
    let store = try Store.inMemory()
    try fillApart(store)
    let error = #expect(throws: ContextError.self) {
      try takeStage(
        store,
        to: Self.apart(),
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
    try fillApart(store)
    for name in ["Vinyl", "Media"] {
      let error = #expect(throws: ContextError.self) {
        try takeStage(
          store,
          to: Self.together(),
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
      documents: [SchemaDocument(try Self.apart()), SchemaDocument(try Self.together())],
      stages: [
        .custom(from: Schema.Version(1), to: Schema.Version(2), makingAnew: ["Vinyl", "Album"])
      ]
    )
    let error = #expect(throws: ContextError.self) { try plan.check() }
    #expect(error?.message.contains("makes Vinyl anew, which version") == true)
  }

  // MARK: Interruptions

  /// After calls to the disk in between: the store has one of the two graphs, whole, and the stage goes on to its end.
  @Test func aFailureOfThePowerLeavesOneOfTheGraphs() throws {
    var generator = SeededGenerator()
    let disk = SimulatedDisk()
    do {
      let store = try stagedStore(disk)
      try fillApart(store)
      try store.close()
    }
    let points = Mutex<[CrashPoint]>([])
    let store = try stagedStore(disk)
    disk.observe { _, point in points.withLock { $0.append(point) } }
    try takeWholeStage(store)
    disk.observe(nil)
    var versions: Set<String> = []
    let taken = points.withLock(\.self)
    for point in taken.enumerated().filter({ $0.offset % max(1, taken.count / 40) == 0 }).map(\.element) {
      let damaged = SimulatedDisk(point.image(generator.pick(Damage.allCases), seed: generator.next()))
      let reopened = try stagedStore(damaged)
      let version = try SchemaTree.schema(in: reopened.snapshot())?.version?.description ?? "-"
      versions.insert(version)
      #expect(try stagedProblems(reopened) == [])
      if version == "-" { try takeWholeStage(reopened) }
      #expect(try stagedProblems(reopened) == [])
      let context = try openStaged(reopened, Self.together()).context()
      defer { context.end() }
      #expect(Set(try context.texts("Media", "title")) == Self.titles("album").union(Self.titles("book")))
      #expect(try context.linked("List", "items", "title").map(\.count).reduce(0, +) == Int(Self.count))
    }
    #expect(versions == ["-", "2.0.0"])
  }

  private func takeWholeStage(_ store: Store) throws {
    try takeStage(
      store,
      to: Self.together(),
      makingAnew: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Album", inBatchesOf: 7, Self.make),
      .forEach("Book", inBatchesOf: 7, Self.make),
      .forEach("List", inBatchesOf: 2, Self.relink)
    )
  }
}

extension ManagedObjectContext {
  fileprivate func texts(_ entity: String, _ attribute: String) throws -> [String] {
    try values(entity, attribute).compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}

extension ManagedRecord {
  fileprivate func addAll(to relationship: String, _ members: [ManagedRecord]) throws {
    for member in members { try add(member, to: relationship) }
  }
}
