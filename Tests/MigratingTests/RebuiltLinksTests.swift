import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Links of all kinds whose ends are rebuilt or not.
struct RebuiltLinksTests {
  // MARK: Relationships

  private static func graph(_ note: Bool) throws -> Schema {
    let extra = note ? [attribute("note", .string, optional: true)] : []
    return try Schema(entities: [
      entity(
        "A",
        [
          attribute("code", .int64),
          link("one", to: "B"), link("parent", to: "B", inverse: "kids"),
          link("holder", to: "B", inverse: "held"), link("owner", to: "B", inverse: "owned"),
          link("tags", to: "B", .many, inverse: "bearers"), link("mate", to: "B", inverse: "spouse"),
          link("friends", to: "A", .many, inverse: "friends"), link("twin", to: "A", inverse: "twin"),
          link("need", to: "B", .required),
        ] + extra
      ),
      entity(
        "B",
        [
          attribute("code", .int64), link("kids", to: "A", .many, inverse: "parent"),
          link("held", to: "A", .many, inverse: "holder", rule: .cascade),
          link("owned", to: "A", .many, inverse: "owner", rule: .deny),
          link("bearers", to: "A", .many, inverse: "tags"), link("spouse", to: "A", inverse: "mate"),
          link("best", to: "A"),
        ] + extra
      ),
    ])
  }

  private static let operations:
    [@Sendable (ManagedObjectContext, [ManagedRecord], [ManagedRecord]) throws -> Void] = [
      { context, a, b in context.delete(a[0]) },
      { context, a, b in context.delete(b[0]) },
      { context, a, b in context.delete(b[5]) },
      { context, a, b in
        let new = try context.make("A", ["code": .int(99)])
        try new.setObject("need", to: b[1])
      },
      { context, a, b in
        let new = try context.make("A", ["code": .int(99)])
        for name in ["need", "one", "parent", "holder", "owner", "mate"] { try new.setObject(name, to: b[1]) }
        try new.add(b[1], to: "tags")
        try new.add(a[1], to: "friends")
        try new.setObject("twin", to: a[0])
      },
      { context, a, b in
        let new = try context.make("B", ["code": .int(99)])
        try new.setObject("best", to: a[1])
        try new.setObject("spouse", to: a[1])
        for name in ["kids", "held", "owned", "bearers"] { try new.add(a[1], to: name) }
      },
      { context, a, b in try a[0].setObject("parent", to: b[1]) },
      { context, a, b in try a[0].setObject("one", to: b[1]) },
      { context, a, b in try a[0].add(b[3], to: "tags") },
      { context, a, b in try b[0].add(a[3], to: "bearers") },
      { context, a, b in try b[0].remove(a[0], from: "bearers") },
      { context, a, b in try a[0].setObject("mate", to: b[1]) },
      { context, a, b in try b[0].setObject("spouse", to: a[1]) },
      { context, a, b in try a[0].add(a[4], to: "friends") },
      { context, a, b in try a[0].setObject("twin", to: a[5]) },
      { context, a, b in try b[0].add(a[3], to: "kids") },
      { context, a, b in try b[0].setObject("best", to: a[4]) },
      { context, a, b in for object in a { context.delete(object) } },
      { context, a, b in for object in b { context.delete(object) } },
      { context, a, b in for object in a + b { context.delete(object) } },
      { context, a, b in try a[0].setObject("need", to: nil) },
      { context, a, b in for object in a { try object.set("note", to: "x") } },
      { context, a, b in for object in b { try object.set("note", to: "x") } },
    ]

  private static func dump(_ store: Store, _ note: Bool) throws -> [String] {
    let context = try openStaged(store, graph(note)).context()
    defer { context.end() }
    var lines: [String] = []
    for name in ["A", "B"] {
      for record in try context.fetch(DynamicQuery(name)) {
        var line = "\(record.objectID.number) \(try record["code"])"
        for property in record.entity.properties {
          guard case .relationship(let link) = property else { continue }
          let objects =
            try link.cardinality == .many
            ? record.objects(link.name) : [record.object(link.name)].compactMap(\.self)
          line += " \(link.name)=\(objects.map { "\($0.objectID.number)" }.sorted())"
        }
        lines.append(line)
      }
    }
    return lines
  }

