import ArgumentParser
import Foundation
import JukeboxExample

/// `jukebox STORE`: reads commands from the terminal, or from a script, and draws the screen after each.
@main
struct JukeboxProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jukebox",
    abstract: "Plays tunes, and counts how often."
  )

  @Argument(help: "The store's file, which is made if there is none.")
  var store: String

  @Option(help: "A file with commands, instead of the terminal.")
  var script: String?

  func run() async throws {
    var lines = try script.map { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n")[...] }
    let jukebox = Jukebox(URL(fileURLWithPath: store))
    let isTerminal = lines == nil && isatty(STDIN_FILENO) == 1
    var goesOn = await jukebox.perform("all")
    while goesOn {
      // Clears the screen, and goes to its first line.
      if isTerminal { print("\u{1b}[2J\u{1b}[H", terminator: "") }
      print(jukebox.screen(), terminator: isTerminal ? "\n> " : "\n\n")
      fflush(nil)
      guard let line = lines == nil ? readLine() : lines?.popFirst().map(String.init) else { break }
      goesOn = await jukebox.perform(line)
    }
    try await jukebox.close()
  }
}
