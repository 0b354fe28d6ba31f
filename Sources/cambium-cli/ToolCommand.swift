import ArgumentParser

/// The command-line tool `cambium`.
struct ToolCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium",
    abstract: "Looks into a Cambium store.",
    discussion: """
      The store is opened without its model classes. All commands but compact and migrate open it for reading only and write nothing to it.

      Characters in a store's text that control a terminal or change the direction of text are printed as \
      escapes: \\u{1b}, in JSON \\u001b.

      Exit status: 0 when all is well, 2 for wrong use (an invalid predicate, an unknown name, a missing \
      file), 1 for anything else, such as a damaged store.
      """,
    subcommands: [
      InfoCommand.self, SchemaCommand.self, VerifyCommand.self, QueryCommand.self, PagesCommand.self,
      TreeCommand.self, LogCommand.self, HistoryCommand.self, CompactCommand.self, MigrateCommand.self,
    ]
  )
}

@main
enum Tool {
  /// This replaces ArgumentParser's own `main`, because the exit status of wrong use is 2 here.
  static func main() async {
    StandardStreams.reserve()
    do {
      var command = try ToolCommand.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      try StandardOutput.finish()
    } catch {
      Failure(error).exit()
    }
  }
}
