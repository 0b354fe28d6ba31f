import ArgumentParser
import GraphContext

/// `cambium schema diff A B`: shows the differences between the schemas of two stores.
struct CompareSchemasCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Shows how the schemas of two stores differ.",
    discussion: """
      There is a line for each entity, property and index that was added, removed or changed, and one for the version; none for \
      equal schemas.

      Copies of one store give the same numbers to what they hold, so what was renamed is shown as renamed. \
      Other stores, and copies that each got something new, are compared by names: what has another name is shown \
      as removed and added.
      """
  )

  @Argument(help: "The store with the old schema.", completion: .file(extensions: ["cambium"]))
  var old: String

  @Argument(help: "The store with the new schema.", completion: .file(extensions: ["cambium"]))
  var new: String

  @Flag(help: "Prints JSON.")
  var json = false

  func run() throws {
    let (old, new) = try (Catalogue(path: StoreArgument.path(old)), Catalogue(path: StoreArgument.path(new)))
    let comparison = Comparison(
      oldVersion: old.catalogued.version,
      newVersion: new.catalogued.version,
      changes: try Self.difference(from: old, to: new).changes
    )
    if json { return try JSONText.print(comparison) }
    for line in comparison.lines { StandardOutput.print(line) }
  }

  private static func difference(from old: Catalogue, to new: Catalogue) throws -> SchemaDifference {
    try old.sharesNumbers(with: new.catalogued, of: new.store)
      ? SchemaDifference(from: old.catalogued, to: new.catalogued)
      : SchemaDifference(from: old.schema, to: new.schema)
  }

  /// A ``SchemaDifference`` with the versions.
  private struct Comparison: Encodable {
    let oldVersion: Schema.Version?
    let newVersion: Schema.Version?
    let changes: [SchemaDifference.Change]

    var lines: [String] { [version].compactMap(\.self) + changes.map(\.description) }

    private var version: String? {
      switch (oldVersion, newVersion) {
      case (nil, nil): nil
      case (let old?, nil): "removed version \(old)"
      case (nil, let new?): "added version \(new)"
      case (let old?, let new?): old == new ? nil : "changed version \(old) → \(new)"
      }
    }
  }
}
