import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@Suite("What cambium says of a store")
struct StoreStateTests {
  @Test func infoNamesEntitiesWithTheirCountsAndIndexes() async throws {
    let library = try await Library()
    let run = try ToolRun("info", library.path)
    #expect(run.status == 0)
    #expect(run.output.contains("Book"))
    #expect(run.output.contains("203"))
    #expect(run.output.contains("year"))
  }

  @Test func infoSaysWhatTheBytesAreFor() async throws {
    let library = try await Library()
    let run = try ToolRun("info", library.path)
    #expect(run.output.contains(" live, "))
    #expect(run.output.contains("KiB  e/"))
  }

  /// The log after the last checkpoint of a process that died.
  @Test func infoSaysHowMuchWasReplayed() async throws {
    let library = try await Library()
    #expect(try ToolRun("info", library.path).output.contains("of which 0.0 KiB were replayed"))
    let container = try await Library.open(library.path)
    try await container.performBackgroundTask { context in
      for number in 0..<50 { context.insert(Author(name: "Author \(number)", born: number)) }
      try context.save()
    }
    let copy = library.path + "-as-it-was"
    try FileManager.default.copyItem(atPath: library.path, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try await container.close()
    let line = try #require(ToolRun("info", copy).lines.first { $0.contains("were replayed") })
    #expect(!line.contains(" 0.0 KiB were replayed"), "\(line)")
  }

  @Test func verifyWarnsOfALastCopy() async throws {
    let library = try await Library()
    // The second of the two anchors.
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: library.path))
    try handle.seek(toOffset: 8_192)
    try handle.write(contentsOf: Data(repeating: 0x5A, count: 64))
    try handle.close()
    let run = try ToolRun("verify", library.path)
    #expect(run.status == 0 && run.output.contains("everything is in order"))
    #expect(run.errors == "warning: One of the two anchors is damaged.\n")
  }

  @Test func compactMakesTheFileShort() async throws {
    let library = try await Library()
    let run = try ToolRun("compact", library.path)
    #expect(run.status == 0)
    #expect(run.output.contains(" before, ") && run.output.contains(" now; "))
    #expect(try ToolRun("verify", library.path).status == 0)
    #expect(try ToolRun("compact", library.path + "-missing").status == 2)
  }

  @Test func compactWritesThePagesInAnotherSize() async throws {
    let library = try await Library()
    let id = try ToolRun("info", library.path).lines.filter {
      $0.contains("  store ") || $0.contains("  commit ")
    }
    for pageSize in ["65536", "4096"] {
      let run = try ToolRun("compact", library.path, "--page-size", pageSize)
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains(" entries were written anew"))
      let info = try ToolRun("info", library.path)
      #expect(info.output.contains("in pages of \(pageSize == "4096" ? "4.0" : "64.0") KiB"))
      // The objects' IDs stay what they were.
      #expect(info.lines.filter { $0.contains("  store ") || $0.contains("  commit ") } == id)
      #expect(try ToolRun("verify", library.path).status == 0)
      #expect(try ToolRun("query", library.path, "Book", "--count").output == "203\n")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: library.folder.path) == ["library.cambium"])
    let wrong = try ToolRun("compact", library.path, "--page-size", "5000")
    #expect(wrong.status == 2 && wrong.errors.contains("power of two"))
    let container = try await Library.open(library.path)
    let refused = try ToolRun("compact", library.path, "--page-size", "8192")
    #expect(refused.status == 1 && refused.errors.contains("storeInUse"))
    try await container.close()
  }

  @Test func infoIsJSONForPrograms() async throws {
    let library = try await Library()
    let run = try ToolRun("info", library.path, "--json")
    let info = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    let entities = try #require(info["entities"] as? [[String: Any]])
    #expect(entities.map { $0["name"] as? String } == ["Author", "Book"])
    #expect(entities.map { $0["count"] as? Int } == [2, 203])
  }

  @Test func aSoundStorePassesVerification() async throws {
    let library = try await Library()
    let run = try ToolRun("verify", library.path)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
  }

  @Test func theToolWritesNothing() async throws {
    let library = try await Library()
    let before = try Data(contentsOf: URL(fileURLWithPath: library.path))
    _ = try ToolRun("info", library.path)
    _ = try ToolRun("verify", library.path)
    _ = try ToolRun("query", library.path, "Book", "year > 1900")
    #expect(try Data(contentsOf: URL(fileURLWithPath: library.path)) == before)
  }

  @Test func aDamagedStoreEndsWithStatus1() async throws {
    let library = try await Library()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: library.path))
    // The test changes a title in every copy that the file has of it.
    var place = bytes.firstRange(of: Data("Volume 77".utf8))
    while let found = place {
      bytes[found.lowerBound] ^= 1
      place = bytes[found.upperBound...].firstRange(of: Data("Volume 77".utf8))
    }
    try bytes.write(to: URL(fileURLWithPath: library.path))
    let verification = try ToolRun("verify", library.path)
    #expect(verification.status == 1)
    let query = try ToolRun("query", library.path, "Book", "--select", "title,price")
    #expect(query.status == 1)
    #expect(query.errors.contains("library.cambium"))
  }

  /// A page that can't be read doesn't prevent the check of other pages.
  @Test func verifyPrintsEveryProblem() async throws {
    let library = try await Library()
    let store = try Store.open(at: library.path)
    let schema = try #require(try SchemaTree.schema(in: store.snapshot()))
    let author = try #require(schema.entity(named: "Author"))
    try await store.write { transaction in
      _ = try transaction.tree("stray").put([1], [])
      _ = try transaction.tree("schema").remove(SchemaTree.numbersKey(author.number))
    }
    try await store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: library.path))
    var place = bytes.firstRange(of: Data("Volume 77".utf8))
    while let found = place {
      bytes[found.lowerBound] ^= 1
      place = bytes[found.upperBound...].firstRange(of: Data("Volume 77".utf8))
    }
    try bytes.write(to: URL(fileURLWithPath: library.path))
    let run = try ToolRun("verify", library.path)
    #expect(run.status == 1)
    for problem in [
      "A page's checksum is wrong. (tree e/Book (e/", "(tree stray)", "no lease of numbers for Author",
    ] {
      #expect(run.errors.contains(problem), "\(run.errors)")
    }
    #expect(run.errors.contains(" problems"))
  }

  @Test func aStoreThatIsBeingWrittenNamesItsHolder() async throws {
    let library = try await Library()
    let container = try await Library.open(library.path)
    let run = try ToolRun("query", library.path, "Book", "--count")
    #expect(run.status == 1)
    #expect(run.errors.contains("storeInUse"))
    #expect(run.errors.contains(String(ProcessInfo.processInfo.processIdentifier)))
    try await container.close()
    #expect(try ToolRun("query", library.path, "Book", "--count").output == "203\n")
  }

  @Test func infoNamesOtherProcessesThatRead() async throws {
    let library = try await Library()
    let id = ProcessInfo.processInfo.processIdentifier
    #expect(try !ToolRun("info", library.path).output.contains("also in"))
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: library.path, options: options)
    let run = try ToolRun("info", library.path)
    #expect(run.status == 0 && run.output.contains("\n  also in   process \(id) ("), "\(run)")
    let json = try ToolRun("info", library.path, "--json").output
    let info = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let processes = try #require(info["otherProcesses"] as? [[String: Any]])
    #expect(processes.contains { $0["id"] as? Int == Int(id) })
    try await store.close()
  }

  @Test func twoReadersDoNotDisturbEachOther() async throws {
    let library = try await Library()
    async let first = ToolRun("query", library.path, "Book", "--count")
    async let second = ToolRun("verify", library.path)
    let statuses = try await [first.status, second.status]
    #expect(statuses == [0, 0])
  }
}
