import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Kinds of things, each of which is an entity or a class below another kind, are rearranged at random. A stage makes
/// all their objects anew.
struct RandomRearrangementTests {
  /// The unit in which the tests count the stores that they make.
  private static let roundCount = TestEffort.times(10, long: 25)

  @Test func everyObjectAndLinkIsThereInTheOtherArrangement() throws {
    var generator = SeededGenerator()
    for round in 0..<2 * Self.roundCount {
      let seed = generator.next()
      do {
        var rearrangement = Rearrangement(SeededGenerator(seed: seed))
        try rearrangement.run()
      } catch {
        Issue.record("round \(round), seed \(seed): \(error)")
        return
      }
    }
  }
}

/// The kind above each kind; nil for a kind that is an entity of its own.
private struct Arrangement {
  let parents: [Int?]

  init(_ generator: inout SeededGenerator) {
    var order = Array(0..<Rearrangement.kindCount)
    order.shuffle(using: &generator)
    var parents: [Int?] = order.map { _ in nil }
    for (place, kind) in order.enumerated() where place > 0 && generator.chance(2, in: 3) {
      parents[kind] = order[generator.number(in: 0...place - 1)]
    }
    self.parents = parents
  }

  var roots: [Int] { parents.indices.filter { parents[$0] == nil } }

  /// Returns the kind and the kinds above it, from below.
  func line(of kind: Int) -> [Int] {
    var line = [kind]
    while let parent = parents[line[line.count - 1]] { line.append(parent) }
    return line
  }

  /// Returns the members of the hierarchy of a root, each after the kind above it.
  private func members(below root: Int) -> [Int] {
    [root] + parents.indices.filter { parents[$0] == root }.flatMap { members(below: $0) }
  }

  func schema() throws -> Schema {
    let hubs = parents.indices.map { link("items\($0)", to: "K\($0)", .many, inverse: "hubs\($0)") }
    return try Schema(
      entities: roots.map { hierarchy(below: $0) } + [entity("Hub", [attribute("name", .int64)] + hubs)]
    )
  }

  private func hierarchy(below root: Int) -> EntityDescription {
    let members = members(below: root)
    let properties = members.flatMap { kind in
      [
        attribute("v\(kind)", .int64, optional: true),
        link("hubs\(kind)", to: "Hub", .many, inverse: "items\(kind)"),
      ]
    }
    let classes = members.map { kind in
      ClassDescription(
        name: "K\(kind)",
        parent: parents[kind].map { "K\($0)" },
        properties: (kind == root ? ["code"] : []) + ["v\(kind)", "hubs\(kind)"]
      )
    }
    return EntityDescription(
      name: "K\(root)",
      properties: [attribute("code", .int64)] + properties,
      indexes: [IndexDescription(["code"], isUnique: true)],
      classes: members.count > 1 ? classes : []
    )
  }
}

private struct Rearrangement {
  static let kindCount = 5
  private static let hubCount = 3

  private struct Thing {
    let kind: Int
    var values: [Int: Int64]
    var hubs: Set<Int64>
  }

  private var generator: SeededGenerator
  private var before: Arrangement
  private var after: Arrangement
  /// By code.
  private var things: [Int64: Thing] = [:]
  private var hubs: [ManagedRecord] = []

  init(_ generator: SeededGenerator) {
    self.generator = generator
    before = Arrangement(&self.generator)
    after = Arrangement(&self.generator)
  }

  mutating func run() throws {
    let store = try Store.inMemory()
    try fill(store)
    for version in 2...3 {
      try rearrange(store, version: Schema.Version(UInt32(version)))
      (before, after) = (after, Arrangement(&generator))
    }
  }

