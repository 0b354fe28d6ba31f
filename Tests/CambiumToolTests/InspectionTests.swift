import Foundation
import TestSupport
import Testing

@Suite("What cambium shows of the file")
struct InspectionTests {
  private func json(_ run: ToolRun) throws -> Any {
    #expect(run.status == 0, "\(run.errors)")
    return try JSONSerialization.jsonObject(with: Data(run.output.utf8))
  }

  @Test func extentsLieOneAfterTheOther() async throws {
    let library = try await Library()
    let extents = try #require(try json(ToolRun("pages", library.path, "--json")) as? [[String: Any]])
    #expect(extents.contains { $0["kind"] as? String == "log" })
    #expect(extents.contains { $0["kind"] as? String == "pages" })
    var end = 0
    for extent in extents {
      let offset = try #require(extent["offset"] as? Int)
      #expect(offset >= end)
      end = offset + (try #require(extent["byteCount"] as? Int))
    }
  }

  @Test func aTreesShapeCountsWhatIsInIt() async throws {
    let library = try await Library()
    let shape = try #require(try json(ToolRun("tree", library.path, "e/Book", "--json")) as? [String: Any])
    #expect(shape["entries"] as? Int == 203)
    let levels = try #require(shape["levels"] as? [[String: Any]])
    #expect(levels.last?["entries"] as? Int == 203)
    #expect(levels.first?["pages"] as? Int == 1)
    let table = try ToolRun("tree", library.path)
    #expect(table.lines.contains { $0.hasPrefix("e/Book (e/") && $0.contains(" 203 ") })
  }

  @Test func aTreeIsFoundByItsNameAndByWhatItHolds() async throws {
    let library = try await Library()
    let shapes = try #require(try json(ToolRun("tree", library.path, "--json")) as? [[String: Any]])
    let labels = ["e/Author", "e/Book", "i/Author/name", "i/Book/title", "i/Book/year", "r/Book/author"]
    #expect(shapes.compactMap { $0["label"] as? String }.sorted() == labels)
    for label in labels {
      let shape = try #require(shapes.first { $0["label"] as? String == label })
      let name = try #require(shape["name"] as? String)
      #expect(name != label)
      let (byName, byLabel) = (
        try ToolRun("tree", library.path, name), try ToolRun("tree", library.path, label)
      )
      #expect(byName.status == 0 && byName.output.hasPrefix("\(label) (\(name)): tree "), "\(byName)")
      #expect(byLabel.output == byName.output)
      #expect(try ToolRun("info", library.path).output.contains("KiB  \(label) (\(name))\n"))
    }
    // A tree that belongs to no model has only a name.
    #expect(try ToolRun("tree", library.path, "schema").output.hasPrefix("schema: tree "))
    #expect(try ToolRun("tree", library.path, "e/Nobody").errors.contains("e/Book (e/"))
  }

  @Test func aPageSaysWhoseItIs() async throws {
    let library = try await Library()
    let extents = try #require(try json(ToolRun("pages", library.path, "--json")) as? [[String: Any]])
    var trees: Set<String> = []
    for extent in extents where extent["kind"] as? String == "pages" {
      let first = try #require(extent["firstPage"] as? Int)
      for page in first..<first + (try #require(extent["pageCount"] as? Int)) {
        let lines = try ToolRun("pages", library.path, "\(page)").lines
        guard let line = lines.first(where: { $0.hasPrefix("  tree ") }) else { continue }
        trees.insert(String(line.trimmingPrefix("  tree       ").trimmingPrefix(#/[0-9]+/#)))
      }
    }
    let shapes = try #require(try json(ToolRun("tree", library.path, "--json")) as? [[String: Any]])
    let titles = shapes.compactMap { shape in
      let name = shape["name"] as? String
      return (shape["label"] as? String).map { "\($0) (\(name ?? ""))" } ?? name
    }
    // The store's own trees have only a number.
    #expect(trees == Set(titles.map { ", \($0)" }).union([""]))
  }

  @Test func everyLeafOfTheFileIsDecoded() async throws {
    let library = try await Library()
    let extents = try #require(try json(ToolRun("pages", library.path, "--json")) as? [[String: Any]])
    var leafEntries = 0
    for extent in extents where extent["kind"] as? String == "pages" {
      let first = try #require(extent["firstPage"] as? Int)
      for page in first..<first + (try #require(extent["pageCount"] as? Int)) {
        let decoded = try #require(
          try json(ToolRun("pages", library.path, "\(page)", "--json")) as? [String: Any]
        )
        let kind = try #require(decoded["kind"] as? String)
        #expect(kind == (page == first ? "extent header" : kind))
        guard kind == "leaf" || kind == "branch" else { continue }
        #expect(decoded["isIntact"] as? Bool == true)
        if kind == "leaf" { leafEntries += (decoded["entries"] as? [Any])?.count ?? 0 }
      }
    }
    #expect(leafEntries >= 205)
  }

  @Test func theLogTellsWhatEachTransactionChanged() async throws {
    let library = try await Library()
    let records = try #require(try json(ToolRun("log", library.path, "--json")) as? [[String: Any]])
    let transaction = try #require(records.first { $0["kind"] as? String == "transaction" })
    let operations = try #require(transaction["operations"] as? [[String: Any]])
    #expect(operations.contains { $0["kind"] as? String == "create tree" })
    #expect(operations.contains { $0["kind"] as? String == "put" })
    let sequences = records.compactMap { $0["sequence"] as? Int }
    #expect(sequences == sequences.sorted())
    let last = try ToolRun("log", library.path, "--last", "1")
    #expect(last.lines.count == 3)
    #expect(last.output.contains("checkpoint"))
    #expect(try ToolRun("log", library.path, "--operations").output.contains("  put ["))
  }

  @Test func wrongNumbersAndNamesAreWrongUse() async throws {
    let library = try await Library()
    #expect(try ToolRun("pages", library.path, "99999999").status == 2)
    #expect(try ToolRun("tree", library.path, "nothing").status == 2)
    #expect(try ToolRun("log", library.path, "--last", "-1").status == 2)
    #expect(try ToolRun("pages", "/dev/null").status == 2)
  }

  @Test func aDamagedFileIsShownAsFarAsItIsLegible() async throws {
    let library = try await Library()
    var generator = SeededGenerator()
    let original = try Data(contentsOf: URL(fileURLWithPath: library.path))
    for _ in 0..<12 {
      var damaged = original
      for _ in 0..<200 {
        damaged[generator.number(in: 12_288...damaged.count - 1)] = UInt8(generator.number(in: 0...255))
      }
      try damaged.write(to: URL(fileURLWithPath: library.path))
      let pageCount = damaged.count / 8_192
      let page = generator.number(in: 0...pageCount - 1)
      for run in [
        try ToolRun("pages", library.path), try ToolRun("pages", library.path, "\(page)"),
        try ToolRun("log", library.path), try ToolRun("tree", library.path),
      ] {
        #expect([0, 1, 2].contains(run.status), "\(run.errors)")
      }
    }
  }
}
