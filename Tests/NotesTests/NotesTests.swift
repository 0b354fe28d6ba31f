import Cambium
import Foundation
import Testing

import class TestSupport.TemporaryFolder
import struct TestSupport.ToolRun

@testable import NotesExample

/// The note keeper, driven by lines.
@MainActor struct NotesTests {
  private let keeper: NoteKeeper

  init() async throws {
    keeper = try await NoteKeeper(.inMemory)
  }

  private func run(_ lines: String...) async -> String {
    var output = ""
    for line in lines { output = await keeper.perform(line) }
    return output
  }

  @Test func whatIsWrittenIsShown() async throws {
    #expect(await run("add home Buy tea", "add work Call Eve") == "1 home: Buy tea ★★★\n2 work: Call Eve ★★★")
    #expect(await run("star 2 5") == "1 home: Buy tea ★★★\n2 work: Call Eve ★★★★★")
    for row in ["3", "0", "-1", "\(Int.min)", "\(Int.max)"] {
      #expect(await run("star \(row) 5") == "There is no such row.")
    }
    try keeper.close()
  }

  @Test func aRefusedWriteSaysWhyAndSavesNothing() async throws {
    _ = await run("add home Buy tea")
    #expect(await run("star 1 9").contains("stars"))
    #expect(await run("list") == "1 home: Buy tea ★★★")
    try keeper.close()
  }

  @Test func conditionsAreListsAndRanges() async throws {
    _ = await run("add home a", "add work b", "add garden c", "star 2 1", "star 1 5")
    // Rows are in the order of their folders: garden, home, work.
    #expect(await run("list folder=home,work") == "1 home: a ★\n2 work: b ★★★")
    #expect(await run("list stars=3...5") == "1 garden: c ★★★★★\n2 work: b ★★★")
    #expect(await run("list folder=home stars=1") == "1 home: a ★")
    #expect(await run("list") == "1 garden: c ★★★★★\n2 home: a ★\n3 work: b ★★★")
    #expect(await run("list stars=5...3") == "stars=2 or stars=3...5")
    #expect(await run("list colour=red").contains("is no condition"))
    try keeper.close()
  }

  @Test func aTrialSavesNothing() async throws {
    _ = await run("add home a", "add home b", "add work c")
    #expect(await run("trial folder=home") == "2 would go")
    #expect(await run("summary") == "home: 2\nwork: 1\nbest: 3")
    #expect(await run("tidy folder=home") == "2 are gone")
    #expect(await run("summary") == "work: 1\nbest: 3")
    #expect(await run("tidy folder=work", "summary") == "best: –")
    try keeper.close()
  }

  @Test func theViewContextOnlyReads() async throws {
    _ = await run("add home a")
    let note = try #require(try keeper.notes(NoteFilter([])).first)
    note.stars = 1
    let context = try #require(note.context)
    #expect(throws: ContextError.self) { try context.save() }
    context.rollback()
    #expect(note.stars == 3)
    #expect(await run("list") == "1 home: a ★★★")
    #expect(await run("") == NoteKeeper.help)
    #expect(await run("quit").isEmpty && !keeper.isRunning)
    try keeper.close()
  }

  /// The program itself, as a shell runs it.
  @Test func theProgramReadsAScript() throws {
    let folder = try TemporaryFolder()
    let script = folder.file("script.txt")
    try Data("add home a\nstar 1 5\nsummary\nquit\n".utf8).write(to: URL(fileURLWithPath: script))
    let run = try ToolRun("notes", arguments: [folder.file("notes.cambium"), "--script", script])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(run.lines == ["1 home: a ★★★", "1 home: a ★★★★★", "home: 1", "best: 5", ""])
    try keeper.close()
  }

  /// Without standard streams the store's file doesn't get their numbers, into which the program prints.
  @Test func aProgramWithoutStreamsKeepsItsStore() async throws {
    let folder = try TemporaryFolder()
    let (script, path) = (folder.file("script.txt"), folder.file("notes.cambium"))
    try Data("add home a\nstar 1 5\nlist\nquit\n".utf8).write(to: URL(fileURLWithPath: script))
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    let program = ToolRun.products.appendingPathComponent("notes").path
    shell.arguments = ["-c", #"exec "$0" "$1" --script "$2" <&- >&- 2>&-"#, program, path, script]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    let stored = try await NoteKeeper(.file(URL(fileURLWithPath: path)))
    #expect(await stored.perform("list") == "1 home: a ★★★★★")
    try stored.close()
    try keeper.close()
  }
}
