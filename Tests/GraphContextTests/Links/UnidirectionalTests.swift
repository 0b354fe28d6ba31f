import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// To-many relationships without an inverse.
struct UnidirectionalTests {
  @Test func aMemberIsInSeveralLists() async throws {
    let container = try await PersistentContainer.mixtapes()
    let context = try container.context()
    let (first, second) = (Mixtape("1"), Mixtape("2"))
    let tune = Ditty("x")
    for tape in [first, second] {
      context.insert(tape)
      tape.tunes.append(tune)
    }
    first.tunes.append(Ditty("y"))
    try context.save()
    #expect(first.tunes.map(\.title).sorted() == ["x", "y"] && second.tunes.map(\.title) == ["x"])
    #expect(first.tuneCount == 2 && second.tuneCount == 1)

    context.delete(tune)
    #expect(first.tunes.map(\.title) == ["y"] && second.tunes.isEmpty)
    try context.save()
    #expect(first.tuneCount == 1 && second.tuneCount == 0)
    context.delete(first)
    try context.save()
    #expect(try context.count(From<Ditty>()) == 1)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func deleteRulesFollowTheLinks() async throws {
    let container = try await PersistentContainer.mixtapes()
    let context = try container.context()
    let (first, second) = (Mixtape("1"), Mixtape("2"))
    context.insert(first)
    context.insert(second)
    let shared = Scribble("s")
    first.scribbles = [shared, Scribble("t")]
    second.scribbles = [shared, Scribble("u")]
    let fan = Collector("f")
    second.fans.append(fan)
    second.similar = [first, second]
    first.owner = fan
    try context.save()

    context.delete(first)
    try context.save()
    #expect(second.scribbles.map(\.text) == ["u"] && second.similar.map(\.name) == ["2"])
    context.delete(second)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .deletionDenied && error?.context.properties == ["fans"])
    context.rollback()
    context.delete(fan)
    try context.save()
    context.delete(second)
    try context.save()
    #expect(try context.count(From<Scribble>()) == 0)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func conditionsGoThroughThem() async throws {
    let container = try await PersistentContainer.mixtapes()
    let context = try container.context()
    for (name, titles) in [("1", "ab"), ("2", "bc"), ("3", "")] {
      let tape = Mixtape(name)
      context.insert(tape)
      tape.tunes = try titles.map { title in
        try context.fetch(From<Ditty>().where { $0.title == String(title) }).first ?? Ditty(String(title))
      }
    }
    func names(_ query: From<Mixtape>) throws -> [String] {
      try context.fetch(query.orderBy(.ascending(\.name)).prefetching(\.tunes)).map(\.name)
    }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      #expect(try names(From<Mixtape>().where { $0.tunes.any { $0.title == "b" } }) == ["1", "2"])
      #expect(try names(From<Mixtape>().where(format: "ANY tunes.title == 'c'")) == ["2"])
      #expect(try names(From<Mixtape>().where(format: "tunes.@count == 0")) == ["3"])
      #expect(
        try names(From<Mixtape>().where(format: "SUBQUERY(tunes, $t, $t.title > 'a').@count == 1")) == ["1"]
      )
      #expect(try names(From<Mixtape>().where(#Predicate { $0.tunes.contains { $0.title == "a" } })) == ["1"])
    }
    // No condition leads back.
    for format in ["ANY Mixtape.tunes.inverse.name == '1'", "ANY tunes.inverse.name == '1'"] {
      #expect(throws: ContextError.self) { try context.fetch(From<Ditty>().where(format: format)) }
    }
  }

  @Test func undoAndOtherContextsKnowThem() async throws {
    let container = try await PersistentContainer.mixtapes()
    let context = try container.context()
    context.undoManager = ContextUndoManager()
    let tape = Mixtape("1")
    context.insert(tape)
    tape.tunes = [Ditty("a"), Ditty("b")]
    try context.save()
    let tune = try #require(tape.tunes.first { $0.title == "a" })
    context.delete(tune)
    try context.save()
    #expect(tape.tunes.map(\.title) == ["b"])
    #expect(context.undo())
    try context.save()
    #expect(tape.tunes.map(\.title).sorted() == ["a", "b"])

    let other = try container.context()
    try other.object(Mixtape.self, with: tape.objectID).tunes.append(Ditty("c"))
    tape.tunes.append(Ditty("d"))
    try context.save()
    try other.save()
    try context.refresh()
    #expect(tape.tunes.map(\.title).sorted() == ["a", "b", "c", "d"])
    #expect(tape.tuneCount == 4)
    let child = context.makeChild()
    let below = try child.object(Mixtape.self, with: tape.objectID)
    below.tunes.removeAll { $0.title == "d" }
    try child.save()
    #expect(tape.tunes.map(\.title).sorted() == ["a", "b", "c"])
    try context.save()
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aMemberIsNotChangedByIt() async throws {
    let container = try await PersistentContainer.mixtapes()
    try await container.keepHistory()
    let context = try container.context()
    let (tape, tune) = (Mixtape("1"), Ditty("a"))
    context.insert(tape)
    context.insert(tune)
    try context.save()
    let other = try container.context()
    var changed: [[String: [String]]] = []
    func names(_ changes: ObjectChanges) -> [String: [String]] {
      Dictionary(uniqueKeysWithValues: changes.changedProperties.map { ($0.key.entityName, $0.value) })
    }
    let subscriptions = [
      context.onObjectsDidChange { changed.append(names($0)) },
      other.onObjectsDidChange { changed.append(names($0)) },
    ]
    tape.tunes.append(tune)
    context.processPendingChanges()
    try context.save()
    try other.refresh()
    #expect(
      changed == [["Mixtape": ["tunes"]], ["Mixtape": ["tuneCount"]], ["Mixtape": ["tuneCount", "tunes"]]]
    )
    let history = try await container.history(HistoryQuery(newestFirst: true, limit: 1))
    #expect(history.flatMap(\.changes).map(\.properties) == [["tuneCount", "tunes"]])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func objectsOutsideOfContextsComeAlongOneWay() async throws {
    let context = try await PersistentContainer.mixtapes().context()
    let (tape, tune) = (Mixtape("1"), Ditty("a"))
    context.insert(tune)
    tape.tunes = [tune, Ditty("b")]
    #expect(try context.count(From<Mixtape>()) == 0)
    context.insert(tape)
    #expect(tape.tunes.map(\.title).sorted() == ["a", "b"])
    #expect(try context.count(From<Ditty>()) == 2)
  }

  // MARK: Schemas

  private let tapes = EntityDescription(
    name: "Tape",
    properties: [.attribute("name", String.self), .toMany("tunes", to: "Ditty")]
  )
  private let tunes = EntityDescription(name: "Ditty", properties: [.attribute("title", String.self)])

  @Test func theHiddenInverseIsInTheSchemaAlone() throws {
    let schema = try Schema(entities: [tapes, tunes])
    let tune = try #require(schema.entity(named: "Ditty"))
    #expect(tune.properties.map(\.name) == ["title", "Tape.tunes.inverse"])
    #expect(tune.declaredProperties.map(\.name) == ["title"] && tune.relationships.isEmpty)
    #expect(schema.entity(named: "Tape")?.relationships.map(\.inverse) == ["Tape.tunes.inverse"])
    #expect(try Schema(entities: schema.entities) == schema)
    #expect(try SchemaDocument(schema).schema() == schema)
    let data = try JSONEncoder().encode(SchemaDocument(schema))
    #expect(try JSONDecoder().decode(SchemaDocument.self, from: data).schema() == schema)
    #expect(
      SwiftSource(schema).description.contains("@Relationship(inverse: .hidden) var tunes: [Ditty] = []")
    )
    #expect(!SwiftSource(schema).description.contains("Tape.tunes"))
    #expect(try CataloguedSchema(schema).schema() == schema)
  }

  @Test func whatMayBeAPairIsRefused() throws {
    let back = EntityDescription(name: "Ditty", properties: [.toOne("tape", to: "Tape")])
    let error = #expect(throws: SchemaError.self) { try Schema(entities: [tapes, back]) }
    #expect(
      error?.problems == [
        "Tape.tunes and Ditty.tape lead to each other, and neither is named as the other's inverse: name it at one end, or say that Tape.tunes has a hidden one"
      ]
    )
    let hidden = EntityDescription(
      name: "Tape",
      properties: [.toMany("tunes", to: "Ditty", inverse: RelationshipDescription.hiddenInverse)]
    )
    let schema = try Schema(entities: [hidden, back])
    #expect(schema.entity(named: "Tape")?.relationships.map(\.inverse) == ["Tape.tunes.inverse"])
    #expect(try SchemaDocument(schema).schema() == schema)
  }

  @Test func anOrderMayLeadOneWay() throws {
    let ordered = EntityDescription(
      name: "Tape",
      properties: [.toMany("tunes", to: "Ditty", isOrdered: true)]
    )
    let schema = try Schema(entities: [ordered, tunes])
    #expect(schema.entity(named: "Tape")?.relationships.map(\.inverse) == ["Tape.tunes.inverse"])
    let single = EntityDescription(name: "Tape", properties: [.toOne("tune", to: "Ditty", isOrdered: true)])
    let error = #expect(throws: SchemaError.self) { try Schema(entities: [single, tunes]) }
    #expect(
      error?.problems == [
        "Tape.tune is ordered, but has no to-many inverse: only to-many relationships have an order"
      ]
    )
  }

  @Test func recordsHaveNoHiddenInverse() async throws {
    let container = try await DynamicStore.tapes([tapes, tunes])
    let context = try container.context()
    let (tape, tune) = (try context.insert(entity: "Tape"), try context.insert(entity: "Ditty"))
    try tape.set("name", to: "1")
    try tune.set("title", to: "a")
    try tape.add(tune, to: "tunes")
    try context.save()
    #expect(try tape.count(of: "tunes") == 1)
    let error = #expect(throws: ContextError.self) { try tune.count(of: "Tape.tunes.inverse") }
    #expect(error?.code == .unknownProperty)
    context.delete(tune)
    try context.save()
    #expect(try tape.count(of: "tunes") == 0)
  }
}

private enum DynamicStore {
  static func tapes(_ entities: [EntityDescription]) async throws -> PersistentContainer {
    try await PersistentContainer("Tapes", schema: Schema(entities: entities), at: .inMemory)
  }
}
