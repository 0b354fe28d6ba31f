import Cambium
import Foundation
import TestSupport
import Testing

@Suite("cambium history")
struct HistoryCommandTests {
  private let library: Library
  private let token: HistoryToken

  init() async throws {
    library = try await Library()
    let container = try await Library.open(library.path)
    try await container.keepHistory()
    try await container.performBackgroundTask { context in
      (context.author, context.name) = ("sync", "a \"b\"")
      context.insert(Author(name: "New", born: 1))
      try context.save()
    }
    token = try container.newestHistoryToken()
    try await container.batchUpdate(From<Book>().where { $0.year < 1803 }, .set(\.title, to: "T"))
    try await container.batchDelete(From<Author>().where { $0.name == "New" }, author: "cleaner")
    try await container.close()
  }

  @Test func theTableHasALineForEachTransaction() throws {
    let run = try ToolRun("history", library.path)
    #expect(run.status == 0 && run.lines.count == 5)
    let counts = run.lines.dropFirst(2).map { $0.split(separator: " ").suffix(3).joined(separator: " ") }
    #expect(counts == ["1 0 0", "0 2 0", "0 0 1"])
    #expect(run.lines[2].contains("sync     a \"b\""))
    let changes = try ToolRun("history", library.path, "--changes", "--entity", "Book")
    #expect(
      changes.lines.count == 5 && changes.lines[4].contains("Book 2") && changes.lines[4].contains("title"),
      "\(changes.lines)"
    )
  }

  @Test func linesOfJSONHaveEverything() throws {
    struct Line: Decodable {
      struct Change: Decodable {
        let id: String
        let kind: String
        let properties: [String]?
      }
      let token: HistoryToken
      let author: String?
      let context: String?
      let changes: [Change]
    }
    let run = try ToolRun("history", library.path, "--output", "jsonl")
    let lines = try run.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    #expect(lines.map(\.author) == ["sync", nil, "cleaner"])
    #expect(lines[0].context == "a \"b\"" && lines[0].token == token)
    #expect(lines[1].changes.map(\.properties) == [["title"], ["title"]])
    #expect(lines[2].changes.map(\.kind) == ["deleted"])
    #expect(ManagedObjectID(uriRepresentation: lines[2].changes[0].id)?.entityName == "Author")
  }

  @Test func whatIsListedCanBeRestricted() throws {
    func count(_ arguments: String...) throws -> Int {
      try ToolRun(arguments: ["history", library.path, "--output", "jsonl"] + arguments).lines.count {
        !$0.isEmpty
      }
    }
    #expect(try count("--since", "\(token)") == 2)
    #expect(try count("--since", "2020-01-01") == 3)
    #expect(try count("--since", "2020-01-01T10:00:00Z", "--author", "sync") == 1)
    #expect(try count("--since", "2100-01-01") == 0)
    #expect(try count("--entity", "Author") == 2)
    #expect(try count("--last", "1") == 1)
    #expect(try count("--last", "0") == 0)
    #expect(try count("--last", "9", "--since", "\(token)") == 2)
    let run = try ToolRun("history", library.path, "--last", "2")
    let counts = run.lines.dropFirst(2).map { $0.split(separator: " ").suffix(3).joined(separator: " ") }
    #expect(counts == ["0 2 0", "0 0 1"])
  }

  @Test func wrongUseIsSaid() async throws {
    for arguments in [
      ["--since", "yesterday"], ["--since", "2020-01-01T10:00"], ["--since", "2020-02-31"],
      ["--entity", "Nobody"], ["--last", "-1"], ["--output", "csv"],
    ] {
      #expect(try ToolRun(arguments: ["history", library.path] + arguments).status == 2)
    }
    let other = try await Library()
    let run = try ToolRun("history", other.path)
    #expect(run.status == 1 && run.errors.contains("keeps no history"))
    let foreign = try ToolRun("history", library.path, "--since", "\(UUID()):4")
    #expect(foreign.status == 1 && foreign.errors.contains("historyExpired"))
  }
}
