import Foundation
import TestSupport
import Testing

@Suite("Wrong use of cambium")
struct WrongUseTests {
  @Test func aWrongPredicateHasACaretUnderItsColumn() async throws {
    let library = try await Library()
    let predicate = "year > 1900 AND titel == \"Volume 1\""
    let run = try ToolRun("query", library.path, "Book", predicate)
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    let lines = run.errors.split(separator: "\n")
    let text = try #require(lines.firstIndex { $0.hasSuffix(predicate) })
    let start = lines[text].count - predicate.count
    let caret = try #require(lines[lines.index(after: text)].firstIndex(of: "^"))
    let column = lines[text + 1].distance(from: lines[text + 1].startIndex, to: caret) - start
    #expect(
      column
        == predicate.distance(
          from: predicate.startIndex,
          to: try #require(predicate.firstRange(of: "titel")).lowerBound
        )
    )
  }

  @Test(arguments: [
    "year >", "year = = 3", "(year > 3", "year > \"many\"", "year LIKES 3", "year == 3 garbage",
  ])
  func everyOtherMistakeInAPredicateIsWrongUseToo(predicate: String) async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", predicate)
    #expect(run.status == 2)
    #expect(run.errors.contains("^"))
    #expect(run.output.isEmpty)
  }

  @Test func anUnknownEntityIsAnsweredWithThoseThatExist() async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Novel")
    #expect(run.status == 2)
    #expect(run.errors.contains("Novel") && run.errors.contains("Author") && run.errors.contains("Book"))
  }

  @Test(arguments: [
    ["--sort", "titel"], ["--select", "author.nom"], ["--sort", "year:upwards"], ["--limit", "-1"],
  ])
  func anUnknownKeyOrAWrongOptionIsWrongUse(arguments: [String]) async throws {
    let library = try await Library()
    let run = try ToolRun("query", library.path, "Book", arguments[0], arguments[1])
    #expect(run.status == 2)
    #expect(!run.errors.isEmpty && run.output.isEmpty)
  }

  @Test(arguments: ["info", "verify"])
  func aMissingFileIsWrongUseAndIsNotMade(command: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("nothing.cambium")
    let run = try ToolRun(command, path)
    #expect(run.status == 2)
    #expect(run.errors.contains("nothing.cambium"))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func aFileThatWasNeverAStoreIsWrongUse() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("letter.txt")
    try String(repeating: "Dear reader, this is no store. ", count: 1_000).write(
      toFile: path,
      atomically: true,
      encoding: .utf8
    )
    #expect(try ToolRun("info", path).status == 2)
  }

  /// The system refuses to follow the path, so it isn't known whether the file exists.
  @Test func aPathThatCanNotBeFollowedIsNotCalledMissing() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("loop.cambium")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
    let run = try ToolRun("info", path)
    #expect(run.status == 1)
    #expect(run.errors.contains("loop.cambium can't be reached: "), "\(run.errors)")
  }

  @Test func aPipeIsNotWaitedFor() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let run = try ToolRun("info", path)
    #expect(run.status == 2)
    #expect(run.errors.contains("no regular file"))
  }

  @Test func aMissingArgumentIsWrongUse() throws {
    #expect(try ToolRun("query").status == 2)
    #expect(try ToolRun("frobnicate").status == 2)
  }

  @Test func helpIsNoMistake() throws {
    let run = try ToolRun("--help")
    #expect(run.status == 0)
    #expect(run.output.contains("query"))
    #expect(run.errors.isEmpty)
  }
}
