import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

@Model private final class Line {
  var name: String
  @Attribute(.unique(ifExists: .keep)) var number: Int = 0
  @Relationship(.ordered) var stops: OrderedToMany<Stop> = []
  init(_ name: String) { self.name = name }
}

@Model private final class Stop {
  @Attribute(.unique(ifExists: .merge)) var code: String
  @Relationship(.ordered, inverse: \Line.stops) var line: Line?
  init(_ code: String) { self.code = code }
}

/// Members of ordered lists, and owners of lists, that are unified with existing objects.
struct UnifiedPlaceTests {
  @Test func aUnifiedRowJoinsAListAtItsEnd() async throws {
    let store = try await PersistentContainer("Lines", models: Line.self, Stop.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let line = Line("L")
    context.insert(line)
    context.insert(Stop("z"))
    line.stops.append(contentsOf: ["a", "b", "c"].map { Stop($0) })
    for _ in 0..<20 { line.stops.move(from: 0, to: 2) }
    try context.save()
    let (before, id) = (line.stops.map(\.code), line.objectID)
    try await store.batchInsert(
      Stop.self,
      from: ["z", "d", before[0]],
      .set(\.code) { $0 },
      .set(\.line) { _ in id }
    )
    try context.refresh()
    #expect(line.stops.map(\.code) == before + ["z", "d"])
    #expect(try await store.verify().map(\.description) == [])
  }

  @Test func aChildKeepsTheOrderOfAListWhoseOwnerIsUnified() async throws {
    let store = try await PersistentContainer("Lines", models: Line.self, Stop.self, at: .inMemory)
    try await store.write { $0.insert(Line("L")) }
    let context = try store.context()
    defer { context.end() }
    let new = Line("again")
    context.insert(new)
    let child = context.makeChild()
    let copy = try child.existingObject(Line.self, with: new.objectID)
    copy.stops.append(contentsOf: ["a", "b", "c", "d"].map { Stop($0) })
    copy.stops.move(from: 3, to: 0)
    copy.stops.move(from: 2, to: 3)
    #expect(copy.stops.map(\.code) == ["d", "a", "c", "b"])
    try context.save()
    let kept = try #require(try child.fetchOne(From<Line>()))
    #expect(kept.name == "L" && kept.stops.map(\.code) == ["d", "a", "c", "b"])
    try child.save()
    try context.save()
    #expect(try context.fetchOne(From<Line>())?.stops.map(\.code) == ["d", "a", "c", "b"])
    #expect(try await store.verify().map(\.description) == [])
  }
}
