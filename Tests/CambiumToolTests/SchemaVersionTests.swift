import Cambium
import Foundation
import TestSupport
import Testing

@Suite("What cambium does with versions of schemas")
struct SchemaVersionTests {
  private let library: Library
  /// Books are called volumes and have a number of pages: version 2.
  private let second: String
  /// Volumes are called tomes and have an index over pages: version 3.
  private let third: String

  init() async throws {
    library = try await Library()
    var document = SchemaDocument(try StoreMetadata(at: URL(fileURLWithPath: library.path)).schema)
    document.rename("Book", to: "Volume")
    var pages = document.entities[1].properties[0]
    pages.name = "pages"
    pages.defaultValue = .int(100)
    pages.kind = "int32"
    document.entities[1].properties.append(pages)
    document.version = Schema.Version(2)
    second = try Self.write(document, to: library.folder.file("v2.json"))
    document.rename("Volume", to: "Tome")
    document.entities[1].indexes?[1].properties = ["pages"]
    document.version = Schema.Version(3, 1)
    third = try Self.write(document, to: library.folder.file("v3.json"))
  }

  private static func write(_ document: SchemaDocument, to path: String) throws -> String {
    try JSONEncoder().encode(document).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// A schema in a file, changed.
  private func changed(_ path: String, _ change: (inout SchemaDocument) -> Void) throws -> String {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    var document = try JSONDecoder().decode(SchemaDocument.self, from: data)
    change(&document)
    return try Self.write(document, to: library.folder.file("changed-\(UUID().uuidString).json"))
  }

  private func version(of path: String) throws -> String? {
    try StoreMetadata(at: URL(fileURLWithPath: path)).schemaVersion?.description
  }

  private func copy(_ name: String, of path: String) throws -> String {
    let copy = library.folder.file(name)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return copy
  }

  private func migrate(_ store: String, _ options: String..., to targets: String...) throws -> ToolRun {
    try ToolRun(arguments: ["migrate", store] + options + targets.flatMap { ["--to", $0] })
  }

  private static let secondStage = """
    to version 2.0.0:
      changed entity Volume: name Book → Volume
      added attribute Volume.pages: int32
    values for objects that have none:
      Volume.pages 100: 203 objects
    records that stay as they are, and are translated when they are read:
      Volume: 203

    """

  private static let thirdStage = """
    to version 3.1.0:
      changed entity Tome: name Volume → Tome
      removed index Tome: index title
      added index Tome: index pages
    trees built:
      the index pages of Tome: 203 entries, 2030 bytes of keys
    trees dropped:
      the index title of Volume: 203 entries
    records that stay as they are, and are translated when they are read:
      Tome: 203

    """

  // MARK: Several schemas

  @Test func aStoreGoesThroughSeveralSchemas() throws {
    let both = Self.secondStage + "\n" + Self.thirdStage
    let before = try FolderState(library.folder.path)
    let dry = try migrate(library.path, "--dry-run", to: second, third)
    #expect(dry.status == 0 && dry.output == both, "\(dry.errors)")
    let json = try migrate(library.path, "--dry-run", "--json", to: second, third)
    let forecasts = try JSONDecoder().decode([MigrationForecast].self, from: Data(json.output.utf8))
    #expect(forecasts.map(\.version) == [Schema.Version(2), Schema.Version(3, 1)])
    #expect(try FolderState(library.folder.path) == before)

    let run = try migrate(library.path, to: second, third)
    #expect(run.status == 0 && run.output == both && run.errors == "", "\(run.errors)")
    #expect(try version(of: library.path) == "3.1.0")
    #expect(try ToolRun("query", library.path, "Tome", "pages == 100", "--count").output == "203\n")
    #expect(try ToolRun("verify", library.path).status == 0)
    let after = try FolderState(library.folder.path)
    let again = try migrate(library.path, to: second, third)
    #expect(again.status == 0 && again.output == "the store has the schema already\n")
    let current = try migrate(library.path, "--json", to: second, third)
    let currents = try JSONDecoder().decode([MigrationForecast].self, from: Data(current.output.utf8))
    #expect(currents.map(\.isCurrent) == [true])
    #expect(try FolderState(library.folder.path) == after)
  }

  @Test func aStoreBeginsAfterTheSchemaThatItHas() throws {
    let run = try migrate(library.path, to: second)
    #expect(run.status == 0 && run.output == Self.secondStage, "\(run.errors)")
    #expect(try version(of: library.path) == "2.0.0")
    let rest = try migrate(library.path, "--dry-run", to: second, third)
    #expect(rest.status == 0 && rest.output == Self.thirdStage, "\(rest.errors)")
    // The JSON is an object, as for every single schema.
    let json = try migrate(library.path, "--dry-run", "--json", to: third)
    let forecast = try JSONDecoder().decode(MigrationForecast.self, from: Data(json.output.utf8))
    #expect(forecast.description + "\n" == Self.thirdStage)
    // A store without a version is recognised by its schema.
    let unversioned = try changed(second) { $0.version = nil }
    let other = try copy("other.cambium", of: library.path)
    let indexed = try changed(second) { document in
      document.version = nil
      document.entities[1].indexes = nil
    }
    #expect(try migrate(other, to: indexed).status == 0)
    #expect(try migrate(other, to: unversioned).status == 0)
    #expect(try version(of: other) == nil)
    #expect(try migrate(other, "--dry-run", to: second, third).output == Self.thirdStage)
    let stamped = try migrate(other, to: second)
    #expect(stamped.status == 0 && stamped.output.hasPrefix("to version 2.0.0:\n  no changes\n"))
    #expect(try version(of: other) == "2.0.0")
  }

  @Test func aLaterStageThatIsRefusedLeavesTheStoreAsItIs() throws {
    let unique = try changed(third) { document in
      document.entities[1].indexes?[1].properties = ["author"]
      document.entities[1].indexes?[1].isUnique = true
    }
    let before = try FolderState(library.folder.path)
    for options in [[], ["--dry-run"]] {
      let run = try ToolRun(
        arguments: ["migrate", library.path, "--to", second, "--to", unique] + options
      )
      #expect(run.status == 1)
      #expect(run.output.hasPrefix(Self.secondStage + "\nto version 3.1.0:\n"))
      #expect(run.lines.count { $0.contains("is not the only one with author") } == 20)
      #expect(
        run.errors == """
          error: \(library.path) can't be migrated to the schema of version 3.1.0: 20 objects are in the way

          """
      )
    }
    #expect(try FolderState(library.folder.path) == before)
  }

