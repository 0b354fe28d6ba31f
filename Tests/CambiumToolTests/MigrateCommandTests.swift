import Cambium
import Foundation
import TestSupport
import Testing

@Suite("What cambium migrate does")
struct MigrateCommandTests {
  private let library: Library

  init() async throws { library = try await Library() }

  /// The library's schema as the tool prints it, changed, in a file.
  private func schema(_ change: (inout [String: Any]) throws -> Void) throws -> String {
    let run = try ToolRun("schema", library.path, "--json")
    var json = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    try change(&json)
    let path = library.folder.file("schema-\(UUID().uuidString).json")
    try JSONSerialization.data(withJSONObject: json).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Books are called volumes and have a number of pages, and no index over titles.
  private func laterSchema() throws -> String {
    try schema { json in
      var entities = try #require(json["entities"] as? [[String: Any]])
      var book = entities[1]
      book["name"] = "Volume"
      book["originalName"] = "Book"
      var properties = try #require(book["properties"] as? [[String: Any]])
      properties.append(["name": "pages", "kind": "int32", "default": 100])
      book["properties"] = properties
      book["indexes"] = [["properties": ["year", "pages"]]]
      entities[1] = book
      var author = try #require(entities[0]["properties"] as? [[String: Any]])
      author[2]["destination"] = "Volume"
      entities[0]["properties"] = author
      json["entities"] = entities
    }
  }

  private static let forecast = """
    changes:
      changed entity Volume: name Book → Volume
      added attribute Volume.pages: int32
      removed index Volume: index year
      removed index Volume: index title
      added index Volume: index year,pages
    values for objects that have none:
      Volume.pages 100: 203 objects
    trees built:
      the index year,pages of Volume: 203 entries, 2639 bytes of keys
    trees dropped:
      the index year of Book: 203 entries
      the index title of Book: 203 entries
    records that stay as they are, and are translated when they are read:
      Volume: 203

    """

  @Test func aStoreGetsTheSchemaThatWasForetold() throws {
    let schema = try laterSchema()
    let before = try FolderState(library.folder.path)
    let dry = try ToolRun("migrate", library.path, "--to", schema, "--dry-run")
    #expect(dry.status == 0 && dry.output == Self.forecast, "\(dry.errors)")
    let json = try ToolRun("migrate", library.path, "--to", schema, "--dry-run", "--json")
    let forecast = try JSONDecoder().decode(MigrationForecast.self, from: Data(json.output.utf8))
    #expect(forecast.description + "\n" == Self.forecast)
    #expect(try FolderState(library.folder.path) == before)

    let run = try ToolRun("migrate", library.path, "--to", schema)
    #expect(run.status == 0 && run.output == Self.forecast, "\(run.errors)")
    #expect(try ToolRun("query", library.path, "Volume", "pages == 100", "--count").output == "203\n")
    #expect(try ToolRun("verify", library.path).status == 0)
    let after = try FolderState(library.folder.path)
    let again = try ToolRun("migrate", library.path, "--to", schema)
    #expect(again.status == 0 && again.output == "the store has the schema already\n")
    #expect(try FolderState(library.folder.path) == after)
  }

  @Test func whatIsInTheWayIsListedAndNothingWritten() throws {
    let unique = try schema { json in
      var entities = try #require(json["entities"] as? [[String: Any]])
      entities[1]["indexes"] = [["properties": ["author"], "isUnique": true]]
      json["entities"] = entities
    }
    let kind = try schema { json in
      var entities = try #require(json["entities"] as? [[String: Any]])
      var properties = try #require(entities[1]["properties"] as? [[String: Any]])
      properties[0]["kind"] = "int64"
      entities[1]["properties"] = properties
      json["entities"] = entities
    }
    let before = try FolderState(library.folder.path)
    for options in [[], ["--dry-run"]] {
      let run = try ToolRun(arguments: ["migrate", library.path, "--to", unique] + options)
      #expect(run.status == 1)
      #expect(run.lines.count { $0.contains("is not the only one with author") } == 20)
      #expect(
        run.errors == "error: \(library.path) can't be migrated to the schema: 20 objects are in the way\n"
      )
      let refused = try ToolRun(arguments: ["migrate", library.path, "--to", kind, "--json"] + options)
      #expect(refused.status == 1 && refused.errors.contains("1 change can't be inferred"))
      let forecast = try JSONDecoder().decode(MigrationForecast.self, from: Data(refused.output.utf8))
      #expect(forecast.refusal.obstacles.map(\.property) == ["title"])
    }
    #expect(try FolderState(library.folder.path) == before)
  }

