import Cambium
import CambiumCSV
import CambiumImport
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Exports of values of objects.
struct ExportTests {
  private let tunes: Tunes
  private let folder: TemporaryFolder
  private let records = (0..<1_200).map {
    TuneRecord(code: "c\(10_000 + $0)", title: "t,\"\($0)", disc: $0 % 3 == 0 ? nil : $0 % 5)
  }

  init() async throws {
    tunes = try await Tunes()
    folder = try TemporaryFolder()
  }

  private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.file(name)) }

  /// Without a value, no encoding has checked the format, and the header is written at the end.
  @Test func aDelimiterIsCheckedWithoutValues() throws {
    for delimiter: Character in ["\"", "\u{E9}", "\n"] {
      let format = ExportFormat<TuneRecord>.csv(columns: ["code"], delimiter: delimiter)
      #expect(throws: ImportError.self) { try format.end(0) }
      #expect(try format.end(1).isEmpty)
    }
    #expect(try ExportFormat<TuneRecord>.csv(columns: ["a", "b"]).end(0) == Data("a,b\n".utf8))
  }

  /// An empty list encodes no element. Only the container that it requests shows that it isn't a field.
  @Test func aListIsNoField() throws {
    struct Value: Encodable {
      var code = "a"
      var tags: [String] = []
    }
    let write = ExportFormat<Value>.csv().makeWriter()
    let error = #expect(throws: ImportError.self) { try write(Value(), 0) }
    #expect(error?.code == .malformedRecord && error?.record == 1)
  }

  /// A value that is an empty list encodes nothing either, and has no columns.
  @Test func aListIsNoRow() throws {
    let write = ExportFormat<[String]>.csv().makeWriter()
    let error = #expect(throws: ImportError.self) { try write([], 0) }
    #expect(error?.code == .malformedRecord && error?.record == 1)
  }

  /// A row without fields would be an empty line, which a reader doesn't take for a record.
  @Test func aValueWithoutKeysIsNoRow() throws {
    let write = ExportFormat<[String: String]>.csv().makeWriter()
    let error = #expect(throws: ImportError.self) { try write([:], 0) }
    #expect(error?.code == .malformedRecord && error?.record == 1)
  }

  @Test func anExportKeepsThePermissionsOfTheFile() async throws {
    let url = url("secret.json")
    let secret = [FileAttributeKey.posixPermissions: 0o600]
    #expect(FileManager.default.createFile(atPath: url.path, contents: Data(), attributes: secret))
    try await tunes.container.exportJSONLines(From<Tune>(), as: TuneRecord.self, to: url)
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func anObjectIsEncoded() async throws {
    struct Value: ManagedObjectInitialisable, Codable {
      var code: String
      var title: String
      init(with tune: Tune) { (code, title) = (tune.code, tune.title) }
    }
    let tune = Tune("A", "Carey")
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try tune.encode(to: Value.self, encoder: encoder)
    #expect(String(decoding: data, as: UTF8.self) == #"{"code":"A","title":"Carey"}"#)
  }

  @Test func objectsAreFetchedAsValues() async throws {
    try await tunes.container.importObjects(from: records)
    let some = From<Tune>().where { $0.code < "c10005" }.orderBy(.descending(\.code))
    let values = try await tunes.container.fetch(some, as: TuneRecord.self)
    #expect(values == records.prefix(5).reversed())
    struct Failing: ManagedObjectInitialisable, Sendable {
      init(with tune: Tune) throws { if tune.code == "c10003" { throw Refusal() } }
    }
    await #expect(throws: Refusal.self) { try await tunes.container.fetch(some, as: Failing.self) }
  }

  @Test func whatIsExportedCanBeImported() async throws {
    try await tunes.container.importObjects(from: records)
    let all = From<Tune>().orderBy(\.code)
    let container = tunes.container
    #expect(try await container.exportJSONLines(all, as: TuneRecord.self, to: url("a.jsonl")) == 1_200)
    #expect(try await container.exportJSONArray(all, as: TuneRecord.self, to: url("a.json")) == 1_200)
    #expect(try await container.exportCSV(all, as: TuneRecord.self, to: url("a.csv"), columns: nil) == 1_200)
    let array = try JSONDecoder().decode([TuneRecord].self, from: Data(contentsOf: url("a.json")))
    #expect(array == records)
    for name in ["a.jsonl", "a.json", "a.csv"] {
      let copy = try await Tunes()
      let report =
        switch name {
        case "a.jsonl": try await copy.container.importJSONLines(at: url(name), as: TuneRecord.self)
        case "a.json": try await copy.container.importJSONArray(at: url(name), as: TuneRecord.self)
        default: try await copy.container.importCSV(at: url(name), as: TuneRecord.self)
        }
      #expect(report.insertedCount == 1_200)
      #expect(try await copy.rows() == tunes.rows())
    }
    // Only the three files are left.
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
        "a.csv", "a.json", "a.jsonl",
      ]
    )
  }

  @Test func aClosureReceivesWhatAFileWould() async throws {
    try await tunes.container.importObjects(from: records)
    let (bytes, progress) = (Locked(Data()), Progress(totalUnitCount: 0))
    let all = From<Tune>().orderBy(\.code)
    let format = ExportFormat<TuneRecord>.jsonLines {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return encoder
    }
    let count = try await tunes.container.exportRecords(
      all,
      as: TuneRecord.self,
      format: format,
      progress: progress
    ) { chunk in
      #expect(!chunk.isEmpty)
      bytes.withLock { $0.append(chunk) }
    }
    try await tunes.container.exportRecords(all, as: TuneRecord.self, to: url("a.jsonl"), format: format)
    #expect(try count == 1_200 && bytes.withLock(\.self) == Data(contentsOf: url("a.jsonl")))
    #expect(progress.totalUnitCount == 1_200 && progress.completedUnitCount == 1_200)
    let error = await #expect(throws: Refusal.self) {
      try await tunes.container.exportRecords(all, as: TuneRecord.self, format: .jsonLines()) { _ in
        throw Refusal()
      }
    }
    #expect(error != nil)
    progress.cancel()
    await #expect(throws: CancellationError.self) {
      try await tunes.container.exportRecords(
        all,
        as: TuneRecord.self,
        format: .jsonLines(),
        progress: progress
      ) { _ in }
    }
  }

  @Test func nothingIsAnEmptyArray() async throws {
    let all = From<Tune>()
    #expect(try await tunes.container.exportJSONArray(all, as: TuneRecord.self, to: url("e.json")) == 0)
    #expect(try JSONDecoder().decode([TuneRecord].self, from: Data(contentsOf: url("e.json"))).isEmpty)
  }

  @Test func aFailedExportLeavesTheFile() async throws {
    try await tunes.container.importObjects(from: records)
    try Data("before".utf8).write(to: url("a.csv"))
    let all = From<Tune>()
    await #expect(throws: ImportError.self) {
      try await tunes.container.exportCSV(all, as: TuneRecord.self, to: url("a.csv"), columns: ["code"])
    }
    #expect(try Data(contentsOf: url("a.csv")) == Data("before".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.csv"])
    await #expect(throws: (any Error).self) {
      try await tunes.container.exportJSONLines(all, as: TuneRecord.self, to: url("no/such/folder.jsonl"))
    }
  }
}
