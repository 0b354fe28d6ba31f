import Cambium
import Foundation
import TestSupport
import Testing

@Model private final class Reel {
  var title: String
  @Relationship(.ordered) var scenes: [Scene] = []

  init(_ title: String) { self.title = title }
}

@Embeddable private struct Place: Hashable {
  var city: String
  var floor: Int?
}

@Model private final class Scene {
  var name: String
  @Attribute(.externalStorage) var still: Data?
  @Embedded var place: Place
  @Relationship(.ordered, inverse: \Reel.scenes) var reel: Reel?

  init(_ name: String, in city: String) {
    self.name = name
    place = Place(city: city)
  }
}

/// Queries of the tool about ordered relationships, external values and embedded ones.
@Suite("cambium query of each kind")
struct QueryKindsTests {
  private let folder: TemporaryFolder
  private let path: String

  init() async throws {
    folder = try TemporaryFolder()
    path = folder.file("film.cambium")
    let container = try await PersistentContainer(
      "Film",
      models: Reel.self,
      Scene.self,
      at: URL(fileURLWithPath: path)
    )
    try await container.write { context in
      let reel = Reel("R")
      context.insert(reel)
      reel.scenes = [Scene("c", in: "Rome"), Scene("a", in: "Oslo"), Scene("b", in: "Rome")]
      reel.scenes[0].still = Data(repeating: 7, count: 10_000)
    }
    try await container.close()
  }

  @Test func scenesComeInTheirOrder() throws {
    let run = try ToolRun(
      "query",
      path,
      "Scene",
      "--sort",
      "position(reel)",
      "--select",
      "name",
      "--output",
      "csv"
    )
    #expect(run.status == 0 && run.fields == ["name", "c", "a", "b"])
    let last = try ToolRun(
      "query",
      path,
      "Scene",
      "--sort",
      "position(reel):desc",
      "--limit",
      "1",
      "--select",
      "name",
      "--output",
      "csv"
    )
    #expect(last.fields == ["name", "b"])
    let mistake = try ToolRun("query", path, "Scene", "--sort", "position(name)")
    #expect(mistake.status != 0)
  }

  @Test func longValuesAreReadIfTheyAreSelected() throws {
    let all = try ToolRun("query", path, "Scene", "--output", "csv")
    #expect(all.fields.first == "id,name,reel,place.city,place.floor")
    let still = try ToolRun("query", path, "Scene", "still != nil", "--select", "still", "--output", "csv")
    #expect(still.fields.count == 2 && still.fields[1].count > 10_000)
  }

  @Test func partsOfValuesAreAskedFor() throws {
    let run = try ToolRun(
      "query",
      path,
      "Scene",
      "place.city == 'Rome' AND place.floor == nil",
      "--sort",
      "name",
      "--select",
      "name,place.city",
      "--output",
      "csv"
    )
    #expect(run.fields == ["name,place.city", "b,Rome", "c,Rome"])
    let groups = try ToolRun("query", path, "Scene", "--group-by", "place.city", "--output", "csv")
    #expect(groups.status == 0 && groups.fields.count == 3, "\(groups.fields)")
    let schema = try ToolRun("schema", path)
    #expect(schema.lines.contains("  @Embedded var place: ScenePlace"), "\(schema.lines)")
  }
}

extension ToolRun {
  /// The lines of comma-separated values, with the line ends of RFC 4180.
  fileprivate var fields: [Substring] { output.split(separator: "\r\n") }
}
