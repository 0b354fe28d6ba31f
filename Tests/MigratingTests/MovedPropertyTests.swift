import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// Properties that another class declares from now on.
struct MovedPropertyTests {
  private let store: ChangingStore
  private let nest = entity("Nest", [attribute("height", .int64, optional: true)])

  init() throws { store = try ChangingStore() }

  /// Animals whose subclasses declare these properties; without subclasses, ordinary ones.
  private func animal(_ classes: (name: String, properties: [String])...) -> EntityDescription {
    let moved = classes.flatMap(\.properties)
    let properties = [
      attribute("name", .string), attribute("wings", .int64, optional: true), link("nest", to: "Nest"),
    ]
    let root = ClassDescription(
      name: "Animal",
      properties: properties.map(\.name).filter { !moved.contains($0) }
    )
    let others = classes.map { ClassDescription(name: $0.name, parent: "Animal", properties: $0.properties) }
    return EntityDescription(
      name: "Animal",
      properties: properties,
      classes: others.isEmpty ? [] : [root] + others
    )
  }

  private func fill(_ animal: EntityDescription) async throws {
    try await store.open(animal, nest) { context throws in
      let emu = try context.make("Animal", ["name": .string("Emu")])
      if animal.classes.isEmpty {
        try emu.set("wings", to: .int(2))
        try emu.setObject("nest", to: context.make("Nest", [:]))
      }
    }
  }

  /// The existing objects have the root class. They would have values that their class doesn't declare.
  @Test(arguments: ["wings", "nest"]) func aPropertyThatMovesToANewSubclassIsRefused(
    name: String
  ) async throws {
    try await fill(animal())
    let error = try await store.refusal(of: animal(("Bird", [name])), nest)
    #expect(error.code == .schemaMismatch)
    #expect(error.refusal?.obstacles.map(\.property) == [name])
    #expect(error.refusal?.description.contains("Bird.\(name) is a property of another class") == true)
    try await store.open(animal(("Bird", [])), nest) { context throws in
      #expect(try context.values("Animal", "wings") == [.int(2)])
      #expect(try context.linked("Animal", "nest", "height") == [[.null]])
    }
  }

  @Test func aPropertyThatMovesBetweenSubclassesIsRefused() async throws {
    try await fill(animal(("Bird", ["wings"]), ("Bat", [])))
    for others in [animal(("Bird", []), ("Bat", ["wings"])), animal(("Bird", []), ("Bat", []))] {
      let error = try await store.refusal(of: others, nest)
      #expect(error.code == .schemaMismatch)
      #expect(error.refusal?.obstacles.map(\.property) == ["wings"])
    }
  }

  @Test func aPropertyMovesWhereThereAreNoObjects() async throws {
    let steps = [
      animal(), animal(("Bird", ["wings", "nest"])), animal(("Bird", ["nest"]), ("Bat", ["wings"])),
      animal(("Bird", []), ("Bat", ["wings"])),
    ]
    for step in steps { try await store.open(step, nest) { _ in } }
    try await store.open(steps[3], nest) { context throws in
      let emu = try context.make("Animal", ["name": .string("Emu")])
      try emu.setObject("nest", to: context.make("Nest", ["height": .int(3)]))
    }
    try await store.open(steps[3], nest) { context throws in
      #expect(try context.linked("Animal", "nest", "height") == [[.int(3)]])
    }
  }

  /// The property has no values unless a pass of the stage sets them.
  @Test func aPropertyBeginsAnewInASubclassThatAStageMakes() throws {
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, Schema(entities: [animal(), nest])).context()
      try context.make("Animal", ["name": .string("Emu"), "wings": .int(2)])
      try context.save()
      context.end()
    }
    let next = try Schema(entities: [animal(("Bird", ["wings"])), nest])
    try takeStage(store, to: next, rebuilding: ["Animal"], .init(chunkByteCount: 500), .once { _ in })
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, next).context()
    #expect(try context.values("Animal", "name") == [.string("Emu")])
    #expect(try context.values("Animal", "wings") == [.null])
    context.end()
  }
}
