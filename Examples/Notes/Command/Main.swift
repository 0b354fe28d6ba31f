import ArgumentParser
import Cambium
import Foundation
import NotesExample

/// `notes`: reads commands from the terminal, or from a script, and prints their results.
@main
struct NotesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "notes", abstract: "Keeps notes in folders.")

  @Argument(help: "The store's file; without one, notes.cambium in the folder for data.")
  var store: String?

  @Option(help: "A file with commands, instead of the terminal.")
  var script: String?

  /// The main actor's context is used on the main actor's thread, so this runs on the main actor, too.
  @MainActor func run() async throws {
    let location = try store.map { StoreLocation.file(URL(fileURLWithPath: $0)) } ?? .named("notes")
    let keeper = try await NoteKeeper(location)
    var lines = try script.map { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n")[...] }
    if lines == nil { print(NoteKeeper.help) }
    while keeper.isRunning, let line = lines == nil ? readLine() : lines?.popFirst().map(String.init) {
      print(await keeper.perform(line))
      fflush(nil)
    }
    try keeper.close()
  }
}
