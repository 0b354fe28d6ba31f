import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

/// The files of Tests/SmallStore, and the contents of a small store as text.
enum SmallStoreDump {
  private static let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("SmallStore")

  /// The dump beside the store.
  static func text() throws -> String {
    try String(contentsOf: place.appendingPathComponent("dump.txt"), encoding: .utf8)
  }

  /// Copies the store under its own name.
  static func copyStore(to folder: TemporaryFolder) throws {
    let name = "small.cambium"
    try Data(contentsOf: place.appendingPathComponent(name)).write(
      to: URL(fileURLWithPath: folder.file(name))
    )
  }

  /// Checks that `verify` reports only two trees that belong to no model: one that was dropped and made again, and
  /// one that a record of the log makes.
  static func expectSound(_ container: PersistentContainer) throws {
    let problems = try container.verify()
    #expect(problems.compactMap(\.tree) == ["gone", "scratch"])
    #expect(problems.allSatisfy { $0.message.contains("belongs to no entity") })
  }

  /// The rows of every entity as the library reads them, in the form of the dump, not shortened.
  static func rows(in context: ManagedObjectContext) throws -> String {
    try SmallStore.values(in: context).map { entity, rows in
      "\n\(entity)\n" + rows.map { line($0) }.joined()
    }.joined()
  }

  /// The keys of every tree in hexadecimal, then the rows of every entity, as `cambium query --output jsonl` prints them.
  static func make(of path: String) throws -> String {
    var text = try keys(in: path)
    for model in SmallStore.models.map({ $0.entityName }).sorted() {
      let rows = try ToolRun("query", path, model, "--output", "jsonl")
      #expect(rows.status == 0, "\(rows.errors)")
      text += "\n\(model)\n" + rows.output
    }
    return shortened(text)
  }

  static func keys(in path: String) throws -> String {
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: path, options: options)
    let snapshot = try store.snapshot()
    var text = ""
    for name in try snapshot.treeNames {
      text += (text.isEmpty ? "" : "\n") + "tree \(name)\n"
      var cursor = try snapshot.tree(name).cursor()
      while try cursor.next() {
        text += try cursor.key().map { String(format: "%02X", $0) }.joined() + "\n"
      }
    }
    try store.close()
    return text
  }

  /// The same character, or the same two, for 100 times and more are written as `<characters*count>`.
  static func shortened(_ text: String) -> String {
    text.replacing(#/([0-9A-Za-z]{1,2}?)\1{99,}/#) { match in
      "<\(match.output.1)*\(match.output.0.count / match.output.1.count)>"
    }
  }

  /// A row as the tool prints it, by code that the tool doesn't have.
  private static func line(_ row: SmallStore.Values) -> String {
    "{" + row.map { "\"\($0.key)\": \(json($0.value))" }.joined(separator: ", ") + "}\n"
  }

  private static func json(_ value: AttributeValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .reference(let number): "\(number)"
    case .double(let value): value.isFinite ? "\(value)" : "\"\(value)\""
    case .decimal(let value): value.isNaN ? "\"NaN\"" : "\(value)"
    case .uuid(let value): "\"\(value.uuidString.lowercased())\""
    case .data(let value): "\"\(value.base64EncodedString())\""
    case .date(let value): "\"\(text(of: value))\""
    case .string(let value): "\"\(value.unicodeScalars.map(escaped).joined())\""
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    scalar.value < 32 ? String(format: "\\u%04x", scalar.value) : String(scalar)
  }

  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    if !seconds.isFinite { return "\(seconds)" }
    let hasFraction = seconds.rounded() != seconds
    return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
  }
}