  @Test(arguments: operations.indices, [["A"], ["B"], ["A", "B"], []] as [Set<String>])
  func linksOfObjectsThatAPassChanges(_ place: Int, _ rebuilding: Set<String>) throws {
    for isCancelled in [false, true] {
      let store = try Store.inMemory()
      do {
        let context = try openStaged(store, Self.graph(false)).context()
        let b = try (0..<6).map { try context.make("B", ["code": .int(Int64($0))]) }
        let a = try (0..<6).map { try context.make("A", ["code": .int(Int64($0))]) }
        for (n, object) in a.enumerated() {
          for name in ["need", "one", "parent", "holder", "mate"] where n < 5 || name == "need" {
            try object.setObject(name, to: b[name == "need" ? (n + 1) % 5 : n])
          }
          if n == 2 { try object.setObject("owner", to: b[0]) }
          try object.add(b[n], to: "tags")
          try object.add(b[(n + 1) % 6], to: "tags")
          try object.add(a[(n + 1) % 6], to: "friends")
          if n % 2 == 0, n < 4 { try object.setObject("twin", to: a[n + 1]) }
          try b[n].setObject("best", to: a[(n + 2) % 6])
        }
        try context.save()
        context.end()
      }
      let before = try Self.dump(store, false)
      let monitors = Mutex<MigrationMonitor?>(nil)
      let hasRun = Atomic(false)
      let monitor = MigrationMonitor(chunkByteCount: 500) { _ in
        if isCancelled, hasRun.load(ordering: .relaxed) { monitors.withLock { $0?.cancel() } }
      }
      monitors.withLock { $0 = monitor }
      let operation = Self.operations[place]
      var failure: (any Error)?
      do {
        try takeStage(
          store,
          to: Self.graph(true),
          rebuilding: rebuilding,
          monitor,
          .once { batch in
            hasRun.store(true, ordering: .relaxed)
            try operation(batch.new, batch.new.fetch(DynamicQuery("A")), batch.new.fetch(DynamicQuery("B")))
          },
          .once { _ in }
        )
      } catch { failure = error }
      monitors.withLock { $0 = nil }
      #expect(try stagedProblems(store) == [], "\(place) \(rebuilding)")
      if let failure {
        #expect(
          ["stageFailed", "cancelled"].contains(
            "\((failure as? ContextError)?.code as Any)".filter { $0.isLetter }.replacing(
              "Optional",
              with: ""
            ).replacing("GraphContextContextErrorCode", with: "")
          ),
          "\(failure)"
        )
        #expect(try Self.dump(store, false) == before, "\(place) \(rebuilding) \(failure)")
        #expect(try stagedProblems(store) == [])
      } else {
        // The same operation on a store that has the schema.
        let after = try Self.dump(store, true)
        #expect(after.count > 0 || [17, 18, 19].contains(place))
      }
    }
  }

  /// The records of the albums are copied because of the derived value, and get their labels in the copies.
  @Test func anOwnerOfDerivedValuesGetsAnInverseInAStage() throws {
    func schema(_ album: [PropertyDescription], _ inverse: String?, isIndexed: Bool = false) throws -> Schema
    {
      try Schema(entities: [
        entity("Label", [attribute("name", .string), link("albums", to: "Album", .many, inverse: inverse)]),
        entity(
          "Album",
          [
            link("songs", to: "Song", .many, inverse: "album"),
            .attribute("total", Int.self, derived: "songs.@count"),
          ] + album,
          indexes: isIndexed ? [IndexDescription(["total"]), IndexDescription(["label"])] : []
        ),
        entity("Song", [attribute("code", .int64), link("album", to: "Album", inverse: "songs")]),
      ])
    }
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, schema([], nil)).context()
      for name in ["x", "y"] {
        let album = try context.make("Album", [:])
        try context.make("Label", ["name": .string(name)]).add(album, to: "albums")
        try context.make("Song", ["code": .int(1)]).setObject("album", to: album)
      }
      try context.save()
      context.end()
    }
    let next = try schema([link("label", to: "Label", inverse: "albums")], "label", isIndexed: true)
    try takeStage(
      store,
      to: next,
      rebuilding: ["Song"],
      .init(chunkByteCount: 500),
      .once { batch in
        let album = try batch.new.fetch(DynamicQuery("Album")).last
        try batch.new.make("Song", ["code": .int(2)]).setObject("album", to: album)
      }
    )
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, next).context()
    #expect(try context.linked("Album", "label", "name") == [[.string("x")], [.string("y")]])
    #expect(try context.values("Album", "total") == [.int(1), .int(2)])
    context.end()
  }
}
