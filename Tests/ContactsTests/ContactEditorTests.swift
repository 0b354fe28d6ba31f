import Foundation
import TestSupport
import Testing

@testable import ContactsExample

/// The editor, driven by scripts.
@MainActor struct ContactEditorTests {
  private let folder: TemporaryFolder
  private let editor: ContactEditor

  init() async throws {
    folder = try TemporaryFolder()
    editor = try await ContactEditor(URL(fileURLWithPath: folder.file("contacts.cambium")))
  }

  /// Performs the lines, and returns the screen after the last.
  private func run(_ lines: String...) async throws -> String {
    for line in lines { await editor.perform(line) }
    return try editor.screen()
  }

  /// The columns of the screen, without their titles.
  private func rows(_ screen: String) -> [[String]] {
    screen.split(separator: "\n").dropFirst(2).map { line in
      line.split(separator: "│", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
  }

  @Test func windowsShowEachOthersSaves() async throws {
    var screen = try await run("add Ada", "set 1 mail ada@x.org", "set 1 circle Family")
    #expect(screen.contains("▶ left (2 unsaved)"))
    #expect(rows(screen) == [["+1 Ada ada@x.org (Family)", ""]])
    screen = try await run("save")
    #expect(rows(screen)[0] == ["1 Ada ada@x.org (Family)", "1 Ada ada@x.org (Family)"])
    #expect(screen.hasSuffix("Saved."))
    screen = try await run("other", "set 1 circle", "add Bob")
    #expect(rows(screen)[0] == ["1 Ada ada@x.org (Family)", "~1 Ada ada@x.org"])
    #expect(rows(screen)[1] == ["", "+2 Bob"])
    screen = try await run("revert")
    #expect(rows(screen) == [["1 Ada ada@x.org (Family)", "1 Ada ada@x.org (Family)"]])
    try editor.close()
  }

  @Test func stepsAreUndone() async throws {
    var screen = try await run("add Ada", "set 1 phone 5", "delete 1")
    #expect(rows(screen) == [])
    screen = try await run("undo")
    #expect(rows(screen) == [["+1 Ada 5", ""]])
    screen = try await run("undo", "undo")
    #expect(rows(screen) == [])
    screen = try await run("undo")
    #expect(screen.hasSuffix("There is nothing to undo."))
    screen = try await run("redo", "redo")
    #expect(rows(screen) == [["+1 Ada 5", ""]])
    try editor.close()
  }

  @Test func aConflictIsShownAndResolved() async throws {
    _ = try await run("add Ada", "set 1 phone 0", "save")
    for (decision, phone) in [("mine", "1"), ("theirs", "2")] {
      var screen = try await run(
        "set 1 phone 1",
        "set 1 name Ada L",
        "other",
        "set 1 phone 2",
        "save",
        "other",
        "save"
      )
      #expect(screen.contains("! Ada L phone: mine 1, theirs 2"), "\(screen)")
      #expect(screen.contains("Not saved"))
      screen = try await run("back")
      #expect(!screen.contains("!"))
      screen = try await run("save", decision)
      #expect(
        screen.hasSuffix("Saved.") && rows(screen)[0] == ["1 Ada L \(phone)", "1 Ada L \(phone)"],
        "\(screen)"
      )
      _ = try await run("set 1 phone 0", "set 1 name Ada", "save")
    }
    let screen = try await run("set 1 phone 7", "other", "delete 1", "save", "other", "save")
    #expect(screen.contains("! Ada: mine changed, theirs deleted"), "\(screen)")
    #expect(rows(try await run("theirs")).first?.first != "1 Ada 7")
    try editor.close()
  }

  @Test func aRowThatIsNotThereIsAMistake() async throws {
    for row in [0, 2, -1, Int.min, Int.max] {
      #expect(try await run("add Ada", "delete \(row)").hasSuffix("There is no such row."))
      _ = try await run("revert")
    }
    try editor.close()
  }

  @Test func aSheetIsKeptOrCancelled() async throws {
    var screen = try await run("add Ada", "save", "sheet 1", "set name Countess", "set phone 9")
    #expect(screen.contains("│ name: Countess") && rows(screen)[0] == ["1 Ada", "1 Ada"])
    screen = try await run("cancel")
    #expect(rows(screen) == [["1 Ada", "1 Ada"]] && !screen.contains("Sheet"))
    screen = try await run("sheet 1", "set name Countess", "done")
    #expect(rows(screen) == [["~1 Countess", "1 Ada"]])
    screen = try await run("undo")
    #expect(rows(screen) == [["1 Ada", "1 Ada"]])
    screen = try await run("cancel")
    #expect(screen.hasSuffix("No sheet is open."))
    try editor.close()
  }

  @Test func aRefusedSaveSaysWhyAndLosesNothing() async throws {
    var screen = try await run("add Ada", "set 1 mail a@b", "add Eve", "set 2 mail a@b", "save")
    #expect(screen.contains("Contact is unique by mail") && rows(screen)[1][0] == "+2 Eve a@b", "\(screen)")
    screen = try await run("set 2 name", "save")
    #expect(screen.contains("must have a length from 1 to 60"), "\(screen)")
    screen = try await run("set 1 name Eve", "set 1 mail", "save")
    #expect(screen.hasSuffix("Saved."), "\(screen)")
    try editor.close()
  }

  @Test func theHistorySaysWhoDidWhat() async throws {
    _ = try await run(
      "add Ada",
      "set 1 mail a@b",
      "save",
      "other",
      "set 1 phone 3",
      "save",
      "delete 1",
      "save"
    )
    let screen = try await run("history")
    #expect(
      screen.contains(
        """
        History
          left inserted Contact 1
          right updated Contact 1 phone
          right deleted Contact 1 <a@b>
        """
      ),
      "\(screen)"
    )
    #expect(try await !run("back").contains("History"))
    try editor.close()
  }

  @Test func mistakesAreSaid() async throws {
    for line in [
      "", "add", "set", "set 1", "set 1 age 5", "set 9 name x", "delete", "delete x", "delete 3", "sheet 0",
      "save now", "jump",
    ] {
      await editor.perform(line)
      let screen = try editor.screen()
      #expect(screen.split(separator: "\n").count >= 3, "\(line): \(screen)")
    }
    #expect(try await run("help").contains("add NAME"))
    #expect(editor.isRunning)
    _ = try await run("quit")
    #expect(!editor.isRunning)
    try editor.close()
  }

  /// The program itself, as a shell runs it.
  @Test func theProgramReadsAScript() async throws {
    try editor.close()
    let store = folder.file("piped.cambium")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("contacts")
    process.arguments = [store]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("add Ada\nsave\nhistory\nquit\n".utf8))
    try input.fileHandleForWriting.close()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && text.contains("left inserted Contact 1"), "\(text)")
  }
}
