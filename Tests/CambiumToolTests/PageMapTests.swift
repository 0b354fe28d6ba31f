import Foundation
@_spi(Testing) import PageStore
import TestSupport
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("What cambium draws of the file")
struct PageMapTests {
  /// Makes a small store whose pages depend only on the operations of this function.
  private func makeStore(at path: String) throws {
    let store = try Store.open(at: path)
    for round in 0..<3 {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for key in 0..<200 as Range<UInt8> {
          try tree.put([key], [UInt8](repeating: UInt8(round), count: 100))
        }
      }
      try store.checkpoint()
    }
    try store.close()
  }

  private func withStore(_ body: (_ path: String, _ folder: TemporaryFolder) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("small.cambium")
    try makeStore(at: path)
    try body(path, folder)
  }

  private func json(_ path: String) throws -> [String: Any] {
    let run = try ToolRun("pages", path, "--map", "--json")
    #expect(run.status == 0, "\(run.errors)")
    return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
  }

  @Test func aSmallStoreInLetters() throws {
    try withStore { path, _ in
      let run = try ToolRun("pages", path, "--map")
      #expect(run.status == 0)
      #expect(
        run.output == """
          small.cambium: 152.0 KiB in 19 pages of 8.0 KiB

           0  HHGGGGGGGGH.LL.LLLL

          A letter is 1 page. The number before a row is that of its first page.

          L  live     6 pages  48.0 KiB   32 %  the newest commit reaches them
          G  log      8 pages  64.0 KiB   42 %  log extents, in use or free
          .  free     2 pages  16.0 KiB   11 %  to be written over
          H  headers  3 pages  24.0 KiB   16 %  the file's header, the anchors, headers of extents

          """
      )
    }
  }

  /// A terminal that breaks the rows itself makes the map illegible.
  @Test(arguments: [20, 40])
  func aNarrowTerminalGetsNoLineThatIsTooLong(_ columnCount: Int) throws {
    try withStore { path, _ in
      let terminal = try PseudoTerminal(columnCount: UInt16(columnCount))
      let environment = ["NO_COLOR": "1"]
      let run = try ToolRun("pages", path, "--map", writingTo: terminal.device, environment: environment)
      #expect(run.status == 0)
      let text = terminal.text().replacing("\r\n", with: "\n")
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.allSatisfy { $0.count <= columnCount }, "\(text)")
      let rows = lines.filter { $0.contains(#/^ *[0-9]+  [A-Za-z.:]+$/#) }
      let letters = rows.map { row in row.drop { " 0123456789".contains($0) } }.joined()
      #expect(letters == "HHGGGGGGGGH.LL.LLLL", "\(text)")
      for use in ["live", "log", "free", "headers"] { #expect(text.contains("  \(use)"), "\(text)") }
    }
  }

  @Test func theRunsAddUpToTheFileAndAreThoseOfInfo() throws {
    try withStore { path, _ in
      let map = try json(path)
      let pageSize = try #require(map["pageSize"] as? Int)
      let runs = try #require(map["runs"] as? [[String: Any]])
      var sums: [String: Int] = [:]
      var end = 0
      for run in runs {
        #expect(run["firstPage"] as? Int == end)
        let count = try #require(run["pageCount"] as? Int)
        end += count
        sums[try #require(run["use"] as? String), default: 0] += count * pageSize
      }
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      #expect(end * pageSize == size)
      #expect((map["byteCounts"] as? [String: Int])?.filter { $0.value > 0 } == sums)
      let info = try ToolRun("info", path, "--json")
      let object = try JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any]
      let space = try #require(object?["space"] as? [String: Any])
      for (use, field) in [
        ("live", "live"), ("dead", "dead"), ("log", "log"), ("free", "free"), ("headers", "header"),
      ] {
        #expect(space["\(field)ByteCount"] as? Int == sums[use] ?? 0)
      }
    }
  }

  @Test func aPictureIsXMLWithEveryPartOfTheFile() throws {
    try withStore { path, folder in
      let svg = folder.file("map.svg")
      let run = try ToolRun("pages", path, "--map", "--svg", svg)
      #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
      let rectangles = try Rectangles(svg)
      #expect(rectangles.texts.contains("small.cambium"))
      #expect(rectangles.texts.contains { $0.hasSuffix("pages of 8.0 KiB") })
      let runs = try #require(try json(path)["runs"] as? [[String: Any]])
      #expect(rectangles.tooltips.count >= runs.count)
      #expect(rectangles.tooltips.first == "pages 0 to 1: headers")
      #expect(try ToolRun("verify", path).status == 0)
    }
  }

  /// A picture of a file of any size has at most 64 rows of 64 cells, and shows all of its pages.
  @Test func aLargeFileGetsAPictureOfTheSameSize() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a&b <large>.cambium")
    var options = StoreOptions()
    options.pageSize = 4_096
    options.durability = .none
    let store = try Store.open(at: path, options: options)
    for round in 0..<3 {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for key in 0..<60 as Range<UInt8> where round == 0 || key % 3 == UInt8(round) {
          try tree.put([key], [UInt8](repeating: key, count: 700_000))
        }
      }
    }
    try store.checkpoint()
    let pages = try store.pageUses().pageCount
    #expect(pages > 8_192)
    // It isn't closed, so that there are free pages among the live ones.
    try FileManager.default.copyItem(atPath: path, toPath: path + "2")
    try store.close()
    let svg = folder.file("map.svg")
    let run = try ToolRun("pages", path + "2", "--map", "--svg", svg)
    #expect(run.status == 0, "\(run.errors)")
    let rectangles = try Rectangles(svg)
    #expect(rectangles.tooltips.count <= 64 * 64 && rectangles.tooltips.count >= pages / 512)
    #expect(rectangles.texts.contains("a&b <large>.cambium2"))
    var end = 0
    for tooltip in rectangles.tooltips {
      let words = tooltip.replacing(":", with: "").split(separator: " ")
      #expect(Int(words[1]) == end)
      end = try #require(Int(words[3])) + 1
    }
    #expect(end == Int(pages))
    let letters = try ToolRun("pages", path + "2", "--map").lines
    #expect(letters.count < 24 + 16 && letters.allSatisfy { $0.count < 160 })
    #expect(
      letters.contains { $0.hasPrefix("A letter is 8 pages: ") || $0.hasPrefix("A letter is 16 pages: ") }
    )
  }

  @Test func onATerminalTheLettersAreColoured() throws {
    try withStore { path, _ in
      let plain = try ToolRun("pages", path, "--map").output
      #expect(!plain.contains("\u{1B}"))
      let coloured = try outputOnTerminal(path, ["TERM": "xterm", "NO_COLOR": ""])
      #expect(coloured.contains("\u{1B}["))
      #expect(coloured.replacing(try Regex("\u{1B}\\[[0-9;]*m"), with: "") == plain)
      #expect(try outputOnTerminal(path, ["TERM": "xterm", "NO_COLOR": "1"]) == plain)
      #expect(try outputOnTerminal(path, ["TERM": "dumb", "NO_COLOR": ""]) == plain)
    }
  }

  /// Returns the output of the tool on a terminal: its standard output is the far end of a new pseudo-terminal.
  private func outputOnTerminal(_ path: String, _ environment: [String: String]) throws -> String {
    let terminal = try PseudoTerminal()
    let run = try ToolRun("pages", path, "--map", writingTo: terminal.device, environment: environment)
    #expect(run.status == 0, "\(run.errors)")
    return terminal.text().replacing("\r\n", with: "\n")
  }

  @Test func aMapThatCanNotBeDrawnIsWrongUse() throws {
    try withStore { path, folder in
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(try ToolRun("pages", path, "3", "--map").status == 2)
      #expect(try ToolRun("pages", path, "--svg", folder.file("map.svg")).status == 2)
      #expect(try ToolRun("pages", path, "--map", "--json", "--svg", folder.file("map.svg")).status == 2)
      let link = folder.file("link.svg")
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      #expect(try ToolRun("pages", path, "--map", "--svg", link).status == 2)
      #expect(try ToolRun("pages", path, "--map", "--svg", folder.file("no/map.svg")).status == 1)
      #expect(try ToolRun("pages", "/dev/null", "--map").status == 2)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }
  }

  @Test func aDamagedFileIsAnErrorOrAMap() throws {
    try withStore { path, _ in
      var generator = SeededGenerator()
      let original = try Data(contentsOf: URL(fileURLWithPath: path))
      var failures = 0
      for round in 0..<20 {
        var damaged = original
        // The first rounds spare the header and the anchors.
        let start = round < 10 ? 12_288 : 0
        for _ in 0..<60 {
          let place = generator.number(in: start...damaged.count - 64)
          for byte in place..<place + 64 { damaged[byte] = UInt8(generator.number(in: 0...255)) }
        }
        try damaged.write(to: URL(fileURLWithPath: path))
        let run = try ToolRun("pages", path, "--map")
        #expect([0, 1, 2].contains(run.status), "\(run.errors)")
        #expect(run.status == 0 ? !run.output.isEmpty : run.errors.contains("error: "))
        failures += run.status == 0 ? 0 : 1
      }
      #expect(failures > 0)
    }
  }
}

/// The contents of a picture: the tooltips of its rectangles, and its texts.
private final class Rectangles: NSObject, XMLParserDelegate {
  private(set) var tooltips: [String] = []
  private(set) var texts: [String] = []
  private var path: [String] = []
  private var characters = ""

  init(_ file: String) throws {
    super.init()
    let parser = XMLParser(data: try Data(contentsOf: URL(fileURLWithPath: file)))
    parser.delegate = self
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    #expect(path.isEmpty)
  }

  func parser(
    _ parser: XMLParser,
    didStartElement element: String,
    namespaceURI: String?,
    qualifiedName: String?,
    attributes: [String: String]
  ) {
    path.append(element)
    characters = ""
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { characters += string }

  func parser(
    _ parser: XMLParser,
    didEndElement element: String,
    namespaceURI: String?,
    qualifiedName: String?
  ) {
    if path.suffix(2) == ["rect", "title"] { tooltips.append(characters) }
    if element == "text" { texts.append(characters) }
    path.removeLast()
  }
}
