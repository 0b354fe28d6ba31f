import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

/// Text from a file never reaches a terminal unescaped: neither names, values nor keys, in any command and any form.
@Suite("What cambium does with hostile text")
struct HostileTextTests {
  /// An escape sequence in one character and in two, characters that change the direction of text, separators of
  /// lines, and invisible characters.
  private static let hostile =
    "x\u{1B}[31m\u{9B}1m\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{85}\r\u{8}\u{7F}\u{AD}\u{FEFF}\u{E0041}y"

  private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .format: true
    default: false
    }
  }

  /// - Parameter kept: characters that the form needs: ends of lines.
  private func expectHarmless(
    _ run: ToolRun,
    keeping kept: Set<Unicode.Scalar> = ["\n"],
    _ arguments: [String]
  ) {
    for scalar in (run.output + run.errors).unicodeScalars
    where Self.isDangerous(scalar) && !kept.contains(scalar) {
      Issue.record("\(arguments) prints U+\(String(scalar.value, radix: 16))")
      return
    }
  }

  /// A store with hostile titles, trees and keys.
  private func makeStore(_ folder: TemporaryFolder) async throws -> String {
    let path = folder.file("library.cambium")
    let container = try await Library.open(path)
    try await container.performBackgroundTask { context in
      let author = Author(name: Self.hostile, born: 1)
      context.insert(author)
      for _ in 0..<2 {
        context.insert(Book(title: Self.hostile, year: 1, price: nil, isLent: false, author: author))
      }
      try context.save()
    }
    try await container.close()
    try addTree(path)
    return path
  }

  private func addTree(_ path: String) throws {
    let store = try Store.open(at: path)
    try store.write { transaction in
      let tree = try transaction.tree(Self.hostile)
      try tree.put(Array(Self.hostile.utf8), Array(Self.hostile.utf8))
    }
    try store.close()
  }

  private static let commands: [[String]] = [
    ["info"], ["info", "--json"], ["schema"], ["schema", "--table"], ["schema", "--json"],
    ["schema", hostile],
    ["verify"], ["tree"], ["tree", "--json"], ["tree", hostile],
    ["tree", hostile, "--json"],
    ["tree", "none"], ["tree", hostile + "!"], ["log"], ["log", "--json"], ["log", "--operations"], ["pages"],
    ["pages", "--json"],
    ["pages", "--map", "--json"], ["query", "Book"], ["query", "Book", "--output", "csv"],
    ["query", "Book", "--output", "json"], ["query", "Book", "--output", "jsonl"],
    ["query", "Book", "title == '\(hostile)'", "--explain"],
    ["query", "Book", "title == '\(hostile)'", "--explain", "--json"],
    ["query", "Book", "--group-by", "title", "--aggregate", "count"],
    ["query", "Book", "--group-by", "author.name"],
    ["query", "Book", "--select", "title,author.name"], ["query", hostile], ["query", "Book", hostile],
    ["query", "Book", "\(hostile) == 1"], ["query", "Book", "--select", hostile],
    ["query", "Book", "--sort", hostile],
    [hostile], ["info", "--\(hostile)"], ["compact"],
  ]

  private static func schemaCommands(_ path: String) -> [[String]] {
    [
      ["schema", "history", path], ["schema", "history", path, "--count"],
      ["schema", "history", path, "--json"],
      ["schema", "diff", path, path], ["schema", "diff", path, path, "--json"],
      ["migrate", path, "--to", path, "--dry-run"],
    ]
  }

  /// Two books have the same hostile title, which the schema forbids.
  private static let schemaWithUniqueTitles = """
    {"entities": [{"name": "Book", "properties": [{"name": "title", "kind": "string"}],
      "indexes": [{"properties": ["title"], "isUnique": true}]}]}
    """

  @Test func noCommandPrintsWhatATerminalObeys() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = try await makeStore(folder)
    for command in Self.commands {
      let arguments = [command[0], path] + command.dropFirst()
      let isCSV = command.contains("csv")
      expectHarmless(try ToolRun(arguments: arguments), keeping: isCSV ? ["\n", "\r"] : ["\n"], arguments)
    }
    let map = ["pages", path, "--map"]
    expectHarmless(try ToolRun(arguments: map, environment: ["NO_COLOR": "1"]), map)
    let text = folder.file("schema.json")
    let entity: [String: Any] = ["name": Self.hostile, "properties": []]
    try JSONSerialization.data(withJSONObject: ["entities": [entity]]).write(to: URL(fileURLWithPath: text))
    let unique = folder.file("unique.json")
    try Self.schemaWithUniqueTitles.write(toFile: unique, atomically: true, encoding: .utf8)
    for arguments in Self.schemaCommands(path) + [
      ["migrate", path, "--to", text], ["migrate", path, "--to", Self.hostile],
      ["migrate", path, "--to", unique],
      ["migrate", path, "--to", unique, "--json"],
    ] {
      expectHarmless(try ToolRun(arguments: arguments), arguments)
    }
    let missing = ["info", folder.file(Self.hostile)]
    expectHarmless(try ToolRun(arguments: missing), missing)
  }

  @Test func everyPageIsDecodedHarmlessly() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = try await makeStore(folder)
    var page = 0
    while true {
      let run = try ToolRun("pages", path, "\(page)")
      expectHarmless(run, ["pages", "\(page)"])
      expectHarmless(try ToolRun("pages", path, "\(page)", "--json"), ["pages", "\(page)", "--json"])
      if run.status != 0 { break }
      page += 1
    }
    #expect(page > 8)
  }

  private func renameInSchema(_ path: String) throws {
    let store = try Store.open(at: path)
    try store.write { transaction in
      let schema = try transaction.tree("schema")
      let key = Array("model".utf8)
      let model = String(decoding: try #require(try schema.value(for: key)), as: UTF8.self)
      let hostile = Self.hostile.utf16.map { String(format: "\\u%04x", $0) }.joined()
      try schema.put(
        key,
        Array(model.replacing("title", with: hostile).replacing("Author", with: hostile).utf8)
      )
    }
    try store.close()
  }

  /// The names of a schema come from the file.
  @Test func namesOfASchemaAreHarmless() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = try await makeStore(folder)
    try renameInSchema(path)
    for arguments in Self.schemaCommands(path) {
      expectHarmless(try ToolRun(arguments: arguments), arguments)
    }
    for command in Self.commands {
      let arguments = [command[0], path] + command.dropFirst()
      let isCSV = command.contains("csv")
      expectHarmless(try ToolRun(arguments: arguments), keeping: isCSV ? ["\n", "\r"] : ["\n"], arguments)
    }
  }

  /// Programs that read the JSON get the original text back.
  @Test func jsonHoldsTheTextItself() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = try await makeStore(folder)
    let run = try ToolRun("query", path, "Book", "--select", "title", "--json")
    let rows = try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: String]])
    #expect(rows.map { $0["title"] } == [Self.hostile, Self.hostile])
    #expect(run.output.contains(#"\u001b[31m\u009b1m\u202e\u2066"#) && run.output.contains(#"\udb40\udc41y"#))
    let trees = try ToolRun("tree", path, "--json")
    let shapes = try #require(JSONSerialization.jsonObject(with: Data(trees.output.utf8)) as? [[String: Any]])
    #expect(shapes.contains { $0["name"] as? String == Self.hostile })
  }

  /// Problems are reported with the names of their trees.
  @Test func verifyTellsProblemsOfAHostileTreeHarmlessly() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = try await makeStore(folder)
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    var count = 0
    while let place = data.range(of: Data(Self.hostile.utf8)) {
      data[place.lowerBound] ^= 1
      count += 1
    }
    #expect(count > 0)
    try data.write(to: URL(fileURLWithPath: path))
    let run = try ToolRun("verify", path)
    #expect(run.status == 1 && !run.errors.isEmpty)
    expectHarmless(run, ["verify"])
  }
}
