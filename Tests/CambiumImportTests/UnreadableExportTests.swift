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
      title = tune.title
      let text = tune.objectID.uriRepresentation.replacing(#/\d+$/#, with: "999")
      guard tune.code == "b", let context = tune.context, let id = ManagedObjectID(uriRepresentation: text)
      else { return }
      title = try context.object(Tune.self, with: id).title
    }
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
