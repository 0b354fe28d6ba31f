import Foundation
import Testing

import class TestSupport.TemporaryFolder
import struct TestSupport.ToolRun

@testable import JukeboxExample

/// The jukebox, driven by scripts.
@Suite(.timeLimit(.minutes(60))) struct JukeboxTests {
  private let folder: TemporaryFolder
  private let jukebox: Jukebox

  init() throws {
    folder = try TemporaryFolder()
    jukebox = Jukebox(URL(fileURLWithPath: folder.file("jukebox.cambium")))
  }

  /// Performs the lines, and returns the lines of the screen after the last.
  private func run(_ lines: String...) async -> [String] {
    for line in lines { _ = await jukebox.perform(line) }
    return jukebox.screen().split(separator: "\n").map(String.init)
  }

  @Test func tunesAreListedAndFound() async throws {
    var screen = await run("all", "add River by Joni", "add Carey by Joni", "add Feeling Good by Nina")
    #expect(
      screen == [
        "All tunes", "1 Joni: Carey", "2 Joni: River", "3 Nina: Feeling Good", "♪ – · 0 waiting",
        "Feeling Good is in the box.",
      ]
    )
    screen = await run("by Nina")
    #expect(screen.prefix(2) == ["Tunes by Nina", "1 Nina: Feeling Good"])
    screen = await run("find Ri")
    #expect(screen.prefix(2) == ["Tunes with “Ri”", "1 Joni: River"])
    screen = await run("retitle 1 Rivers", "all", "remove 1")
    #expect(
      screen == ["All tunes", "1 Joni: Rivers", "2 Nina: Feeling Good", "♪ – · 0 waiting", "Carey is gone."]
    )
    try await jukebox.close()
  }

  @Test func playingIsCounted() async throws {
    var screen = await run("all", "add A by X", "add B by X", "queue 2", "queue 1", "queue 2")
    #expect(screen.suffix(2) == ["♪ – · 3 waiting", "B is number 3 in the queue."])
    screen = await run("next")
    #expect(screen == ["All tunes", "1 X: A", "2 X: B ×1", "♪ B · 2 waiting", "Playing B by X."])
    screen = await run("next", "next", "hits")
    #expect(screen.prefix(4) == ["Hits", "1 X: B ×2", "2 X: A ×1", "♪ B · 0 waiting"])
    screen = await run("next")
    #expect(screen.suffix(2) == ["♪ – · 0 waiting", "The queue is empty."])
    try await jukebox.close()
  }

  @Test func aTuneThatIsGoneIsNotPlayed() async throws {
    let screen = await run("all", "add A by X", "queue 1", "remove 1", "next")
    #expect(screen == ["All tunes", "♪ – · 0 waiting", "That tune is gone."])
    try await jukebox.close()
  }

  @Test func mistakesAreTold() async throws {
    #expect(await run("all", "dance").last == "“dance” is no command; help lists them.")
    for row in [7, 0, Int.min] { #expect(await run("queue \(row)").last == "There is no row \(row).") }
    #expect(await run("add A").last == "add TITLE by ARTIST")
    #expect(
      await run("add \(String(repeating: "a", count: 100)) by X").contains { $0.hasPrefix("It didn't work") }
    )
    #expect(await jukebox.perform("quit") == false)
    try await jukebox.close()
  }

  @Test func aScriptIsPlayed() throws {
    let (store, script) = (folder.file("script.cambium"), folder.file("party.txt"))
    try "add Carey by Joni\nqueue 1\nnext\nhits\nquit\n".write(
      toFile: script,
      atomically: true,
      encoding: .utf8
    )
    let arguments = [store, "--script", script]
    let run = try ToolRun("jukebox", arguments: arguments)
    #expect(run.status == 0 && run.errors.isEmpty)
    let screens = run.output.components(separatedBy: "\n\n").filter { !$0.isEmpty }
    #expect(screens.count == 5 && screens.last == "Hits\n1 Joni: Carey ×1\n♪ Carey · 0 waiting")
    // The next run finds what this one has stored.
    #expect(try ToolRun("jukebox", arguments: arguments).output.contains("1 Joni: Carey ×1"))
  }
}
