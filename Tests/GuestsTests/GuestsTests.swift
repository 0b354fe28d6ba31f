import Cambium
import Foundation
import Testing

import class TestSupport.TemporaryFolder
import struct TestSupport.ToolRun

@testable import GuestsExample

/// The list of guests, driven by lines.
@MainActor struct GuestsTests {
  private let list: GuestList

  init() async throws { list = try await GuestList(.inMemory) }

  private func run(_ lines: String...) async -> [String] {
    var output = ""
    for line in lines { output = await list.perform(line) }
    return output.split(separator: "\n").map(String.init)
  }

  @Test func aSaveIsOneDifference() async throws {
    #expect(await run("seat Garden Eve Ada") == ["+ table Garden as 1", "+ 1.1 Ada", "+ 1.2 Eve"])
    #expect(await run("seat Arbour Max") == ["+ table Arbour as 1", "+ 1.1 Max"])
    #expect(await run("seat Garden Bob") == ["+ 2.2 Bob"])
    #expect(
      await run("list") == [
        "1 Arbour (1)", "  1.1 Max", "2 Garden (3)", "  2.1 Ada", "  2.2 Bob", "  2.3 Eve",
      ]
    )
    try list.close()
  }

  @Test func sectionsComeAndGoWithTheirGuests() async throws {
    _ = await run("seat Garden Ada", "seat Arbour Max Eve")
    #expect(await run("move 2.1 Arbour") == ["> 2.1 to 1.1 Ada", "- table Garden"])
    #expect(await run("move 1.2 Hall") == ["+ table Hall as 2", "> 1.2 to 2.1 Eve"])
    #expect(await run("leave 2.1") == ["- 2.1", "- table Hall"])
    #expect(await run("list") == ["1 Arbour (2)", "  1.1 Ada", "  1.2 Max"])
    try list.close()
  }

  @Test func mistakesAreNamedAndChangeNothing() async throws {
    _ = await run("seat Garden Ada")
    for place in ["2.1", "1.2", "0.0", "x", "1", "\(Int.min).1", "1.\(Int.min)"] {
      #expect(await run("leave \(place)") == ["There is no such place."])
    }
    let long = String(repeating: "x", count: 61)
    #expect(await run("seat Garden \(long)").first?.contains("name") == true)
    #expect(await run("dance") == GuestList.help.split(separator: "\n").map(String.init))
    #expect(await run("list") == ["1 Garden (1)", "  1.1 Ada"])
    #expect(await run("quit").isEmpty && !list.isRunning)
    try list.close()
  }

  /// The program itself, as a shell runs it.
  @Test func theProgramReadsAScript() throws {
    let folder = try TemporaryFolder()
    let script = folder.file("script.txt")
    try Data("seat Hall Ada\nmove 1.1 Garden\nlist\nquit\n".utf8).write(to: URL(fileURLWithPath: script))
    let run = try ToolRun("guests", arguments: [folder.file("guests.cambium"), "--script", script])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(
      run.lines == [
        "+ table Hall as 1", "+ 1.1 Ada", "+ table Garden as 1", "> 1.1 to 1.1 Ada", "- table Hall",
        "1 Garden (1)", "  1.1 Ada", "",
      ]
    )
    try list.close()
  }
}
