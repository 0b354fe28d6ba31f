import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

@Model private final class Line {
  var name: String
  @Relationship(.ordered) var stops: OrderedToMany<Stop> = []
  init(_ name: String) { self.name = name }
}

@Model private final class Stop {
  @Attribute(.unique(ifExists: .merge)) var code: String
  @Relationship(.ordered, inverse: \Line.stops) var line: Line?
  init(_ code: String) { self.code = code }
}

/// Rows of a batch that are settled with existing objects, and join an ordered list.
struct SettledPlaceTests {
  @Test func aSettledRowJoinsAListAtItsEnd() async throws {
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
    #expect(try store.verify().map(\.description) == [])
  }
}
