import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

private enum Stage {
  @Model final class Show {
    var name: String
    @Relationship(.ordered) var acts: [Act] = []
    @Relationship(.ordered) var hosts: [Act] = []
    @Relationship var guests: [Act] = []
    @Relationship(.ordered, inverse: \Act.opens) var openers: OrderedToMany<Act> = []
    @Relationship(inverse: \Act.closes) var closers: [Act] = []
    @Relationship(.ordered, inverse: .hidden) var reserves: [Act] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Act {
    var title: String
    @Relationship(inverse: \Show.acts) var shows: [Show] = []
    @Relationship(.ordered, inverse: \Show.hosts) var hosted: [Show] = []
    @Relationship(.ordered, inverse: \Show.guests) var visited: [Show] = []
    @Relationship(.ordered) var opens: Show?
    @Relationship var closes: Show?
    init(_ title: String) { self.title = title }
  }
}

/// What the store says of the order of each kind of relationship. A container without models opens the store with that.
struct StoredOrderTests {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("shows.cambium"))
  }

  private func open() async throws -> PersistentContainer {
    try await PersistentContainer("Shows", models: Stage.Show.self, Stage.Act.self, at: url)
  }

  private func lists() async throws -> [[String]] {
    let container = try await open()
    let lists = try await container.query { context in
      let show = try #require(try context.fetch(From<Stage.Show>()).first)
      return [show.acts, show.hosts, Array(show.openers), show.reserves].map { $0.map(\.title) }
    }
    try await container.close()
    return lists
  }

  @Test func aContainerWithoutModelsKeepsEachOrder() async throws {
    let container = try await open()
    try await container.write { context in
      let show = Stage.Show("a")
      context.insert(show)
      let acts = ["x", "y", "z"].map { Stage.Act($0) }
      acts.forEach(context.insert)
      let order = [acts[2], acts[0], acts[1]]
      (show.acts, show.hosts, show.reserves) = (order, order, order)
      show.openers = OrderedToMany(order)
    }
    try await container.close()

    let schema = try Schema([Stage.Show.self, Stage.Act.self])
    #expect(try StoreMetadata(at: url).schema == schema)
    #expect(try StoreMetadata(at: url).stableHash == schema.stableHash)
    #expect(try MigrationForecast(at: url, to: StoreMetadata(at: url).schema).isCurrent)
    let before = try FolderState(folder.path)
    try await PersistentContainer("Shows", at: url).close()
    #expect(try FolderState(folder.path) == before)
    #expect(try await lists() == Array(repeating: ["z", "x", "y"], count: 4))
  }
}