  @Test func aStoreOfALaterVersionIsRefused() throws {
    #expect(try migrate(library.path, to: second, third).status == 0)
    let before = try FolderState(library.folder.path)
    for options in [[], ["--dry-run"]] {
      let run = try ToolRun(arguments: ["migrate", library.path, "--to", second] + options)
      #expect(run.status == 1 && run.output == "")
      #expect(
        run.errors == """
          error: \(library.path) can't be migrated to the schema: \
          the store's version 3.1.0 is later than version 2.0.0 of \(second)

          """
      )
    }
    #expect(try FolderState(library.folder.path) == before)
  }

  @Test func wrongVersionsAreWrongUse() throws {
    let backwards = try migrate(library.path, to: third, second)
    #expect(backwards.status == 2)
    #expect(backwards.errors == "error: version 2.0.0 of \(second) is not later than 3.1.0 of \(third)\n")
    #expect(try migrate(library.path, to: second, second).status == 2)
    let unversioned = try changed(third) { $0.version = nil }
    let nameless = try migrate(library.path, to: second, unversioned)
    #expect(nameless.status == 2 && nameless.errors.hasPrefix("error: \(unversioned) has no version"))
    let path = library.folder.file("text.json")
    try #"{"version": "two", "entities": []}"#.write(toFile: path, atomically: true, encoding: .utf8)
    let text = try migrate(library.path, to: path)
    #expect(text.status == 2 && text.errors.contains("version: “two” is no version"), "\(text.errors)")
  }

  /// Names that were changed in copies of a store are changed in each stage.
  @Test func aStoreFollowsCopiesOfItselfThroughVersions() throws {
    let copy2 = try copy("copy2.cambium", of: library.path)
    #expect(try migrate(copy2, to: second).status == 0)
    let copy3 = try copy("copy3.cambium", of: copy2)
    #expect(try migrate(copy3, to: third).status == 0)
    for targets in [[copy2, copy3], [second, copy3], [copy2, third]] {
      let store = try copy("store-\(UUID().uuidString).cambium", of: library.path)
      let run = try migrate(store, to: targets[0], targets[1])
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output == Self.secondStage + "\n" + Self.thirdStage)
      #expect(try ToolRun("schema", "diff", store, copy3).output == "")
      #expect(try version(of: store) == "3.1.0")
    }
    #expect(try migrate(copy3, to: copy3).output == "the store has the schema already\n")
  }

  // MARK: Showing versions

  @Test func theVersionIsShown() throws {
    for form in ["--swift", "--table"] {
      #expect(try !ToolRun("schema", library.path, form).output.lowercased().contains("version"))
    }
    #expect(try !ToolRun("info", library.path).output.contains("version"))
    let old = try copy("old.cambium", of: library.path)
    #expect(try migrate(library.path, to: second).status == 0)
    let source = try ToolRun("schema", library.path)
    #expect(source.output.hasPrefix("// Schema version 2.0.0\nimport Cambium\n"))
    let table = try ToolRun("schema", library.path, "--table")
    #expect(table.lines[0] == "schema version 2.0.0" && table.lines[1].hasPrefix("entity "))
    #expect(try ToolRun("info", library.path).lines.contains("schema version 2.0.0"))
    let info = try ToolRun("info", library.path, "--json")
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any]
    )
    #expect(json["schemaVersion"] as? String == "2.0.0")
    // The printed schema migrates another store with this schema to the version.
    #expect(try migrate(old, to: changed(second) { $0.version = nil }).status == 0)
    let printed = library.folder.file("printed.json")
    try ToolRun("schema", library.path, "--json").output.write(
      toFile: printed,
      atomically: true,
      encoding: .utf8
    )
    #expect(try version(of: old) == nil)
    #expect(try migrate(old, to: printed).status == 0)
    #expect(try version(of: old) == "2.0.0")
  }

  @Test func versionsAreCompared() throws {
    let copy2 = try copy("copy2.cambium", of: library.path)
    #expect(try migrate(copy2, to: second).status == 0)
    let copy3 = try copy("copy3.cambium", of: copy2)
    #expect(try migrate(copy3, to: third).status == 0)
    #expect(try ToolRun("schema", "diff", copy2, copy2).output == "")
    #expect(try ToolRun("schema", "diff", copy2, copy3).lines.first == "changed version 2.0.0 → 3.1.0")
    #expect(try ToolRun("schema", "diff", library.path, copy2).lines.first == "added version 2.0.0")
    #expect(try ToolRun("schema", "diff", copy2, library.path).lines.first == "removed version 2.0.0")
    let run = try ToolRun("schema", "diff", copy2, copy3, "--json")
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    )
    #expect(json["oldVersion"] as? String == "2.0.0" && json["newVersion"] as? String == "3.1.0")
    #expect((json["changes"] as? [Any])?.count == 3)
  }
}

extension SchemaDocument {
  /// Gives an entity another name, with its original one, and relationships to it the new destination.
  fileprivate mutating func rename(_ name: String, to newName: String) {
    for place in entities.indices {
      if entities[place].name == name {
        entities[place].name = newName
        entities[place].originalName = name
      }
      for property in entities[place].properties.indices
      where entities[place].properties[property].destination == name {
        entities[place].properties[property].destination = newName
      }
    }
  }
}
