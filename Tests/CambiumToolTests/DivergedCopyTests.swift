import Cambium
import Foundation
import TestSupport
import Testing

/// Names decide between two copies of a store that each got something new under the same number.
struct DivergedCopyTests {
  private let library: Library

  init() async throws { library = try await Library() }

  /// Gives the books of a store an optional attribute. The books that are there have the value.
  private func add(_ name: String, _ value: Int, to path: String) throws {
    let run = try ToolRun("schema", path, "--json")
    var json = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    var entities = try #require(json["entities"] as? [[String: Any]])
    var properties = try #require(entities[1]["properties"] as? [[String: Any]])
    properties.append(["name": name, "kind": "int32", "isOptional": true, "default": value])
    entities[1]["properties"] = properties
    json["entities"] = entities
    let file = library.folder.file("\(name).json")
    try JSONSerialization.data(withJSONObject: json).write(to: URL(fileURLWithPath: file))
    #expect(try ToolRun("migrate", path, "--to", file).status == 0)
  }

  /// Both copies have given the same number to their new attribute, and the two have the same kind.
  @Test func attributesOfOneKindAreNotTakenForEachOther() throws {
    let copy = library.folder.file("copy.cambium")
    try FileManager.default.copyItem(atPath: library.path, toPath: copy)
    try add("pages", 100, to: library.path)
    try add("rank", 7, to: copy)

    let difference = try ToolRun("schema", "diff", library.path, copy)
    #expect(difference.lines.contains("removed attribute Book.pages: int32?"), "\(difference.output)")
    #expect(difference.lines.contains("added attribute Book.rank: int32?"), "\(difference.output)")

    #expect(try ToolRun("migrate", library.path, "--to", copy).status == 0)
    // No book of this store ever had a rank.
    #expect(try ToolRun("query", library.path, "Book", "rank == 100", "--count").output == "0\n")
  }
}
