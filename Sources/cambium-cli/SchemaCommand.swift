import ArgumentParser
import Foundation
import GraphContext

/// `cambium schema STORE` and its subcommands: the schemas of stores.
struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Shows the schema of a store, its history, or how the schemas of two stores differ.",
    discussion: "A store whose file is called show, history or diff is given as ./show, ./history or ./diff.",
    subcommands: [ShowSchemaCommand.self, SchemaHistoryCommand.self, CompareSchemasCommand.self],
    defaultSubcommand: ShowSchemaCommand.self
  )
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
      case .swift: "Prints classes marked @Model; the schema's version in a comment above."
      case .table: "Prints a row for each property; the schema's version above."
      case .json: "Prints JSON: the store and its format, the schema's version, hashes and entities."
      }
    }
  }

  @OptionGroup var store: StoreArgument

  @Flag var form = Form.swift

  func run() throws {
    let path = try store.path()
    let metadata = try StoreMetadata(at: URL(fileURLWithPath: path))
    guard metadata.formatVersion != nil else { throw Failure(.store, "error: \(path) holds no models") }
    let schema = metadata.schema
    switch form {
    case .swift:
      if let version = metadata.schemaVersion { StandardOutput.print("// Schema version \(version)") }
      // The text's own last end of line is the one that printing adds.
      StandardOutput.print(lines: String(SwiftSource(schema).description.dropLast()))
    case .table:
      if let version = metadata.schemaVersion { StandardOutput.print("schema version \(version)") }
      Self.printTable(SchemaTable(schema))
    case .json: try JSONText.print(Description(metadata))
    }
  }

  /// A ``SchemaDocument``, and further properties of the store.
  private struct Description: Encodable {
    let store: String
    let formatVersion: UInt32?
    let version: Schema.Version?
    let hash: String
    /// By the entities' names.
    let entityHashes: [String: String]
    let entityNumbers: [String: UInt32]
    let entities: [SchemaDocument.Entity]

    init(_ metadata: StoreMetadata) {
      store = metadata.storeID.uuidString.lowercased()
      formatVersion = metadata.formatVersion
      version = metadata.schemaVersion
      hash = SchemaHash(metadata.stableHash).description
      let named = metadata.entities.map { ($0.name, $0) }
      let entities = Dictionary(named, uniquingKeysWith: { first, _ in first })
      entityHashes = entities.mapValues { SchemaHash($0.stableHash).description }
      entityNumbers = entities.mapValues(\.number)
      self.entities = SchemaDocument(metadata.schema).entities
    }
  }

  private static func printTable(_ schema: SchemaTable) {
    var table = Table([
      "entity", "property", "kind", "optional", "destination", "inverse", "delete rule", "indexes",
    ])
    for row in schema.rows {
      table.add(
        [
          row.entity, row.property ?? "", row.kindText, row.isOptional ? "yes" : "", row.destination ?? "",
          row.inverse ?? "", row.deleteRule?.rawValue ?? "", row.indexes.joined(separator: "; "),
        ].map { .init($0) }
      )
    }
    table.finish()
  }
}

extension SchemaTable.Row {
  /// `toMany, ordered` for an ordered relationship, `int64, derived songs.@count` for a derived attribute, else the
  /// kind alone.
  fileprivate var kindText: String {
    (kind ?? "") + (isOrdered == true ? ", ordered" : "") + (derivation.map { ", derived \($0)" } ?? "")
  }
}
