import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

/// The small store as a library with format 2 wrote it. It can be opened, and gets today's format when it is opened
/// for writing.
@Suite("A store of an earlier format")
struct EarlierFormatTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("small-format2.cambium") }
  private let dump: String

  init() throws {
    folder = try TemporaryFolder()
    dump = try SmallStoreDump.text("dump-format2.txt")
    try SmallStoreDump.copy("small-format2.cambium", to: folder)
  }

  private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  private func open(isReadOnly: Bool = false) async throws -> PersistentContainer {
    var options = StoreOptions()
    options.isReadOnly = isReadOnly
    let url = URL(fileURLWithPath: path)
    return try await PersistentContainer("Small", models: SmallStore.models, at: .file(url), options: options)
  }

  private func rows(_ container: PersistentContainer) async throws -> String {
    let text = try await container.performBackgroundTask { try SmallStoreDump.rows(in: $0) }
    return SmallStoreDump.shortened(text)
  }

  /// A dump without what the store says about itself.
  private func withoutSchema(_ dump: String) -> [String] {
    let parts = dump.components(separatedBy: "\n\n")
    #expect(parts.contains { $0.hasPrefix("tree schema\n") })
    return parts.filter { !$0.hasPrefix("tree schema\n") }
  }

  /// Returns the result of `body` on a snapshot of the file, which is opened without the models.
  private func reading<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: path, options: options)
    let result = try body(store.snapshot())
    try store.close()
    return result
  }

  /// Returns the values of the tree `schema` for these keys.
  private func schemaValues(_ keys: [[UInt8]]) throws -> [[UInt8]?] {
    try reading { snapshot in
      let tree = try snapshot.tree(SchemaTree.name)
      return try keys.map { try tree.value(for: $0) }
    }
  }

  private static let entities = ["Box", "Sample", "Tag"]
  private static let earlierLeaseKeys = entities.map { Array("numbers/\($0)".utf8) }

  /// The keys of the leases in today's format.
  private func leaseKeys() throws -> [[UInt8]] {
    let schema = try #require(try reading { try SchemaTree.schema(in: $0) })
    return try Self.entities.map { SchemaTree.numbersKey(try #require(schema.entity(named: $0)).number) }
  }

  @Test func theToolReadsWhatTheDumpSays() throws {
    let before = try bytes()
    #expect(try schemaValues([SchemaTree.formatKey]) == [[2, 0, 0, 0]])
    #expect(try SmallStoreDump.make(of: path) == dump)
    // The names of the trees describe their contents.
    #expect(try ToolRun("tree", path, "i/Sample/text[cd]").output.hasPrefix("i/Sample/text[cd]: tree "))
    #expect(try bytes() == before)
  }

  @Test func readingWritesNothing() async throws {
    let before = try bytes()
    let container = try await open(isReadOnly: true)
    let rows = try await rows(container)
    #expect(dump.hasSuffix(rows) && rows.count > 1_000)
    try SmallStoreDump.expectSound(container)
    try await container.close()
    #expect(try bytes() == before)
  }

  @Test func openingForWritingBringsItToTodaysFormat() async throws {
    let leases = try schemaValues(Self.earlierLeaseKeys)
    #expect(!leases.contains(nil))
    for _ in 0..<2 {
      let container = try await open()
      try SmallStoreDump.expectSound(container)
      #expect(dump.hasSuffix(try await rows(container)))
      try await container.close()
      let now = try SmallStoreDump.make(of: path)
      #expect(withoutSchema(now) == withoutSchema(dump))
      #expect(try schemaValues([SchemaTree.formatKey]) == [SchemaTree.bytes(SchemaTree.formatVersion)])
      #expect(try schemaValues(leaseKeys()) == leases)
      #expect(try schemaValues(Self.earlierLeaseKeys) == [nil, nil, nil])
    }
  }

  @Test func objectsKeepTheirIDsAndNewOnesGetOthers() async throws {
    let lease = SchemaTree.number(try schemaValues([Array("numbers/Tag".utf8)])[0])
    let reader = try await open(isReadOnly: true)
    let before = try await reader.performBackgroundTask { try $0.fetch(From<Tag>()).map(\.objectID) }
    try await reader.close()

    let container = try await open()
    let inserted = try await container.performBackgroundTask { context in
      #expect(try context.fetch(From<Tag>()).map(\.objectID) == before)
      for id in before { #expect(try context.existingObject(Tag.self, with: id).objectID == id) }
      let tag = Tag(word: "new")
      context.insert(tag)
      tag.samples = Set(try context.fetch(From<Sample>()))
      try context.save()
      return tag.objectID
    }
    #expect(inserted.number.sequence >= lease)
    try SmallStoreDump.expectSound(container)
    try await container.close()
    let again = try await open()
    #expect(try await again.performBackgroundTask { try $0.count(From<Tag>()) } == before.count + 1)
    try SmallStoreDump.expectSound(again)
    try await again.close()
  }
}
