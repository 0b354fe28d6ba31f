import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Catalogues that no version of the library wrote, and catalogues at the limits.
struct HostileCatalogueTests {
  private let name = attribute("name", .string)

  private func catalogue() throws -> CataloguedSchema {
    CataloguedSchema(
      try Schema(entities: [
        entity("Song", [name, link("album", to: "Album", inverse: "songs")]),
        entity("Album", [name, link("songs", to: "Song", .many, inverse: "album")]),
      ])
    )
  }

  private func song(_ schema: CataloguedSchema) -> Int {
    schema.entities.firstIndex { $0.name == "Song" } ?? 0
  }

  /// The list of trees that an interrupted change removes comes from disk. It names one that is in use.
  @Test func aChangeRemovesOnlyWhatItHasReplaced() throws {
    let store = try Store.inMemory()
    try Copying.fill(store)
    let index = IndexDescription(["code"])
    let next = try Schema(entities: [entity("Item", [attribute("code", .int64)], indexes: [index])])
    let cancelled = ContainerOpening(monitor: Reports(chunkByteCount: 200).monitor(cancellingAfter: 1))
    let error = #expect(throws: ContextError.self) { _ = try openStaged(store, next, cancelled) }
    #expect(error?.code == .cancelled)
    var state = try #require(try SchemaTree.migration(in: store.snapshot()))
    state.droppedTrees = state.target.entities.map(\.tree)
    let forged = state
    try store.write { try SchemaTree.store(forged, in: &$0) }
    let container = try openStaged(store, next)
    let count = try container.context().fetch(DynamicQuery("Item")).count
    #expect(count == Copying.count)
    #expect(try container.verify().map(\.description) == [])
  }

