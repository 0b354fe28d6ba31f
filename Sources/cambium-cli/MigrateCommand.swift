import ArgumentParser
import Foundation
import GraphContext

/// `cambium migrate STORE --to SCHEMA`: brings a store to another schema, or through several.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Brings a store to another schema, where that needs no code.",
    discussion: """
      The schema is that of another store, or a file as `cambium schema --json` prints it. In such a file, \
      "originalName" of an entity or a property names what it is called in the store, and "default" of an attribute is what objects get that \
      have no value. What the schema doesn't have is removed from the store.

      With several --to the store goes through the schemas in the order in which they are given. Each schema \
      must have a version (in a file: "version": "2.0.0") that is later than the one before. The store \
      begins after the schema that it has, and keeps the version of the last. The version of a single schema \
      is kept likewise; a schema without one that changes the store leaves it without a version. A store of \
      a later version than the last schema is refused.

      Says first what happens: what changes, which trees are built and dropped, and what is in the way. If \
      anything is in the way, these changes and objects are listed, the file stays as it is, and the status is 1. \
      With --dry-run nothing else is done, and nothing is written to the store. What several stages do is \
      worked out on a copy of the store in the folder of temporary files (TMPDIR); if the command is killed, the \
      next one removes the copy. With one \
      --to, --json prints an object; with several, it prints an array with an object for each stage to come.

      No other process may have the store open. Shows its progress on a terminal. An interrupted migration \
      goes on where it stopped when the same command is given again.
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(
    help: "The schema: a store, or JSON. Can be given several times.",
    completion: .file(extensions: ["cambium", "json"])
  )
  var to: [String]

  @Flag(help: "Says what would happen, and writes nothing.")
  var dryRun = false

  @Flag(help: "Prints JSON.")
  var json = false

  func run() async throws {
    let path = try store.path()
    let url = URL(fileURLWithPath: path)
    let route = try Self.route(of: path, to: to)
    let forecasts = try route.forecasts(at: url)
    try show(forecasts)
    if let impossible = forecasts.first(where: { !$0.isPossible }) { throw Self.refusal(impossible, path) }
    if !dryRun, forecasts.contains(where: { !$0.isCurrent }) { try await Self.migrate(url, by: route) }
  }

  /// The targets are closed when the method returns, because one of them may be the store itself.
  private static func route(of path: String, to targets: [String]) throws -> MigrationRoute {
    try MigrationRoute(of: path, to: targets.map { try MigrationTarget(path: StoreArgument.path($0)) })
  }

  private func show(_ forecasts: [MigrationForecast]) throws {
    if json { return to.count == 1 ? try JSONText.print(forecasts[0]) : try JSONText.print(forecasts) }
    for (place, forecast) in forecasts.enumerated() {
      if place > 0 { StandardOutput.print("") }
      for line in forecast.lines { StandardOutput.print(line) }
    }
  }

  private static func refusal(_ forecast: MigrationForecast, _ path: String) -> Failure {
    let (changes, objects) = (forecast.refusal.obstacles.count, forecast.refusal.offenderCount)
    let what =
      changes > 0
      ? "\(changes) \(changes == 1 ? "change" : "changes") can't be inferred"
      : "\(objects) \(objects == 1 ? "object is" : "objects are") in the way"
    let schema = forecast.version.map { "the schema of version \($0)" } ?? "the schema"
    return Failure(.store, EscapedText.line("error: \(path) can't be migrated to \(schema): \(what)"))
  }

  private static func migrate(_ url: URL, by route: MigrationRoute) async throws {
    let monitor = MigrationMonitor(chunkByteCount: nil) { progress in
      ProgressBar.show(
        Double(progress.completedRowCount),
        of: Double(progress.totalRowCount),
        stage: progress.stageCount > 1 ? "\(progress.stageNumber) of \(progress.stageCount)" : nil
      )
    }
    defer { ProgressBar.clear() }
    try await route.take(at: url, monitor)
  }
}