  /// A copy has the stable numbers of its original store: names that were changed in the copy are changed in the
  /// store, too.
  @Test func aStoreFollowsACopyOfItself() async throws {
    let copy = library.folder.file("copy.cambium")
    try FileManager.default.copyItem(atPath: library.path, toPath: copy)
    #expect(try ToolRun("migrate", copy, "--to", laterSchema()).status == 0)
    let difference = try ToolRun("schema", "diff", library.path, copy)
    #expect(difference.lines.first == "changed entity Volume: name Book → Volume")
    let back = try ToolRun("schema", "diff", copy, library.path)
    #expect(back.lines.first == "changed entity Book: name Volume → Book")
    let run = try ToolRun("migrate", library.path, "--to", copy)
    #expect(run.status == 0 && run.output == Self.forecast, "\(run.errors)")
    #expect(try ToolRun("schema", "diff", library.path, copy).output == "")
    // Another store is followed by names. It has no objects, so that its authors can have other books.
    let other = library.folder.file("other.cambium")
    try await Library.open(other).close()
    #expect(try ToolRun("schema", "diff", other, copy).lines.contains("removed entity Book"))
    let forecast = try ToolRun("migrate", other, "--to", copy, "--dry-run")
    #expect(forecast.status == 0 && forecast.lines.contains("  added entity Volume"))
  }

  @Test func historyHasEveryLayout() throws {
    #expect(try ToolRun("migrate", library.path, "--to", laterSchema()).status == 0)
    let run = try ToolRun("schema", "history", library.path, "--count")
    #expect(run.status == 0, "\(run.errors)")
    let volume = try #require(run.lines.firstIndex { $0.hasPrefix("Volume, number ") })
    let lines = run.lines[volume...].map { $0.replacing(#/^( *)\d+ /#) { $0.output.1 + "# " } }
    #expect(
      lines.dropFirst() == [
        "  layout 0: 203 records", "    # title: string", "    # year: int64", "    # price: double",
        "    # isLent: bool", "    # bought: date", "    # author: reference", "  layout 1: 0 records",
        "    # title: string", "    # year: int64", "    # price: double", "    # isLent: bool",
        "    # bought: date", "    # author: reference", "    # pages: int32",
      ]
    )
    let uncounted = try ToolRun("schema", "history", library.path)
    #expect(uncounted.lines.contains("  layout 1") && uncounted.lines.contains("  layout 0"))
    let json = try ToolRun("schema", "history", library.path, "--count", "--json")
    let history = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    )
    let entities = try #require(history["entities"] as? [[String: Any]])
    #expect(entities.map { $0["name"] as? String } == ["Author", "Volume"])
    let layouts = try #require(entities[1]["layouts"] as? [[String: Any]])
    #expect(layouts.map { $0["recordCount"] as? Int } == [203, 0])
  }

  @Test func wrongUseHasItsStatus() throws {
    let text = library.folder.file("text.json")
    for (contents, message) in [
      ("hello", "neither a store nor a schema in JSON"),
      (#"{"entities": [{"properties": []}]}"#, "entities.[0]: name is missing"),
      (#"{"entities": [{"name": "A", "properties": [{"name": "a", "kind": "text"}]}]}"#, "of the kind text"),
    ] {
      try contents.write(toFile: text, atomically: true, encoding: .utf8)
      let run = try ToolRun("migrate", library.path, "--to", text)
      #expect(run.status == 2 && run.errors.contains(message), "\(run.errors)")
    }
    #expect(try ToolRun("migrate", library.path).status == 2)
    #expect(try ToolRun("migrate", library.path, "--to", library.path + "x").status == 2)
    #expect(try ToolRun("migrate", library.path + "x", "--to", library.path).status == 2)
    #expect(try ToolRun("schema", "history", library.path + "x").status == 2)
  }
}
