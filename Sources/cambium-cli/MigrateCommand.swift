import ArgumentParser
import Foundation
import GraphContext
import PageStore

/// `cambium migrate STORE --to SCHEMA`: brings a store to another schema.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Brings a store to another schema, where that needs no code.",
    discussion: """
      The schema is that of another store, or a file as `cambium schema --json` prints it. In such a file, \
      "originalName" of an entity or a property names what it is called in the store, and "default" of an attribute is what objects get that \
      have no value. What the schema doesn't have is removed from the store.

      Says first what happens: what changes, which trees are built and dropped, and what is in the way. If anything is, every object is \
      listed, the file stays as it is, and the status is 1. With --dry-run nothing else is done, and nothing is written.

      Nobody else may have the store open. Shows how far it is on a terminal. What was interrupted goes on where it stopped when the same \
      command is given again.
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(help: "The schema: a store, or JSON.", completion: .file(extensions: ["cambium", "json"]))
  var to: String

  @Flag(help: "Says what would happen, and writes nothing.")
  var dryRun = false

  @Flag(help: "Prints JSON.")
  var json = false

  func run() async throws {
    let path = try store.path()
    let schema = try MigrationTarget(path: StoreArgument.path(to)).schema(for: path)
    let url = URL(fileURLWithPath: path)
    let forecast = try MigrationForecast(at: url, to: schema)
    try show(forecast)
    guard forecast.isPossible else { throw Self.refusal(forecast, path) }
    if !dryRun, !forecast.isCurrent { try await Self.migrate(url, to: schema) }
  }

  private func show(_ forecast: MigrationForecast) throws {
    if json { return try JSONText.print(forecast) }
    for line in forecast.lines { StandardOutput.print(line) }
  }

  private static func refusal(_ forecast: MigrationForecast, _ path: String) -> Failure {
    let (changes, objects) = (forecast.refusal.obstacles.count, forecast.refusal.offenderCount)
    let what =
      changes > 0
      ? "\(changes) \(changes == 1 ? "change" : "changes") that nobody can infer"
      : "\(objects) \(objects == 1 ? "object" : "objects") in the way"
    return Failure(.store, EscapedText.line("error: \(path) can't go on with the schema: \(what)"))
  }

  private static func migrate(_ url: URL, to schema: Schema) async throws {
    var options = StoreOptions()
    options.createsIfMissing = false
    let monitor = MigrationMonitor(chunkByteCount: nil) { progress in
      ProgressBar.show(Double(progress.completedRowCount), of: Double(progress.totalRowCount))
    }
    defer { ProgressBar.clear() }
    let container = try await PersistentContainer(
      "cambium",
      schema: schema,
      at: url,
      options: options,
      monitor: monitor
    )
    try container.close()
  }
}

/// What `cambium migrate` takes a schema from.
private struct MigrationTarget {
  let path: String

  /// The schema, as it goes on from that of a store.
  func schema(for store: String) throws -> Schema {
    let target: Catalogue
    do {
      target = try Catalogue(path: path)
    } catch let error as StoreError where error.code == .notAStore {
      return try schemaInJSON()
    }
    let known = try Catalogue(path: store)
    guard target.sharesNumbers(with: known) else { return target.schema }
    return try target.catalogued.schema(following: known.catalogued)
  }

  private func schemaInJSON() throws -> Schema {
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw Failure(.store, EscapedText.line("error: \(path) can't be read: \(error.localizedDescription)"))
    }
    do {
      return try JSONDecoder().decode(SchemaDocument.self, from: data).schema()
    } catch {
      let problems = (error as? SchemaError)?.problems ?? [(error as? DecodingError)?.sentence ?? "\(error)"]
      let lines = ["error: \(path) is neither a store nor a schema in JSON:"] + problems
      throw Failure(.use, lines.map(EscapedText.line).joined(separator: "\n"))
    }
  }
}

extension DecodingError {
  /// Where in the JSON what is wrong.
  fileprivate var sentence: String {
    let (context, message): (Context, String) =
      switch self {
      case .typeMismatch(_, let context), .dataCorrupted(let context): (context, context.debugDescription)
      case .valueNotFound(_, let context): (context, context.debugDescription)
      case .keyNotFound(let key, let context): (context, "\(key.stringValue) is missing")
      @unknown default: (Context(codingPath: [], debugDescription: ""), "\(self)")
      }
    let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
    return place.isEmpty ? message : "\(place.joined(separator: ".")): \(message)"
  }
}
