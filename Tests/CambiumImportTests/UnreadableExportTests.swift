import Cambium
import CambiumImport
import Foundation
import TestSupport
import Testing

/// An export never writes what a getter returns for a value that it can't read.
struct UnreadableExportTests {
  /// A value whose initialiser reads an object that doesn't exist, for one of the objects.
  private struct Value: ManagedObjectInitialisable, Encodable {
    var title: String

    init(with tune: Tune) throws {
      title = tune.code == "b" ? try UnreadableExportTests.unreadable(tune).title : tune.title
    }
  }

  /// A value that reads the object while it is encoded.
  private struct LateValue: ManagedObjectInitialisable, Encodable {
    let tune: Tune

    init(with tune: Tune) { self.tune = tune }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode([
        "title": tune.code == "c" ? UnreadableExportTests.unreadable(tune).title : tune.title
      ])
    }
  }

  /// Returns an object that doesn't exist, in the context of another one.
  private static func unreadable(_ tune: Tune) throws -> Tune {
    let text = tune.objectID.uriRepresentation.replacing(#/\d+$/#, with: "999")
    let id = try #require(ManagedObjectID(uriRepresentation: text))
    return try #require(tune.context).object(Tune.self, with: id)
  }

  private let tunes: Tunes
  private let all = From<Tune>().orderBy(\.code)

  init() async throws {
    tunes = try await Tunes()
    try await tunes.store(["a", "b", "c"])
  }

  @Test func theFileStaysAsItWas() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("a.jsonl"))
    try Data("before".utf8).write(to: url)
    let error = await #expect(throws: ContextError.self) {
      try await tunes.container.exportJSONLines(all, as: Value.self, to: url)
    }
    #expect(error?.code == .objectNotFound)
    #expect(try Data(contentsOf: url) == Data("before".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.jsonl"])
  }

  @Test func theFileStaysIfTheLastValueReadsLate() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("a.jsonl"))
    try Data("before".utf8).write(to: url)
    let error = await #expect(throws: ContextError.self) {
      try await tunes.container.exportJSONLines(all, as: LateValue.self, to: url)
    }
    #expect(error?.code == .objectNotFound)
    #expect(try Data(contentsOf: url) == Data("before".utf8))
  }

  /// A context of its own, in which nothing else notices that a getter couldn't read.
  @Test @MainActor func oneObjectAndAFetchThrow() throws {
    let context = tunes.container.viewContext
    let last = try #require(try context.fetch(all).last)
    #expect(throws: ContextError.self) { try last.encode(to: LateValue.self) }
    context.rollback()
    #expect(throws: ContextError.self) { try context.fetch(all, as: Value.self) }
  }

  @Test func aClosureReceivesTheValuesBeforeIt() async throws {
    let lines = Notes()
    let error = await #expect(throws: ContextError.self) {
      try await tunes.container.exportRecords(all, as: Value.self, format: .jsonLines()) { bytes in
        lines.add(String(decoding: bytes, as: UTF8.self))
      }
    }
    #expect(error?.code == .objectNotFound)
    #expect(lines.all == ["{\"title\":\"old\"}\n"])
  }
}