  @Test(arguments: 0..<6) func hostileRowsOfAChange(_ seed: Int) async {
    await #expect(processExitsWith: .success) { [seed] in
      for round in 0..<TestEffort.times(15, long: 150) {
        let store = try Store.inMemory()
        try Copying.fill(store)
        let stop = Reports(chunkByteCount: 100).monitor(cancellingAfter: 3)
        let pass = MigrationPass.forEach("Item", inBatchesOf: 5, Copying.copy)
        _ = try? takeStage(store, to: Copying.after(), stop, pass)
        var row = try #require(try store.snapshot().tree(SchemaTree.name).value(for: SchemaTree.migrationKey))
        var state = UInt64(seed * 1_000 + round) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ n: Int) -> Int {
          state ^= state << 13
          state ^= state >> 7
          state ^= state << 17
          return Int(state % UInt64(n))
        }
        for _ in 0..<(1 + next(3)) {
          let digits = row.indices.filter { (48...57).contains(row[$0]) }
          let place = digits[next(digits.count)]
          switch next(4) {
          case 0: row[place] = UInt8(48 + next(10))
          case 1: row.insert(contentsOf: Array("99999999999999999".utf8.prefix(1 + next(17))), at: place)
          case 2: row.insert(UInt8(ascii: "-"), at: place)
          default: row.remove(at: place)
          }
        }
        let bytes = row
        try store.write { try $0.tree(SchemaTree.name).put(SchemaTree.migrationKey, bytes) }
        _ = try? stagedProblems(store)
        let monitor = MigrationMonitor(chunkByteCount: 100)
        monitor.begin(stage: 1 + next(2), of: 2, to: nil)
        if round % 3 == 0 { _ = try? openStaged(store, Copying.before()) }
        _ = try? takeStage(store, to: Copying.after(), monitor, pass)
        _ = try? stagedProblems(store)
        _ = try? openStaged(store, Copying.before())
      }
    }
  }

  @Test func aCatalogueOfTheLibraryIsSound() throws {
    #expect(try catalogue().unsoundness == nil)
  }

  @Test func numbersThatEndAreUnsound() throws {
    for number in [0, 1 << 31 + 1, UInt32.max] as [UInt32] {
      var schema = try catalogue()
      schema.nextNumber = number
      #expect(schema.unsoundness != nil)
    }
  }

  @Test func aDefaultOfAnotherKindIsUnsound() throws {
    for value in [AttributeValue.int(1), .reference(5), .double(0)] {
      for property in 0..<2 {
        var schema = try catalogue()
        schema.entities[song(schema)].properties[property].absentValue = value
        #expect(schema.unsoundness != nil)
      }
    }
    var schema = try catalogue()
    schema.entities[song(schema)].properties[0].absentValue = .string("")
    #expect(schema.unsoundness == nil)
  }

  @Test func whatIsReadForNilIsOfTheKindOfAnAttribute() throws {
    for value in [AttributeValue.int(1), .reference(5), .null] {
      for field in 0..<2 {
        var schema = try catalogue()
        schema.entities[song(schema)].layouts[0].fields[field].nilValue = value
        #expect(schema.unsoundness != nil)
      }
    }
  }

  @Test func moreThanTheLimitsIsUnsound() throws {
    var schema = try catalogue()
    let entity = schema.entities[song(schema)]
    for _ in 0..<SchemaLimits.propertyCount {
      let number: PropertyNumber = schema.takeNumber()
      let property = CataloguedProperty(
        number: number,
        name: "p\(number.rawValue)",
        content: .attribute(.bool, isOptional: true)
      )
      schema.entities[song(schema)].properties.append(property)
    }
    #expect(schema.unsoundness?.contains("properties") == true)
    schema = try catalogue()
    for _ in 0..<SchemaLimits.entityCount {
      let other = CataloguedEntity(
        number: schema.takeNumber(),
        name: "E\(schema.nextNumber)",
        tree: schema.takeTree(.records),
        properties: [],
        indexes: [],
        layouts: [CataloguedLayout(number: 0, fields: [])]
      )
      schema.entities.append(other)
    }
    #expect(schema.unsoundness?.contains("entities") == true)
    #expect(entity.layouts.count == 1)
  }

  @Test func linksThatLeadAstrayAreUnsound() throws {
    let changes: [(inout CataloguedRelationship) -> Void] = [
      { $0.destination = EntityNumber(rawValue: 99) },
      { $0.inverse = PropertyNumber(rawValue: 99) },
      {
        $0.inverse = nil; $0.tree = nil
      },
      { $0.tree = nil },
      { $0.tree = SchemaTree.name },
      { $0.cardinality = .many },
    ]
    for change in changes {
      var schema = try catalogue()
      let place = song(schema)
      var relationship = try #require(schema.entities[place].properties[1].relationship)
      change(&relationship)
      schema.entities[place].properties[1].content = .relationship(relationship)
      #expect(schema.unsoundness != nil)
    }
  }

  // MARK: Limits

  @Test func layoutsThatEndAreRefused() throws {
    var schema = try catalogue()
    let place = song(schema)
    let layout = schema.entities[place].layouts[0]
    schema.entities[place].layouts = (0..<CataloguedEntity.maximumLayoutCount).map {
      CataloguedLayout(number: $0, fields: layout.fields)
    }
    #expect(schema.unsoundness == nil)
    var described = try schema.schema().entities
    #expect(SchemaChange(from: schema, to: try schema.schema()).isEmpty)
    described[described.firstIndex { $0.name == "Song" } ?? 0].properties.append(
      attribute("plays", .int64, optional: true)
    )
    let change = SchemaChange(from: schema, to: try Schema(entities: described))
    #expect(change.obstacles.map(\.entity) == ["Song"])
    #expect(change.obstacles.first?.message.contains("\(CataloguedEntity.maximumLayoutCount)") == true)
  }

  /// Many changes one after the other, each of which makes a layout. Every record is read by its own layout.
  @Test func manyChangesInARow() async throws {
    let store = try Store.inMemory()
    func run(_ round: Int, _ body: (ManagedObjectContext) throws -> Void) throws {
      let added = attribute("n\(round)", .int64, default: .int(Int64(round)))
      let models = ContainerModels(
        classes: [],
        others: .schema(try Schema(entities: [entity("Song", [name, added])]))
      )
      let context = try PersistentContainer("Songs", models, on: store).context()
      defer { context.end() }
      try body(context)
      try context.make("Song", ["name": .string("\(round)"), added.name: .int(-1)])
      try context.save()
    }
    for round in 0..<60 {
      try run(round) { context throws in
        #expect(try context.values("Song", "name") == (0..<round).map { .string("\($0)") })
        #expect(try context.values("Song", "n\(round)") == Array(repeating: .int(Int64(round)), count: round))
      }
    }
  }
}
