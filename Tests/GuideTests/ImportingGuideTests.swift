import Cambium
import CambiumCSV
import CambiumImport
import Foundation
import TestSupport
import Testing

// Quoted in Docs/Importing.md
@Model final class Station {
  #Unique<Station>([\.code])
  var code: String
  var name: String
  var elevation: Double?
  @Relationship var line: Line?

  init(_ code: String, _ name: String) {
    self.code = code
    self.name = name
  }
}

@Model final class Line {
  #Unique<Line>([\.number])
  var number: Int
  @Relationship(inverse: \Station.line) var stations: [Station]

  init(_ number: Int) {
    self.number = number
    stations = []
  }
}

extension Station: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Station, String> { \.code }
}

extension Line: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Line, Int> { \.number }
}
// End of quotation

// Quoted in Docs/Importing.md
/// A station in the form that a server sends.
struct StationRecord: Codable, Sendable {
  var code: String
  var name: String
  var elevation: Double?
  var line: Int?
}

extension StationRecord: ManagedObjectUpdatable {
  typealias Object = Station
  var uniqueIDValue: String { code }

  static var updateProperties: PropertiesUpdate? {
    { record, station in
      station.name = record.name
      station.elevation = record.elevation
    }
  }

  static var updateRelationships: RelationshipsUpdate? {
    { record, station, context, cache in
      station.line = try record.line.map {
        try context.fetchOrInsertObject(Line.self, with: $0, cache: cache)
      }
    }
  }
}
// End of quotation

// Quoted in Docs/Importing.md
extension StationRecord: ManagedObjectInitialisable {
  init(with station: Station) {
    self.init(
      code: station.code,
      name: station.name,
      elevation: station.elevation,
      line: station.line?.number
    )
  }
}
// End of quotation

// Quoted in Docs/Importing.md
@Model final class Alert {
  #Unique<Alert>([\.number])
  var number: Int
  var text: String

  init(_ number: Int, _ text: String) {
    self.number = number
    self.text = text
  }
}

extension Alert: ImportableUniqueObject {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Alert, Int> { \.number }

  static func uniqueID(from source: [String: String], in context: ManagedObjectContext) -> Int? {
    source["number"].flatMap { Int($0) }
  }

  func update(from source: [String: String], in context: ManagedObjectContext) {
    text = source["text"] ?? text
  }
}
// End of quotation

/// The code of Docs/Importing.md.
struct ImportingGuideTests {
  private let railway: PersistentContainer
  private let folder: TemporaryFolder

  init() async throws {
    railway = try await PersistentContainer(
      "Railway",
      models: [Station.self, Line.self, Alert.self],
      at: .inMemory
    )
    folder = try TemporaryFolder()
  }

  private func url(_ name: String, _ text: String) throws -> URL {
    let url = URL(fileURLWithPath: folder.file(name))
    try Data(text.utf8).write(to: url)
    return url
  }

  private func stations() async throws -> [String] {
    let all = From<Station>().orderBy(\.code)
    let values = try await railway.fetch(all, as: StationRecord.self)
    return values.map { "\($0.code) \($0.name) \($0.line.map { String($0) } ?? "-")" }
  }

  @Test func filesAreImported() async throws {
    let lines = try url(
      "stations.jsonl",
      """
      {"code":"BS","name":"Basel","line":1}
      {"code":"OL","name":"Olten","line":1}
      """
    )
    let array = try url(
      "stations.json",
      #"[{"code":"OL","name":"Olten","line":2}, {"code":"ZH","name":"Zürich"}]"#
    )
    let table = try url("stations.csv", "code,name,line\nBE,\"Bern, main station\",2\n")
    // Quoted in Docs/Importing.md
    let report = try await railway.importJSONLines(at: lines, as: StationRecord.self)
    print("\(report.insertedCount) new stations, \(report.updatedCount) known ones")

    try await railway.importJSONArray(at: array, as: StationRecord.self)
    try await railway.importCSV(at: table, as: StationRecord.self)
    // End of quotation
    #expect(report.insertedCount == 2)
    #expect(try await stations() == ["BE Bern, main station 2", "BS Basel 1", "OL Olten 2", "ZH Zürich -"])
  }

  @Test func anImportHasOptions() async throws {
    let records = [StationRecord(code: "BS", name: "Basel", elevation: 277, line: 1)]
    // Quoted in Docs/Importing.md
    var options = ImportOptions()
    options.commits = .eachBatch(of: 10_000)
    options.cache = ImportedObjectCache(countLimit: 50_000)
    options.progress = Progress(totalUnitCount: 0)
    options.didCommit = { changes in print("\(changes.inserted.count) objects are new") }
    try await railway.importObjects(from: records, options: options)
    // End of quotation
    #expect(options.progress?.fractionCompleted == 1 && options.cache?.count == 2)
    #expect(try await stations() == ["BS Basel 1"])
  }

  @Test func objectsImportThemselves() async throws {
    // Quoted in Docs/Importing.md
    let alerts = try await railway.write { context in
      let sources = [["number": "7", "text": "delayed"], ["number": "7", "text": "cancelled"], [:]]
      return try context.importUniqueObjects(Alert.self, from: sources).map(\.text)
    }
    // End of quotation
    #expect(alerts == ["cancelled"])
  }

  @Test func anImportIsAValue() async throws {
    let rows = try url("elevations.csv", "code;metres\nBS;277\nOL;396\nXX;1\n")
    try await railway.importObjects(from: [
      StationRecord(code: "BS", name: "Basel"), StationRecord(code: "OL", name: "Olten"),
    ])
    // Quoted in Docs/Importing.md
    var elevations = ObjectImport<CSVRow, Station>(key: \.code) { row, _ in row["code"] }
    elevations.shouldInsert = { _, _ in false }
    elevations.updateProperties = { row, station, _ in
      station.elevation = row["metres"].flatMap { Double($0) }
    }
    try await railway.importRecords(.csvRows(at: rows, delimiter: ";"), with: elevations)
    // End of quotation
    let all = From<Station>().orderBy(\.code)
    #expect(try await railway.fetch(all, as: StationRecord.self).map(\.elevation) == [277, 396])
  }

  @Test func objectsAreExported() async throws {
    try await railway.importObjects(from: [StationRecord(code: "BS", name: "Basel")])
    let file = URL(fileURLWithPath: folder.file("out.jsonl"))
    // Quoted in Docs/Importing.md
    let byCode = From<Station>().orderBy(\.code)
    try await railway.exportJSONLines(byCode, as: StationRecord.self, to: file)
    // End of quotation
    #expect(try String(contentsOf: file, encoding: .utf8).contains("Basel"))
  }
}
