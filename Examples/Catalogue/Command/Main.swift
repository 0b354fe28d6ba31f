import ArgumentParser
import CatalogueExample
import Foundation

/// `catalogue STORE`: reads commands from the terminal, or from a script, and prints their results.
@main
struct CatalogueCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "Imports a catalogue from JSON, and deletes it."
  )

  @Argument(help: "The store's file, which is made if there is none.")
  var store: String

  @Option(help: "A file with commands, instead of the terminal.")
  var script: String?

  /// The main actor's context is used on the main actor's thread, so this runs on the main actor, too.
  @MainActor func run() async throws {
    let catalogue = try await Catalogue(URL(fileURLWithPath: store))
    var lines = try script.map { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n")[...] }
    if lines == nil { print(Catalogue.summary) }
    while catalogue.isRunning, let line = lines == nil ? readLine() : lines?.popFirst().map(String.init) {
      print(await catalogue.perform(line))
      fflush(nil)
    }
    try catalogue.close()
  }
}
