import ArgumentParser
import GraphContext
import PageStore

/// `cambium schema STORE` and `cambium schema diff A B`: the schemas of stores.
struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Shows the schema of a store, or what the schemas of two differ in.",
    discussion: "A store whose file is called show or diff is given as ./show or ./diff.",
    subcommands: [ShowSchemaCommand.self, CompareSchemasCommand.self],
    defaultSubcommand: ShowSchemaCommand.self
  )

  /// The schema in a file, which is only read.
  static func schema(at path: String) throws -> Schema {
    let snapshot = try Store.open(at: path, options: .readOnly).snapshot()
    guard let schema = try SchemaTree.schema(in: snapshot)?.schema() else {
      throw Failure(.store, "error: \(path) holds no models")
    }
    return schema
  }
}

/// `cambium schema STORE`: the schema as Swift source, as a table, or as JSON.
struct ShowSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows the schema of a store as Swift source: the classes that make it."
  )

  enum Form: EnumerableFlag {
    case swift
    case table
    case json

    static func help(for form: Form) -> ArgumentHelp? {
      switch form {
      case .swift: "Prints classes marked @Model."
      case .table: "Prints a row for each property."
      case .json: "Prints JSON: the schema's hash, and its properties."
      }
    }
  }

  @OptionGroup var store: StoreArgument

  @Flag var form = Form.swift

  func run() throws {
    let schema = try SchemaCommand.schema(at: store.path())
    switch form {
    case .swift:
      // The text's own last end of line is the one that printing adds.
      StandardOutput.print(lines: String(SwiftSource(schema).description.dropLast()))
    case .table: Self.printTable(SchemaTable(schema))
    case .json: try JSONText.print(Description(schema))
    }
  }

  private struct Description: Encodable {
    /// 16 hexadecimal digits: a number of 64 bits is more than JSON's readers keep.
    let hash: String
    let properties: [SchemaTable.Row]

    init(_ schema: Schema) {
      let digits = String(schema.stableHash, radix: 16)
      hash = String(repeating: "0", count: 16 - digits.count) + digits
      properties = SchemaTable(schema).rows
    }
  }

  private static func printTable(_ schema: SchemaTable) {
    var table = Table([
      "entity", "property", "kind", "optional", "destination", "inverse", "delete rule", "indexes",
    ])
    for row in schema.rows {
      table.add(
        [
          row.entity, row.property ?? "", row.kind ?? "", row.isOptional ? "yes" : "", row.destination ?? "",
          row.inverse ?? "", row.deleteRule?.rawValue ?? "", row.indexes.joined(separator: "; "),
        ].map { .init($0) }
      )
    }
    table.finish()
  }
}

/// `cambium schema diff A B`: what two stores' schemas differ in.
struct CompareSchemasCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Shows what the schemas of two stores differ in.",
    discussion: """
      There is a line for each entity, property and index that was added, removed or changed; none for equal schemas. \
      A store doesn't say what a thing was called before: what has another name was removed and added.
      """
  )

  @Argument(help: "The store with the old schema.", completion: .file(extensions: ["cambium"]))
  var old: String

  @Argument(help: "The store with the new schema.", completion: .file(extensions: ["cambium"]))
  var new: String

  @Flag(help: "Prints JSON.")
  var json = false

  func run() throws {
    let difference = SchemaDifference(
      from: try SchemaCommand.schema(at: StoreArgument.path(old)),
      to: try SchemaCommand.schema(at: StoreArgument.path(new))
    )
    if json { return try JSONText.print(difference) }
    for change in difference.changes { StandardOutput.print(change.description) }
  }
}
