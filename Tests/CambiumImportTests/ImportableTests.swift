import Cambium
import CambiumImport
import Testing

@testable import GraphContext

@Model final class Note {
  var text: String
  init(_ text: String) { self.text = text }
}

extension Note: ImportableObject {
  static func shouldInsert(from source: [String: String], in context: ManagedObjectContext) -> Bool {
    source["text"] != nil
  }

  func didInsert(from source: [String: String], in context: ManagedObjectContext) throws {
    if source["text"] == "bad" { throw Refusal() }
    text = source["text"] ?? ""
  }
}

struct Refusal: Error {}

struct StarSource: Sendable, Hashable {
  var id: Int?
  var name: String
  /// The ID of a star that is inserted with it.
  var companion: Int?
}

@Model final class Star {
  #Unique<Star>([\.number])
  var number: Int
  var name: String
  /// The calls of the hooks, as a text.
  var log: String = ""
  init(_ number: Int, _ name: String) {
    self.number = number
    self.name = name
  }
}

extension Star: ImportableUniqueObject {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Star, Int> { \.number }
  static func uniqueID(from source: StarSource, in context: ManagedObjectContext) throws -> Int? {
    if source.name == "bad ID" { throw Refusal() }
    return source.id
  }
  static func shouldUpdate(from source: StarSource, in context: ManagedObjectContext) -> Bool {
    source.name != "refused"
  }
  func update(from source: StarSource, in context: ManagedObjectContext) throws {
    log += "\(isInserted ? "i" : "u")\(number)"
    name = source.name
    if let companion = source.companion {
      try context.importUniqueObject(Star.self, from: StarSource(id: companion, name: "nested"))
    }
  }
}

/// Objects that are made from sources.
struct ImportableTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() async throws {
    container = try await PersistentContainer("Sky", models: [Note.self, Star.self], at: .inMemory)
    context = try container.context()
  }

  private func names() throws -> [String] {
    let all = From<Star>().orderBy(\.number)
    return try context.fetch(all).map { "\($0.number) \($0.name)" }
  }

  @Test func aSourceBecomesAnObjectUnlessItIsRefused() throws {
    let note = try #require(try context.importObject(Note.self, from: ["text": "a"]))
    #expect(note.text == "a" && note.isInserted)
    #expect(try context.importObject(Note.self, from: [:]) == nil)
    try context.importObject(note, from: ["text": "b"])
    try context.importObject(note, from: [:])
    #expect(note.text == "b")
    let notes = try context.importObjects(Note.self, from: [["text": "c"], [:], ["text": "d"]])
    #expect(notes.map(\.text) == ["c", "d"])
    #expect(throws: Refusal.self) {
      try context.importObjects(Note.self, from: [["text": "e"], ["text": "bad"], ["text": "f"]])
    }
  }

  @Test func aUniqueSourceUpdatesOrInserts() throws {
    #expect(try context.importUniqueObject(Star.self, from: StarSource(id: nil, name: "none")) == nil)
    // shouldInsert is shouldUpdate by default.
    #expect(try context.importUniqueObject(Star.self, from: StarSource(id: 1, name: "refused")) == nil)
    let star = try #require(try context.importUniqueObject(Star.self, from: StarSource(id: 1, name: "Sol")))
    // The ID was set before, and the object inserted.
    #expect(star.log == "i1" && star.name == "Sol")
    try context.save()
    #expect(try context.importUniqueObject(Star.self, from: StarSource(id: 1, name: "Sun")) === star)
    #expect(star.log == "i1u1" && star.name == "Sun")
    #expect(try context.importUniqueObject(Star.self, from: StarSource(id: 1, name: "refused")) == nil)
    #expect(try names() == ["1 Sun"])
  }

  @Test func theLastSourceWinsInTheFirstPosition() throws {
    context.insert(Star(2, "old"))
    try context.save()
    let sources = [
      StarSource(id: 1, name: "a"), StarSource(id: 2, name: "b"), StarSource(id: nil, name: "c"),
      StarSource(id: 3, name: "refused"), StarSource(id: 1, name: "d"), StarSource(id: 2, name: "e"),
    ]
    let stars = try context.importUniqueObjects(Star.self, from: sources)
    #expect(stars.map(\.number) == [1, 2] && stars.map(\.name) == ["d", "e"])
    // Each once.
    #expect(stars.map(\.log) == ["i1", "u2"])
  }

  @Test func oneQueryFindsWhatIsThere() async throws {
    let sources = (0..<300).map { StarSource(id: $0 % 200, name: "a") }
    for found in [0, 200] {
      let report = try await container.importRecords(ImportInput(sources), with: Star.uniqueObjectImport)
      #expect(report.lookupCount == 1 && report.updatedCount == found && report.insertedCount == 200 - found)
      #expect(report.refusedCount == 100)
    }
  }

  @Test func sourcesArePreProcessed() throws {
    let sources = ["one", "two", "three", "four"].enumerated().map { StarSource(id: $0 + 1, name: $1) }
    let stars = try context.importUniqueObjects(Star.self, from: sources) { sources in
      var sources = sources
      sources[2] = nil
      sources[3]?.name = "replaced"
      sources[9] = StarSource(id: 9, name: "added")
      return sources
    }
    #expect(stars.map(\.name) == ["one", "replaced", "four"])
    #expect(try names() == ["1 one", "3 replaced", "4 four"])
  }

  @Test func nestedImportsReusePendingInserts() throws {
    let sources = [StarSource(id: 1, name: "a", companion: 2), StarSource(id: 2, name: "b", companion: 1)]
    let stars = try context.importUniqueObjects(Star.self, from: sources)
    #expect(stars.count == 2 && stars[0] !== stars[1])
    try context.save()
    #expect(try names() == ["1 nested", "2 b"])
  }

  @Test func anErrorChangesNothing() async throws {
    let sources = [StarSource(id: 1, name: "a"), StarSource(id: 2, name: "bad ID")]
    await #expect(throws: Refusal.self) {
      try await container.write { context in try context.importUniqueObjects(Star.self, from: sources).count }
    }
    #expect(try names() == [])
  }

  @MainActor @Test func oneCallReturnsObjectsOfTheViewContext() async throws {
    let sources = [StarSource(id: 2, name: "b"), StarSource(id: 1, name: "a"), StarSource(id: 2, name: "c")]
    let stars = try await container.importUniqueObjects(Star.self, from: sources)
    #expect(stars.map(\.name) == ["c", "a"])
    #expect(stars.allSatisfy { $0.context === container.viewContext })
    let notes = try await container.importObjects(Note.self, from: [["text": "x"], [:]])
    #expect(notes.map(\.text) == ["x"])
  }
}
