import ArgumentParser
import GraphContext

/// `cambium schema diff A B`: what two stores' schemas differ in.
struct CompareSchemasCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Shows what the schemas of two stores differ in.",
    discussion: """
      There is a line for each entity, property and index that was added, removed or changed; none for equal schemas.

      Copies of one store number what they hold alike: there a thing that was renamed is shown as renamed. Two other stores are \
      compared by names: what has another name was removed and added.
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
    let difference =
      try old.sharesNumbers(with: new)
      ? SchemaDifference(from: old.catalogued, to: new.catalogued)
      : SchemaDifference(from: old.schema, to: new.schema)
    if json { return try JSONText.print(difference) }
    for change in difference.changes { StandardOutput.print(change.description) }
  }
}
