import ArgumentParser
import ContactsExample
import Foundation

/// `contacts STORE`: reads commands from the terminal, or from a file, and draws both windows after each.
@main
struct ContactsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contacts",
    abstract: "Edits contacts in two windows on one store."
  )

  @Argument(help: "The store's file, which is made if there is none.")
  var store: String

  /// The main actor's contexts are used on the main actor's thread, so this runs on the main actor, too.
  @MainActor func run() async throws {
    let editor = try await ContactEditor(URL(fileURLWithPath: store))
    let isTerminal = isatty(STDIN_FILENO) == 1
    try draw(editor, isTerminal)
    while editor.isRunning, let line = readLine() {
      await editor.perform(line)
      try draw(editor, isTerminal)
    }
    try editor.close()
  }

  @MainActor private func draw(_ editor: ContactEditor, _ isTerminal: Bool) throws {
    // Clears the screen, and goes to its first line.
    if isTerminal { print("\u{1b}[2J\u{1b}[H", terminator: "") }
    print(try editor.screen())
    print(isTerminal ? "\n> " : "", terminator: isTerminal ? "" : "\n")
    fflush(nil)
  }
}
