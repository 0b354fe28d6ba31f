import Cambium
import Foundation
import TestSupport
import Testing

@Model private final class Ticket {
  var id: String
  init(_ id: String) { self.id = id }
}

@Suite("cambium query")
struct QueryCommandTests {
  @Test func outputThatCannotBeWrittenIsSaid() async throws {
    let library = try await Library()
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let run = try ToolRun("query", library.path, "Book", writingTo: full)
    #expect(run.status == 1)
    #expect(run.errors.contains("No space left"))
  }

  @Test func countPrintsTheBareNumber() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", "year > 1900", "--count")
    #expect(run.output == "103\n")
    #expect(run.errors.isEmpty)
    #expect(run.status == 0)
  }

  @Test func aMissingPredicateMeansEverything() async throws {
    let library = try await Library()
    #expect(try ToolRun("query", library.path, "Book", "--count").output == "203\n")
  }

  @Test func aTableHasAColumnForEachKeyPathInTheirOrder() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "author != nil",
      "--select",
      "year,title,author.name",
      "--limit",
      "2"
    )
    #expect(
      run.lines == [
        "year  title      author.name",
        "────  ─────────  ────────────",
        "1810  Volume 10  Mary Shelley",
        "1820  Volume 20  Mary Shelley",
      ]
    )
    #expect(run.status == 0)
  }

  @Test func aKeyPathThroughAMissingRelationshipIsEmpty() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", "year == 1801", "--select", "author.name,title")
    #expect(run.lines.last == "             Volume 1")
  }

  @Test func predicatesFollowRelationships() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "author.name BEGINSWITH \"Mary\" AND isLent == YES",
      "--count"
    )
    #expect(run.output == "20\n")
  }

  @Test func resultsAreSortedByEveryKeyInTurn() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "year BETWEEN {1901, 1906}",
      "--sort",
      "isLent:desc",
      "--sort",
      "year",
      "--select",
      "year"
    )
    #expect(run.lines.dropFirst(2) == ["1902", "1904", "1906", "1901", "1903", "1905"])
  }

  @Test func offsetAndLimitCutAPageOutOfTheResult() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "--sort",
      "year:desc",
      "--offset",
      "3",
      "--limit",
      "2",
      "--select",
      "year"
    )
    #expect(run.lines.dropFirst(2) == ["2000", "1999"])
  }

  @Test func jsonHoldsTheSameValues() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "year >= 2000",
      "--sort",
      "year",
      "--json",
      "--select",
      "title,year,price,isLent,author.born,bought"
    )
    let rows = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
    #expect(
      rows.map { $0["title"] as? String } == ["Volume 200", "Say \"cheese\"", "Two\nlines", "Ünïcode 🎈"]
    )
    #expect(rows.map { $0["year"] as? Int } == [2000, 2100, 2101, 2102])
    #expect(rows.map { $0["price"] as? Double } == [nil, nil, 1.5, -0.25])
    #expect(rows[0]["price"] is NSNull)
    #expect(rows.map { $0["isLent"] as? Bool } == [true, false, false, false])
    #expect(rows.map { $0["author.born"] as? Int } == [1797, nil, nil, nil])
    #expect(rows[0]["bought"] as? String == "1970-01-01T00:33:20Z")
  }

  @Test func anEmptyResultIsAnEmptyArrayInJSON() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", "year < 0", "--json")
    let rows = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [Any])
    #expect(rows.isEmpty)
  }

  @Test func aRowOfATableStaysALine() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", "year == 2101", "--select", "title,year")
    #expect(run.lines.last == "Two\\u{a}lines  2101")
  }

  @Test func whatATerminalObeysIsEscaped() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let container = try await Library.open(path)
    try await container.performBackgroundTask { context in
      // The text after CSI, in one character or two, would colour the rest.
      let title = "\u{1B}[31m\u{9B}31m\u{85}\u{2028}\u{2029}é👩‍👦"
      context.insert(Book(title: title, year: 1, price: nil, isLent: false, author: nil))
      try context.save()
    }
    try await container.close()
    let run = try ToolRun("query", path, "Book", "--select", "title")
    #expect(run.lines.last == "\\u{1b}[31m\\u{9b}31m\\u{85}\\u{2028}\\u{2029}é👩‍👦")
  }

  @Test func withoutSelectionEveryStoredPropertyIsShown() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", "year == 1810")
    let titles = try #require(run.lines.first).split(separator: " ").map(String.init)
    #expect(titles == ["id", "title", "year", "price", "isLent", "bought", "author"])
  }

  @Test func anAttributeThatIsCalledIDHasAColumnOfItsOwn() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tickets.cambium")
    let container = try await PersistentContainer(
      "tickets",
      models: Ticket.self,
      at: URL(fileURLWithPath: path)
    )
    try await container.performBackgroundTask { context in
      context.insert(Ticket("a7"))
      try context.save()
    }
    try await container.close()
    let run = try ToolRun("query", path, "Ticket", "--json")
    let rows = try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
    #expect(rows.count == 1 && rows[0]["id"] as? String == "a7" && rows[0]["objectID"] as? Int != nil)
  }

  @Test func explainShowsTheIndexRangeAndItsExactCount() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", "year BETWEEN {1901, 1910}", "--explain")
    #expect(run.output.contains("index range"))
    #expect(run.output.contains("10 rows (exact)"))
    #expect(run.status == 0)
  }

  @Test func aPlanIsJSONForPrograms() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", "year == 1901", "--explain", "--json")
    let plan = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    #expect(plan["access"] as? String == "index range")
    #expect(plan["rowCount"] as? Int == 1)
  }
}