  private mutating func rearrange(_ store: Store, version: Schema.Version) throws {
    let (known, wanted) = (before, after)
    try takeStage(
      store,
      to: wanted.schema(),
      at: version,
      makingAnew: Set((0..<Self.kindCount).map { "K\($0)" }),
      passes: known.roots.map { .forEach("K\($0)", inBatchesOf: 7, Self.make) } + [
        .forEach("Hub", inBatchesOf: 2, Self.relink)
      ]
    )
    // A value stays if its property is one of the object's class in both arrangements.
    for (code, thing) in things {
      let kept = Set(known.line(of: thing.kind)).intersection(wanted.line(of: thing.kind))
      things[code]?.values = thing.values.filter { kept.contains($0.key) }
    }
    try check(store, wanted)
    let context = try openStaged(store, wanted.schema()).context()
    hubs = try context.fetch(DynamicQuery("Hub"))
    for _ in 0..<20 { try addThing(to: context, wanted) }
    try context.save()
    context.end()
    try check(store, wanted)
  }

  @Sendable private static func make(_ batch: MigrationBatch) throws {
    for object in batch.objects { try batch.makeSuccessor(of: object) }
  }

  @Sendable private static func relink(_ batch: MigrationBatch) throws {
    for hub in batch.objects {
      for kind in 0..<kindCount {
        for item in try hub.objects("items\(kind)") {
          guard let successor = try batch.successor(of: item) else {
            throw ContextError(.objectNotFound, "an item has no successor")
          }
          try batch.successor(of: hub)?.add(successor, to: "items\(kind)")
        }
      }
    }
  }

  private mutating func fill(_ store: Store) throws {
    let context = try openStaged(store, before.schema()).context()
    hubs = try (0..<Self.hubCount).map { try context.make("Hub", ["name": .int(Int64($0))]) }
    for _ in 0..<generator.number(in: 20...80) { try addThing(to: context, before) }
    try context.save()
    // Gaps between the numbers.
    for code in things.keys.sorted() where generator.chance(1, in: 5) {
      let query = try DynamicQuery(
        "K\(before.line(of: things[code]!.kind).last!)",
        where: PredicateTree(format: "code == \(code)")
      )
      for object in try context.fetch(query) { context.delete(object) }
      things[code] = nil
    }
    try context.save()
    context.end()
  }

  private mutating func addThing(to context: ManagedObjectContext, _ arrangement: Arrangement) throws {
    let code = Int64(things.keys.max().map { $0 + 1 } ?? 0)
    var thing = Thing(kind: generator.number(in: 0...Self.kindCount - 1), values: [:], hubs: [])
    let record = try context.make("K\(thing.kind)", ["code": .int(code)])
    for kind in arrangement.line(of: thing.kind) where generator.chance(3, in: 4) {
      thing.values[kind] = Int64(generator.number(in: 0...99))
      try record.set("v\(kind)", to: thing.values[kind]!)
    }
    for (name, hub) in hubs.enumerated() where generator.chance(1, in: 2) {
      thing.hubs.insert(Int64(name))
      try record.add(hub, to: "hubs\(thing.kind)")
    }
    things[code] = thing
  }

  private func check(_ store: Store, _ arrangement: Arrangement) throws {
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, arrangement.schema()).context()
    defer { context.end() }
    var found: Set<Int64> = []
    for root in arrangement.roots {
      for record in try context.fetch(DynamicQuery("K\(root)")) {
        let code: Int64 = try #require(try record.value("code"))
        let thing = try #require(things[code])
        found.insert(code)
        #expect(record.className == "K\(thing.kind)")
        for kind in arrangement.line(of: thing.kind) {
          #expect(try record.value("v\(kind)", as: Int64.self) == thing.values[kind], "v\(kind) of \(code)")
        }
        let linked = try record.objects("hubs\(thing.kind)").map { try $0.value("name", as: Int64.self) }
        #expect(Set(linked) == Set(thing.hubs.map(Optional.init)))
      }
    }
    #expect(found == Set(things.keys))
    for kind in 0..<Self.kindCount {
      let count = things.values.filter { arrangement.line(of: $0.kind).contains(kind) }.count
      #expect(try context.fetch(DynamicQuery("K\(kind)")).count == count)
    }
  }
}
