import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

/// The file Tests/SmallStore/small.cambium is for programs that read stores without this library: it was made once, and stays as long as
/// the version of the format does. `dump.txt` beside it says what is in it.
@Suite("The small store of the file format's description")
struct SmallStoreTests {
  private static let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("SmallStore")

  private let folder: TemporaryFolder
  private var copy: String { folder.file("small.cambium") }
  private let dump: String

  init() throws {
    folder = try TemporaryFolder()
    dump = try String(contentsOf: Self.place.appendingPathComponent("dump.txt"), encoding: .utf8)
    try Data(contentsOf: Self.place.appendingPathComponent("small.cambium"))
      .write(to: URL(fileURLWithPath: folder.file("small.cambium")))
  }

  @Test func theToolReadsWhatTheDumpSays() throws {
    #expect(try Self.dump(of: copy) == dump)
  }

  @Test func theLibraryReadsWhatTheDumpSays() async throws {
    let url = URL(fileURLWithPath: copy)
    let container = try await PersistentContainer("Small", models: SmallStore.models, at: .file(url))
    let text = try await container.performBackgroundTask { context in
      try SmallStore.values(in: context).map { entity, rows in
        "\n\(entity)\n" + rows.map { Self.line($0) }.joined()
      }.joined()
    }
    #expect(dump.hasSuffix(Self.shortened(text)))
    #expect(text.count > 70_000)
    // Its makers show a tree that is dropped and one that a record of the log makes: they belong to no model.
    let problems = try container.verify()
    #expect(problems.compactMap(\.tree) == ["gone", "scratch"])
    #expect(problems.allSatisfy { $0.message.contains("belongs to no entity") })
    try container.close()
    #expect(try Self.dump(of: copy) == dump)
  }

  /// So the dump is not only of a file that nobody can make any more. `CAMBIUM_SMALL_STORE=FOLDER` keeps the file and its dump:
  /// for a new version of the format.
  @Test func aStoreMadeTodayHasTheSameDump() async throws {
    let made = folder.file("made.cambium")
    try await SmallStore.make(at: made)
    let text = try Self.dump(of: made)
    if let target = ProcessInfo.processInfo.environment["CAMBIUM_SMALL_STORE"] {
      let target = URL(fileURLWithPath: target)
      try Data(contentsOf: URL(fileURLWithPath: made)).write(
        to: target.appendingPathComponent("small.cambium")
      )
      try text.write(to: target.appendingPathComponent("dump.txt"), atomically: true, encoding: .utf8)
    }
    #expect(text == dump)
  }

  /// The file is there for what it shows: without a log to replay, an overflow or a branch it would show less.
  @Test func theFileHasAllThatItIsToShow() throws {
    let log = try ToolRun("log", copy, "--operations").output
    for kind in ["transaction", "checkpoint", "link", "create tree", "drop tree", "remove range", "remove "] {
      #expect(log.contains(kind), "\(kind)")
    }
    #expect(try ToolRun("tree", copy, "e/Sample").output.contains("overflow pages"))
    #expect(try ToolRun("tree", copy, "i/Sample/text").output.contains("overflow pages"))
    let file = try Data(contentsOf: URL(fileURLWithPath: copy))
    let branches = stride(from: 0, to: file.count, by: 4_096).filter { start in
      // Its own number, of which the higher bytes are 0; and the kind of a branch.
      file[start + 8] == UInt8(truncatingIfNeeded: start / 4_096) && file[start + 28] == 2
    }
    #expect(!branches.isEmpty)
  }

  // MARK: The dump

  /// The keys of every tree in hexadecimal, then the rows of every entity, as `cambium query --output jsonl` prints them.
  private static func dump(of path: String) throws -> String {
    var text = try keys(in: path)
    for model in SmallStore.models.map({ $0.entityName }).sorted() {
      let rows = try ToolRun("query", path, model, "--output", "jsonl")
      #expect(rows.status == 0, "\(rows.errors)")
      text += "\n\(model)\n" + rows.output
    }
    return shortened(text)
  }

  private static func keys(in path: String) throws -> String {
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
  private static func shortened(_ text: String) -> String {
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
